"""Names: empty, dots, slashes, NUL, no UTF-8, too long, as long as may be."""

import nfs4_attributes as attr
import nfs4_ops as ops
from registry import Failed, Subject, check, equal

LONGEST = 255

# RFC 7530 section 12, 13.1.7; RFC 8881 section 14, 15.1.7.
names = Subject("name", rfc7530="13.1.7", rfc8881="15.1.7")


def _lookup(bed, name):
    return [ops.putfh(bed.dir), ops.lookup(name)]


def _create(bed, name):
    return [ops.putfh(bed.dir), ops.create(ops.DIR, name)]


def _link(bed, name):
    return [ops.putfh(bed.file()), ops.savefh(), ops.putfh(bed.dir), ops.link(name)]


def _remove(bed, name):
    return [ops.putfh(bed.dir), ops.remove(name)]


def _rename_from(bed, name):
    return [ops.putfh(bed.dir), ops.savefh(), ops.rename(name, "new")]


def _rename_to(bed, name):
    bed.file()
    return [ops.putfh(bed.dir), ops.savefh(), ops.rename("file", name)]


def _secinfo(bed, name):
    return [ops.putfh(bed.dir), ops.secinfo(name)]


def _open(bed, name):
    return [ops.putfh(bed.dir), bed.client.open_operation(
        bed.client.owner(), ops.claim_null(name), how=ops.unchecked())]


MAKING = [("create", _create), ("link", _link), ("rename_to", _rename_to), ("open", _open)]
FINDING = [("lookup", _lookup), ("remove", _remove), ("rename_from", _rename_from),
           ("secinfo", _secinfo)]


def _answers(operations, name, wanted):
    def body(bed):
        bed.expect(wanted, *operations(bed, name))
    return body


for _way, _operations in MAKING + FINDING:
    _found = "" if (_way, _operations) in MAKING else " NOENT"
    for _called, _name, _wanted in [
            ("empty", b"", "INVAL"), ("dot", b".", "BADNAME" + _found),
            ("dotdot", b"..", "BADNAME" + _found),
            ("slash", b"a/b", "BADNAME BADCHAR INVAL" + _found),
            ("nul", b"a\0b", "BADNAME BADCHAR INVAL" + _found),
            ("256_bytes", b"n" * (LONGEST + 1), "NAMETOOLONG"),
            ("4096_bytes", b"n" * 4096, "NAMETOOLONG")]:
        names.add(f"{_way}.{_called}", _answers(_operations, _name, _wanted))


def _as_it_is(name):
    """A server takes the name, and shows the same bytes; or says that it does not (INVAL)."""
    def body(bed):
        answer = bed.client.ask(ops.putfh(bed.dir), ops.create(ops.DIR, name), ops.getfh())
        check(answer.status, "OK INVAL BADCHAR BADNAME", "CREATE")
        if answer.status == "OK":
            equal(bed.names(), [name], "READDIR's names")
            equal(bed.values(ops.putfh(bed.dir), ops.lookup(name), ops.getfh())[2],
                  answer.results[2].value, "the handle that LOOKUP finds")
    return body


def _taken(name):
    def body(bed):
        bed.expect("OK", ops.putfh(bed.dir), ops.create(ops.DIR, name))
        equal(bed.names(), [name], "READDIR's names")
        bed.expect("OK", ops.putfh(bed.dir), ops.lookup(name))
        bed.expect("OK", ops.putfh(bed.dir), ops.remove(name))
        equal(bed.names(), [], "READDIR's names")
    return body


texts = Subject("name.kept", rfc7530="12.4", rfc8881="14.4")
for _called, _name in [("a_lone_continuation", b"\x80"), ("overlong", b"\xc0\xaf"),
                       ("cut_off", b"a\xe2\x82"), ("surrogate", b"\xed\xa0\x80"),
                       ("latin1", b"caf\xe9"), ("ff", b"\xff")]:
    texts.add(f"not_utf8_{_called}", _as_it_is(_name))
for _called, _name in [("utf8", "Grüße".encode()), ("four_byte_utf8", "\U0001F600".encode()),
                       ("newline", b"a\nb"), ("blanks", b"  "), ("three_dots", b"..."),
                       ("hidden", b".hidden"), ("control", b"\x01\x7f"), ("backslash", b"a\\b"),
                       ("longest", b"n" * LONGEST), ("longest_utf8", "é".encode() * 127)]:
    texts.add(_called, _taken(_name))


@texts.case()
def composed_and_decomposed_as_they_are(bed):
    composed, decomposed = "é".encode(), "e\u0301".encode()
    for name in (composed, decomposed):
        bed.expect("OK EXIST", ops.putfh(bed.dir), ops.create(ops.DIR, name))
    found = bed.names()
    if not found or any(name not in (composed, decomposed) for name in found):
        raise Failed(f"READDIR's names are {found!r}")


@texts.case(rfc7530="5.8.2.5", rfc8881="5.8.2.5")
def case_as_the_attributes_say(bed):
    said = bed.attributes(bed.dir, attr.CASE_INSENSITIVE, attr.CASE_PRESERVING)
    bed.make("directory", "Name")
    bed.expect("OK" if said.get(attr.CASE_INSENSITIVE) else "NOENT", ops.putfh(bed.dir),
               ops.lookup("nAME"))
    equal(bed.names(), [b"Name"] if said.get(attr.CASE_PRESERVING) else bed.names(),
          "READDIR's names")


@texts.case(rfc7530="5.8.2.17", rfc8881="5.8.2.18")
def maxname_is_true(bed):
    longest = bed.attributes(bed.dir, attr.MAXNAME)[attr.MAXNAME]
    bed.make("directory", "m" * longest)
    bed.expect("NAMETOOLONG", ops.putfh(bed.dir), ops.create(ops.DIR, "m" * (longest + 1)))


@texts.case(rfc7530="16.4.4", rfc8881="18.4.3")
def of_a_symlinks_text(bed):
    for number, text in enumerate([b"..", b"/", b"a/b/../c", b"\xff\xfe", b"x" * 1023]):
        handle = bed.values(ops.putfh(bed.dir), ops.create(
            ops.LNK, f"link{number}", data=ops.opaque(text)), ops.getfh())[2]
        equal(bed.expect("OK", ops.putfh(handle), ops.readlink()), text, "READLINK's text")


@texts.case(rfc7530="16.4.4", rfc8881="18.4.3")
def of_an_empty_symlinks_text(bed):
    bed.expect("INVAL NOENT", ops.putfh(bed.dir), ops.create(ops.LNK, "link", data=ops.opaque(b"")))
