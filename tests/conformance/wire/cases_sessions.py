"""SEQUENCE, slots, replays; CREATE_SESSION, DESTROY_SESSION, BIND_CONN_TO_SESSION."""

import os

import nfs4_attributes as attr
import nfs4_ops as ops
from bed4 import Client
from nfs4_wire import u32
from registry import Subject, check, equal, require
from rpc_wire import Rejected

sequence = Subject("sequence", rfc8881="18.46.3")
create = Subject("create_session", rfc8881="18.36.4")
destroy = Subject("destroy_session", rfc8881="18.37.3")
bind = Subject("bind_conn", rfc8881="18.34.3")
place = Subject("in_session", rfc8881="2.10.6.1.3")


# --- SEQUENCE

@sequence.case()
def what_it_answers(bed):
    value = bed.client.raw(bed.client.sequence()).results[0].value
    equal((value.session, value.number, value.slot),
          (bed.client.session.id, bed.client.number, 0), "session, sequence and slot")
    require(value.highest >= 0 and value.target >= 0, "no slots")


def _numbered(by, wanted):
    def body(bed):
        answer = bed.client.raw(ops.sequence(bed.client.session.id, bed.client.number + by))
        check(answer.status, wanted, "SEQUENCE")
    return body


sequence.add("misordered_by_one", _numbered(2, "SEQ_MISORDERED"))
sequence.add("misordered_far", _numbered(1000, "SEQ_MISORDERED"))
sequence.add("misordered_of_the_past", _numbered(-1, "SEQ_MISORDERED"))


@sequence.case()
def misordered_changes_nothing(bed):
    bed.client.raw(ops.sequence(bed.client.session.id, bed.client.number + 5))
    bed.expect("OK", ops.putfh(bed.dir))


@sequence.case()
def a_new_slot_begins_with_1(bed):
    for number, wanted in [(0, "SEQ_MISORDERED RETRY_UNCACHED_REP"), (2, "SEQ_MISORDERED"),
                           (1, "OK")]:
        answer = bed.client.raw(ops.sequence(bed.client.session.id, number, 1, 1))
        check(answer.status, wanted, f"SEQUENCE {number} on a new slot")


@sequence.case()
def slots_count_by_themselves(bed):
    for number in (1, 2, 3):
        for slot in range(3):
            answer = bed.client.raw(ops.sequence(bed.client.session.id, number, slot + 1, 4))
            check(answer.status, "OK", "SEQUENCE")


@sequence.case()
def a_slot_beyond_the_table(bed):
    answer = bed.client.raw(ops.sequence(bed.client.session.id, 1, 10000, 10000))
    check(answer.status, "BADSLOT", "SEQUENCE")


@sequence.case()
def the_first_slot_beyond_the_table(bed):
    slots = bed.client.session.fore[5]
    answer = bed.client.raw(ops.sequence(bed.client.session.id, 1, slots, slots))
    check(answer.status, "BADSLOT", "SEQUENCE")


@sequence.case()
def the_last_slot_of_the_table(bed):
    slots = bed.client.session.fore[5]
    answer = bed.client.raw(ops.sequence(bed.client.session.id, 1, slots - 1, slots - 1))
    check(answer.status, "OK", "SEQUENCE")


@sequence.case()
def a_session_that_is_none(bed):
    check(bed.client.raw(ops.sequence(os.urandom(16), 1)).status, "BADSESSION", "SEQUENCE")


@sequence.case()
def of_a_destroyed_session(bed):
    bed.client.raw(ops.destroy_session(bed.client.session.id))
    check(bed.client.raw(bed.client.sequence()).status, "BADSESSION DEADSESSION", "SEQUENCE")


@sequence.case()
def twice_in_a_compound(bed):
    answer = bed.client.raw(bed.client.sequence(), ops.putrootfh(),
                            ops.sequence(bed.client.session.id, bed.client.number + 1))
    check(answer.status, "SEQUENCE_POS", "SEQUENCE")
    equal(len(answer.results), 3, "the number of results")


@sequence.case()
def not_the_first(bed):
    check(bed.client.raw(ops.putrootfh(), bed.client.sequence()).status,
          "OP_NOT_IN_SESSION SEQUENCE_POS", "COMPOUND")


# --- what is in a session, and what is not

def _outside(bed):
    yield "putrootfh", ops.putrootfh()
    yield "reclaim_complete", ops.reclaim_complete()
    yield "getattr", ops.getattr_(attr.TYPE)
    yield "free_stateid", ops.free_stateid(ops.ANONYMOUS)
    yield "backchannel_ctl", ops.backchannel_ctl()
    yield "secinfo_no_name", ops.secinfo_no_name()
    yield "test_stateid", ops.test_stateid()


for _name, _operation in _outside(None):
    place.add(f"alone_{_name}", lambda bed, operation=_operation: check(
        bed.client.raw(operation).status, "OP_NOT_IN_SESSION", "COMPOUND"), rfc8881="2.10.2")


