"""Replays on a slot (RFC 8881 section 2.10.6.1.3), and how much a channel carries."""

import nfs4_attributes as attr
import nfs4_ops as ops
from nfs4_results import Connection
from nfs4_wire import Gone
from registry import Skipped, Subject, check, equal

limits = Subject("channel", rfc8881="2.10.6.4")
replay = Subject("replay", rfc8881="2.10.6.1.3")


def _again(bed, *operations, cached=True, change=None):
    """Sends a request and the same again (or `change`, with its sequence); both answers."""
    number = bed.client.number + 1
    bed.client.number = number
    before = ops.sequence(bed.client.session.id, number, 0, 0, cached)
    first = bed.client.raw(before, *operations)
    return first, bed.client.raw(before, *(operations if change is None else change))


@replay.case()
def cached(bed):
    first, second = _again(bed, ops.putfh(bed.dir), ops.create(ops.DIR, "new"), ops.getfh())
    check(first.status, "OK", "CREATE")
    equal(second, first, "the second answer")


@replay.case()
def a_cached_error(bed):
    first, second = _again(bed, ops.putfh(bed.dir), ops.remove("nothing"))
    check(first.status, "NOENT", "REMOVE")
    equal(second, first, "the second answer")


@replay.case()
def not_done_twice(bed):
    handle = bed.file(b"text")
    before = bed.attributes(handle, attr.NUMLINKS)[attr.NUMLINKS]
    first, second = _again(bed, ops.putfh(handle), ops.savefh(), ops.putfh(bed.dir),
                           ops.link("again"))
    check(second.status, "OK", "LINK again")
    equal(bed.attributes(handle, attr.NUMLINKS)[attr.NUMLINKS], before + 1, "numlinks")


@replay.case()
def of_an_open(bed):
    operation = bed.client.open_operation(bed.client.owner(), ops.claim_null("file"),
                                          how=ops.guarded())
    first, second = _again(bed, ops.putfh(bed.dir), operation, ops.getfh())
    check(first.status, "OK", "OPEN")
    equal(second, first, "the second answer")


@replay.case()
def of_a_sequence_alone(bed):
    first, second = _again(bed)
    equal(second.results[0].value[:3], first.results[0].value[:3], "the second answer")


@replay.case()
def not_cached(bed):
    """Without sa_cachethis a server may have the answer nevertheless, or say that it has not."""
    first, second = _again(bed, ops.putfh(bed.dir), ops.create(ops.DIR, "new"), cached=False)
    check(first.status, "OK", "CREATE")
    if second != first:
        check(second.status, "RETRY_UNCACHED_REP", "CREATE again")
    equal(bed.names(), [b"new"], "what is there")


@replay.case()
def on_another_connection(bed):
    number = bed.client.number = bed.client.number + 1
    request = [ops.sequence(bed.client.session.id, number, 0, 0, True), ops.putfh(bed.dir),
               ops.create(ops.DIR, "new")]
    first = bed.client.raw(*request)
    other = Connection(bed.options.server)
    second = other.compound(bed.minor, *request)
    other.close()
    equal(second, first, "the second answer")


@replay.case(rfc8881="2.10.6.1.3.1")
def a_false_one(bed):
    """Another request with an old number: refused, or answered as the former one."""
    first, second = _again(bed, ops.putfh(bed.dir), ops.create(ops.DIR, "new"),
                           change=[ops.putfh(bed.dir), ops.remove("new")])
    if second != first:
        check(second.status, "SEQ_FALSE_RETRY RETRY_UNCACHED_REP", "REMOVE as a replay")
    equal(bed.names(), [b"new"], "what is there")


@replay.case(rfc8881="2.10.6.1.3.1")
def a_false_one_by_another_user(bed):
    number = bed.client.number = bed.client.number + 1
    request = [ops.sequence(bed.client.session.id, number, 0, 0, True), ops.putfh(bed.dir),
               ops.create(ops.DIR, "new")]
    first = bed.client.raw(*request)
    bed.client.act_as(1000)
    second = bed.client.raw(*request)
    bed.client.act_as(0)
    if second != first:
        check(second.status, "SEQ_FALSE_RETRY", "CREATE by another user as a replay")


# --- what a channel can carry

def _session_of(bed, *fore):
    client = bed.new_client(introduced=False)
    client.exchange()
    client.create_session(fore=fore)
    client.expect("OK", ops.reclaim_complete())
    return client


@limits.case()
def too_many_operations(bed):
    client = _session_of(bed, 0, 65536, 65536, 4096, 8, 2)
    most = client.session.fore[4]
    if most > 200:
        raise Skipped(f"{most} operations are granted")
    answer = client.raw(client.sequence(), *[ops.putrootfh()] * most)
    check(answer.status, "TOO_MANY_OPS", "COMPOUND")


@limits.case()
def as_many_operations_as_may_be(bed):
    client = _session_of(bed, 0, 65536, 65536, 4096, 8, 2)
    most = min(client.session.fore[4], 50)
    answer = client.raw(client.sequence(), *[ops.putrootfh()] * (most - 1))
    check(answer.status, "OK", "COMPOUND")


@limits.case()
def a_request_too_big(bed):
    client = _session_of(bed, 0, 2048, 65536, 4096, 8, 2)
    size = client.session.fore[1]
    try:
        said = client.raw(client.sequence(), ops.putfh(bed.file()), ops.write(
            ops.ANONYMOUS, b"x" * (size + 4096))).status
    except Gone as gone:
        said = str(gone)
    check(said, "REQ_TOO_BIG", "COMPOUND")


@limits.case()
def an_answer_too_big(bed):
    handle = bed.file(b"x" * 8192)
    client = _session_of(bed, 0, 65536, 2048, 512, 8, 2)
    answer = client.raw(client.sequence(), ops.putfh(handle), ops.read(
        ops.ANONYMOUS, 0, client.session.fore[2] + 4096))
    check(answer.status, "REP_TOO_BIG", "COMPOUND")


@limits.case()
def an_answer_too_big_to_be_cached(bed):
    handle = bed.file(b"x" * 8192)
    client = _session_of(bed, 0, 65536, 65536, 512, 8, 2)
    if client.session.fore[3] > 8192:
        raise Skipped(f"{client.session.fore[3]} bytes are cached")
    answer = client.raw(client.sequence(cached=True), ops.putfh(handle), ops.read(
        ops.ANONYMOUS, 0, 8192))
    check(answer.status, "REP_TOO_BIG_TO_CACHE", "COMPOUND")
