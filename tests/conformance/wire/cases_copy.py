"""NFSv4.2: COPY and CLONE where they are offered, IO_ADVISE, what may be refused, mode_umask."""

import nfs4_attributes as attr
import nfs4_ops as ops
from nfs4_wire import opaque, u32, u64
from registry import Skipped, Subject, check, equal

advise = Subject("io_advise", rfc7862="15.5.3")
copying = Subject("copy", rfc7862="15.2.3")
cloning = Subject("clone", rfc7862="15.13.3")
optional = Subject("optional", rfc7862="13")
umask = Subject("mode_umask", rfc7862="12.2.7")

KNOWN = {"normal": 0, "sequential": 1, "random": 3, "willneed": 4, "dontneed": 6, "noreuse": 7}
BLOCK = 65536


@advise.case()
def each_hint(bed):
    opened = bed.open(text=b"text")
    for name, hint in KNOWN.items():
        answer = bed.client.ask(ops.putfh(opened.handle), ops.io_advise(opened.stateid, [hint]))
        check(answer.status, "OK NOTSUPP UNION_NOTSUPP", f"IO_ADVISE {name}")
        if answer.status == "OK":
            equal(answer.results[1].value - {hint}, set(), "hints that were not given")


@advise.case()
def without_an_open(bed):
    bed.expect("OK NOTSUPP BAD_STATEID", ops.putfh(bed.file()), ops.io_advise(ops.ANONYMOUS, [1]))


# --- COPY, CLONE

def _pair(bed):
    return (bed.open("source", b"s" * BLOCK + b"t" * BLOCK),
            bed.open("target", b"", owner=bed.client.owner("target")))


def _between(bed, source, target, operation):
    """The status of COPY or CLONE, of which a server may have none."""
    answer = bed.client.ask(ops.putfh(source.handle), ops.savefh(), ops.putfh(target.handle),
                            operation)
    return answer


def _copied(bed, operation, name):
    source, target = _pair(bed)
    answer = _between(bed, source, target, operation(source.stateid, target.stateid))
    if answer.status == "NOTSUPP":
        raise Skipped(f"{name} is not offered")
    check(answer.status, "OK", name)
    return source, target, answer.results[-1].value


for _subject, _operation, _name in ((copying, ops.copy, "COPY"), (cloning, ops.clone, "CLONE")):
    def _all(bed, operation=_operation, name=_name):
        source, target, _ = _copied(bed, operation, name)
        equal(bed.text(target.handle, 2 * BLOCK), bed.text(source.handle, 2 * BLOCK),
              "what the target has")
    _subject.add("all", _all)

    def _refused_or_done(bed, operation=_operation, name=_name):
        source, target = _pair(bed)
        answer = _between(bed, source, target, operation(source.stateid, target.stateid))
        check(answer.status, "OK NOTSUPP", name)
    _subject.add("done_or_refused_by_name", _refused_or_done)

    def _beyond(bed, operation=_operation, name=_name):
        source, target, _ = _copied(bed, operation, name)
        answer = _between(bed, source, target, operation(
            source.stateid, target.stateid, 4 * BLOCK, 0, BLOCK))
        check(answer.status, "INVAL", name)
    _subject.add("of_what_is_behind_the_end", _beyond)

    def _bad(bed, operation=_operation, name=_name):
        source, target, _ = _copied(bed, operation, name)
        answer = _between(bed, source, target, operation(
            b"\0\0\0\1" + b"\7" * 12, target.stateid))
        check(answer.status, "BAD_STATEID", name)
    _subject.add("with_a_bad_stateid", _bad)


@copying.case()
def a_part(bed):
    source, target, _ = _copied(bed, ops.copy, "COPY")
    answer = _between(bed, source, target, ops.copy(
        source.stateid, target.stateid, BLOCK, 0, BLOCK))
    check(answer.status, "OK", "COPY")
    equal(bed.text(target.handle, 4), b"tttt", "what the target begins with")


@copying.case()
def without_a_saved_handle(bed):
    opened = bed.open(text=b"text")
    bed.expect("NOFILEHANDLE NOTSUPP", ops.putfh(opened.handle),
               ops.copy(opened.stateid, opened.stateid))


# --- what may be refused, by name

def _refusable(operation, wanted):
    return lambda bed: bed.expect(wanted, ops.putfh(bed.file()), operation)


NETLOC = u32(1) + opaque("server")
_LOCATION = u64(0, 4096) + ops.ANONYMOUS
for _name, _operation, _wanted in [
        ("copy_notify", (ops.COPY_NOTIFY, ops.ANONYMOUS + NETLOC), "NOTSUPP"),
        ("offload_cancel", (ops.OFFLOAD_CANCEL, b"\0\0\0\1" + b"\7" * 12), "NOTSUPP BAD_STATEID"),
        ("offload_status", (ops.OFFLOAD_STATUS, b"\0\0\0\1" + b"\7" * 12), "NOTSUPP BAD_STATEID"),
        ("layouterror", (ops.LAYOUTERROR, _LOCATION + u32(0)), "NOTSUPP BAD_STATEID INVAL OK"),
        ("layoutstats", (ops.LAYOUTSTATS, _LOCATION + bytes(32) + bytes(16) + u32(0) + opaque(b"")),
         "NOTSUPP BAD_STATEID INVAL OK UNKNOWN_LAYOUTTYPE"),
        ("write_same", (ops.WRITE_SAME, ops.ANONYMOUS + u32(2) + u64(0, 4096, 1, 0) + u32(0)
                        + u64(0) + opaque(b"x")), "NOTSUPP OK UNION_NOTSUPP")]:
    optional.add(_name, _refusable(_operation, _wanted))


# --- mode_umask

def _masks(bed):
    if attr.MODE_UMASK not in bed.supported():
        raise Skipped("mode_umask is not offered")


@umask.case()
def offered(bed):
    equal({attr.MODE_UMASK} & bed.supported(), {attr.MODE_UMASK}, "mode_umask in supported_attrs")


@umask.case()
def it_masks_in_open(bed):
    _masks(bed)
    opened = bed.client.open(bed.dir, "file", how=ops.guarded(
        {attr.MODE_UMASK: (0o666, 0o027)}))
    equal(bed.attributes(opened.handle, attr.MODE), {attr.MODE: 0o640}, "mode")


@umask.case()
def it_masks_in_create(bed):
    _masks(bed)
    handle = bed.values(ops.putfh(bed.dir), ops.create(
        ops.DIR, "new", {attr.MODE_UMASK: (0o777, 0o022)}), ops.getfh())[2]
    equal(bed.attributes(handle, attr.MODE), {attr.MODE: 0o755}, "mode")


@umask.case()
def not_in_setattr(bed):
    _masks(bed)
    bed.expect("INVAL", ops.putfh(bed.file()), ops.setattr_({attr.MODE_UMASK: (0o666, 0o022)}))


@umask.case()
def not_in_getattr(bed):
    _masks(bed)
    bed.expect("INVAL", ops.putfh(bed.file()), ops.getattr_(attr.MODE_UMASK))


@umask.case()
def not_beside_mode(bed):
    _masks(bed)
    bed.expect("INVAL", ops.putfh(bed.dir), ops.create(
        ops.DIR, "new", {attr.MODE: 0o700, attr.MODE_UMASK: (0o777, 0o022)}))