def _alone(bed):
    yield "exchange_id", ops.exchange_id(os.urandom(8).hex(), bytes(8))
    yield "create_session", ops.create_session(1, 1)
    yield "destroy_session", ops.destroy_session(os.urandom(16))
    yield "destroy_clientid", ops.destroy_clientid(0x123456789ABCDEF)
    yield "bind_conn", ops.bind_conn_to_session(os.urandom(16))


for _name, _operation in _alone(None):
    place.add(f"not_only_{_name}", lambda bed, operation=_operation: check(
        bed.client.raw(operation, ops.putrootfh()).status, "NOT_ONLY_OP", "COMPOUND"),
        rfc8881="15.1.3.5")


@place.case(rfc8881="18.35.3")
def exchange_id_behind_sequence(bed):
    bed.expect("OK", ops.exchange_id(os.urandom(8).hex(), bytes(8)))


@place.case(rfc8881="18.36.3")
def create_session_behind_sequence(bed):
    other = bed.new_client(introduced=False)
    exchanged = other.exchange()
    bed.expect("OK", ops.create_session(exchanged.client_id, exchanged.sequence))


@place.case(rfc8881="18.34.3")
def bind_conn_behind_sequence(bed):
    answer = bed.client.raw(bed.client.sequence(),
                            ops.bind_conn_to_session(bed.client.session.id))
    check(answer.status, "NOT_ONLY_OP", "BIND_CONN_TO_SESSION")


# --- CREATE_SESSION

def _exchanged(bed, **how):
    client = bed.new_client(introduced=False, **how)
    client.exchange()
    return client


def _create(client, by=0, **how):
    return client.raw(ops.create_session(client.client_id, client.exchanged.sequence + by, **how))


@create.case()
def again_is_a_replay(bed):
    client = _exchanged(bed)
    first = _create(client)
    check(first.status, "OK", "CREATE_SESSION")
    equal(_create(client), first, "the second answer")


@create.case()
def an_error_again_is_a_replay(bed):
    client = _exchanged(bed)
    small = (0, 20, 20, 20, 1, 1)
    first = _create(client, fore=small)
    check(first.status, "TOOSMALL INVAL", "CREATE_SESSION")
    check(_create(client, fore=small).status, first.status, "the same CREATE_SESSION")


for _name, _by in (("one_too_many", 1), ("far_too_many", 1000), ("one_too_few", -1)):
    def _misordered(bed, by=_by):
        client = _exchanged(bed)
        check(_create(client, by).status, "SEQ_MISORDERED", "CREATE_SESSION")
    create.add(f"misordered_{_name}", _misordered)


@create.case()
def a_second_session(bed):
    client = _exchanged(bed)
    first = _create(client).results[0].value
    answer = _create(client, 1)
    check(answer.status, "OK", "CREATE_SESSION")
    require(answer.results[0].value.id != first.id, "one id for two sessions")


@create.case()
def the_second_sequence_without_a_first(bed):
    client = _exchanged(bed)
    check(_create(client, 1).status, "SEQ_MISORDERED", "CREATE_SESSION")
    check(_create(client).status, "OK", "CREATE_SESSION after it")


@create.case()
def a_client_id_that_is_none(bed):
    check(bed.client.raw(ops.create_session(0x123456789ABCDEF, 1)).status, "STALE_CLIENTID",
          "CREATE_SESSION")


@create.case()
def by_another_principal(bed):
    client = _exchanged(bed)
    client.act_as(1000)
    check(_create(client).status, "CLID_INUSE", "CREATE_SESSION")


@create.case()
def flags_that_are_none(bed):
    check(_create(_exchanged(bed), flags=0x100).status, "INVAL", "CREATE_SESSION")


@create.case()
def flags_that_come_back(bed):
    client = _exchanged(bed)
    value = _create(client, flags=0).results[0].value
    equal(value.flags & ~3, 0, "flags that were not asked for")


@create.case()
def what_is_granted_is_not_more(bed):
    asked = (0, 65536, 65536, 4096, 8, 4)
    value = _create(_exchanged(bed), fore=asked).results[0].value
    for at, name in ((1, "request"), (2, "response"), (3, "cached"), (4, "operations"),
                     (5, "slots")):
        require(value.fore[at] <= asked[at], f"{name}: {value.fore[at]} of {asked[at]} asked for")
        require(value.fore[at] > 0 or at == 3, f"{name}: none granted")


for _name, _fore in [("a_request", (0, 10, 65536, 4096, 8, 4)),
                     ("a_response", (0, 65536, 10, 4096, 8, 4))]:
    create.add(f"too_small_{_name}", lambda bed, fore=_fore: check(
        _create(_exchanged(bed), fore=fore).status, "TOOSMALL", "CREATE_SESSION"))


@create.case()
def without_slots(bed):
    check(_create(_exchanged(bed), fore=(0, 65536, 65536, 4096, 8, 0)).status, "INVAL TOOSMALL OK",
          "CREATE_SESSION")


@create.case()
def huge_wishes(bed):
    most = 0xFFFFFFFF
    value = _create(_exchanged(bed), fore=(0, most, most, most, most, most)).results[0].value
    require(0 < value.fore[5] <= 4096, f"{value.fore[5]} slots granted")
    require(value.fore[1] <= 64 << 20, f"requests of {value.fore[1]} bytes granted")


# --- DESTROY_SESSION, DESTROY_CLIENTID

@destroy.case()
def twice(bed):
    check(bed.client.raw(ops.destroy_session(bed.client.session.id)).status, "OK",
          "DESTROY_SESSION")
    check(bed.client.raw(ops.destroy_session(bed.client.session.id)).status, "BADSESSION",
          "DESTROY_SESSION again")


@destroy.case()
def one_that_is_none(bed):
    check(bed.client.raw(ops.destroy_session(os.urandom(16))).status, "BADSESSION",
          "DESTROY_SESSION")


@destroy.case()
def its_own_as_the_last_operation(bed):
    answer = bed.client.raw(bed.client.sequence(), ops.destroy_session(bed.client.session.id))
    check(answer.status, "OK", "DESTROY_SESSION")


@destroy.case()
def its_own_not_as_the_last_operation(bed):
    answer = bed.client.raw(bed.client.sequence(), ops.destroy_session(bed.client.session.id),
                            ops.putrootfh())
    check(answer.status, "NOT_ONLY_OP", "DESTROY_SESSION")


@destroy.case()
def another_ones_from_a_session(bed):
    other = bed.new_client()
    bed.expect("CONN_NOT_BOUND_TO_SESSION OK", ops.destroy_session(other.session.id))


@destroy.case()
def what_is_open_survives(bed):
    opened = bed.open(text=b"text")
    bed.client.raw(ops.destroy_session(bed.client.session.id))
    exchanged = bed.client.exchange()
    answer = bed.client.raw(ops.create_session(bed.client.client_id, exchanged.sequence))
    check(answer.status, "OK", "CREATE_SESSION")
    bed.client.session, bed.client.number = answer.results[0].value, 0
    bed.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))


# --- BIND_CONN_TO_SESSION

@bind.case()
def another_connection(bed):
    other = Client(bed.options.server, bed.minor)
    answer = other.raw(ops.bind_conn_to_session(bed.client.session.id, 1))
    check(answer.status, "OK", "BIND_CONN_TO_SESSION")
    session, direction, _ = answer.results[0].value
    equal((session, direction & 1), (bed.client.session.id, 1), "session and direction")
    other.session, other.number = bed.client.session, bed.client.number
    check(other.raw(other.sequence(), ops.putfh(bed.dir)).status, "OK", "SEQUENCE over it")
    other.connection.close()


for _name, _direction in (("back", 2), ("fore_or_both", 3), ("back_or_both", 7)):
    bind.add(f"direction_{_name}", lambda bed, direction=_direction: check(
        bed.client.raw(ops.bind_conn_to_session(bed.client.session.id, direction)).status,
        "OK INVAL", "BIND_CONN_TO_SESSION"))


@bind.case()
def a_direction_that_is_none(bed):
    try:
        said = bed.client.raw(ops.bind_conn_to_session(bed.client.session.id, 9)).status
    except Rejected as rejected:
        said = str(rejected)
    check(said, "BADXDR INVAL GARBAGE_ARGS", "BIND_CONN_TO_SESSION")


@bind.case()
def to_a_session_that_is_none(bed):
    check(bed.client.raw(ops.bind_conn_to_session(os.urandom(16))).status, "BADSESSION",
          "BIND_CONN_TO_SESSION")


@bind.case(rfc8881="2.10.3.1")
def a_connection_is_bound_by_sequence(bed):
    other = Client(bed.options.server, bed.minor)
    other.session, other.number = bed.client.session, bed.client.number
    check(other.raw(other.sequence(), ops.putfh(bed.dir)).status, "OK", "SEQUENCE over it")
    other.connection.close()


# --- RECLAIM_COMPLETE, BACKCHANNEL_CTL

complete = Subject("reclaim_complete", rfc8881="18.51.3")
backchannel = Subject("backchannel_ctl", rfc8881="18.33.3")


@complete.case()
def a_second_time(bed):
    bed.expect("COMPLETE_ALREADY", ops.reclaim_complete())


@complete.case()
def of_one_filesystem(bed):
    bed.expect("OK COMPLETE_ALREADY", ops.putfh(bed.dir), ops.reclaim_complete(True))


@complete.case()
def of_one_filesystem_without_a_handle(bed):
    bed.expect("NOFILEHANDLE", ops.reclaim_complete(True))


@complete.case()
def of_a_new_life(bed):
    again = bed.new_client(introduced=False, name=bed.client.name)
    again.exchange()
    again.create_session()
    again.expect("OK", ops.reclaim_complete())


@backchannel.case()
def it_is_taken(bed):
    bed.expect("OK", ops.backchannel_ctl(0x40000002, u32(1, 0)))
