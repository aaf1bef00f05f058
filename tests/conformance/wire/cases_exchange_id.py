"""EXCHANGE_ID and the records of client ids: RFC 8881 section 18.35.4, case by case."""

import os

import nfs4_ops as ops
from bed4 import USER
from nfs4_wire import opaque, u32
from registry import Subject, check, equal, require
from rpc_wire import Rejected

exchange = Subject("exchange_id", rfc8881="18.35.4")
destroy = Subject("destroy_clientid", rfc8881="18.50.3")

UPDATE, CONFIRMED = ops.UPD_CONFIRMED_REC_A, ops.CONFIRMED_R
USE_NON_PNFS, USE_PNFS_MDS, USE_PNFS_DS = 0x10000, 0x20000, 0x40000


def _send(client, flags=0, name=None, verifier=None):
    return client.raw(ops.exchange_id(name or client.name, verifier or client.verifier, flags))


def _unconfirmed(bed, **how):
    client = bed.new_client(introduced=False, **how)
    client.exchange()
    return client


# --- 1 to 9 of the section

@exchange.case()
def case_1_new_owner(bed):
    value = _unconfirmed(bed).exchanged
    equal(value.flags & CONFIRMED, 0, "CONFIRMED_R of a new owner")


@exchange.case()
def case_2_no_update_of_a_confirmed_one(bed):
    opened = bed.open(text=b"")
    value = _send(bed.client).results[0].value
    equal(value.client_id, bed.client.client_id, "the client id")
    require(value.flags & CONFIRMED, "CONFIRMED_R is not set")
    bed.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))


@exchange.case()
def case_3_another_principal_beside_state(bed):
    bed.open(text=b"")
    other = bed.new_client(introduced=False, name=bed.client.name, uid=USER)
    check(_send(other).status, "CLID_INUSE", "EXCHANGE_ID")


@exchange.case()
def case_3_another_principal_with_the_same_verifier(bed):
    bed.open(text=b"")
    other = bed.new_client(introduced=False, name=bed.client.name, verifier=bed.client.verifier,
                           uid=USER)
    check(_send(other).status, "CLID_INUSE", "EXCHANGE_ID")


@exchange.case()
def case_4_an_unconfirmed_one_is_replaced(bed):
    client = _unconfirmed(bed)
    former, sequence = client.client_id, client.exchanged.sequence
    value = client.exchange()
    equal(value.flags & CONFIRMED, 0, "CONFIRMED_R")
    require(value.client_id != former, "the same client id")
    check(client.raw(ops.create_session(former, sequence)).status, "STALE_CLIENTID",
          "CREATE_SESSION with the replaced one")
    client.create_session()


@exchange.case()
def case_4_by_another_verifier(bed):
    client = _unconfirmed(bed)
    former, sequence = client.client_id, client.exchanged.sequence
    answer = _send(client, verifier=os.urandom(8))
    check(answer.status, "OK", "EXCHANGE_ID")
    require(answer.results[0].value.client_id != former, "the same client id")
    check(client.raw(ops.create_session(former, sequence)).status, "STALE_CLIENTID",
          "CREATE_SESSION with the replaced one")


@exchange.case()
def case_4_by_another_principal(bed):
    client = _unconfirmed(bed)
    other = bed.new_client(introduced=False, name=client.name, uid=USER)
    check(_send(other).status, "OK", "EXCHANGE_ID")


@exchange.case()
def case_5_a_new_life(bed):
    opened = bed.open(text=b"", deny=ops.BOTH)
    again = _unconfirmed(bed, name=bed.client.name)
    require(again.client_id != bed.client.client_id, "the same client id")
    equal(again.exchanged.flags & CONFIRMED, 0, "CONFIRMED_R")
    # What the former life has holds until the new one is confirmed.
    bed.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))
    again.create_session()
    check(bed.client.raw(bed.client.sequence()).status, "BADSESSION DEADSESSION", "SEQUENCE")
    other = bed.new_client()
    check(other.try_open(bed.dir, "file")[0], "OK", "OPEN of what the former life had")


@exchange.case()
def case_5_the_former_life_after_a_second_new_one(bed):
    opened = bed.open(text=b"")
    for _ in range(2):
        _unconfirmed(bed, name=bed.client.name)
    bed.expect("OK", ops.putfh(opened.handle), ops.write(opened.stateid, b"x"))


@exchange.case()
def case_6_update(bed):
    value = _send(bed.client, UPDATE).results[0].value
    equal(value.client_id, bed.client.client_id, "the client id")
    require(value.flags & CONFIRMED, "CONFIRMED_R is not set")


@exchange.case()
def case_7_update_of_nothing(bed):
    client = bed.new_client(introduced=False)
    check(_send(client, UPDATE).status, "NOENT", "EXCHANGE_ID")


@exchange.case()
def case_7_update_of_an_unconfirmed_one(bed):
    check(_send(_unconfirmed(bed), UPDATE).status, "NOENT", "EXCHANGE_ID")


@exchange.case()
def case_8_update_with_another_verifier(bed):
    check(_send(bed.client, UPDATE, verifier=os.urandom(8)).status, "NOT_SAME", "EXCHANGE_ID")
    bed.expect("OK", ops.putfh(bed.dir))


@exchange.case()
def case_9_update_by_another_principal(bed):
    other = bed.new_client(introduced=False, name=bed.client.name, verifier=bed.client.verifier,
                           uid=USER)
    check(_send(other, UPDATE).status, "PERM", "EXCHANGE_ID")
    bed.expect("OK", ops.putfh(bed.dir))


# --- what is asked for, and what is answered

what = Subject("exchange_id", rfc8881="18.35.3")


@what.case()
def a_role_is_answered(bed):
    flags = _unconfirmed(bed).exchanged.flags
    require(flags & (USE_NON_PNFS | USE_PNFS_MDS | USE_PNFS_DS), f"flags {flags:#x}: no role")


@what.case()
def no_pnfs_is_confirmed(bed):
    client = bed.new_client(introduced=False)
    value = client.exchange(USE_NON_PNFS)
    require(value.flags & USE_NON_PNFS, f"flags are {value.flags:#x}")


for _name, _flags in (("unknown", 0x8), ("confirmed_r", CONFIRMED)):
    what.add(f"flags_{_name}", lambda bed, flags=_flags: check(
        _send(bed.new_client(introduced=False), flags).status, "INVAL", "EXCHANGE_ID"))


@what.case(rfc8881="2.5")
def one_server_for_all_connections(bed):
    first, second = _unconfirmed(bed).exchanged, _unconfirmed(bed).exchanged
    equal((second.owner, second.scope), (first.owner, first.scope), "server owner and scope")
    require(len(first.scope) > 0, "an empty server scope")
    require(second.client_id != first.client_id, "one client id for two owners")


@what.case()
def with_an_implementation(bed):
    client = bed.new_client(introduced=False)
    implementation = u32(1) + opaque(b"example.org") + opaque(b"wire") + bytes(12)
    number, arguments = ops.exchange_id(client.name, client.verifier)
    check(client.raw((number, arguments[:-4] + implementation)).status, "OK", "EXCHANGE_ID")


@what.case()
def with_two_implementations(bed):
    client = bed.new_client(introduced=False)
    one = opaque(b"example.org") + opaque(b"wire") + bytes(12)
    number, arguments = ops.exchange_id(client.name, client.verifier)
    _undecodable(client, (number, arguments[:-4] + u32(2) + one + one))


@what.case()
def an_owner_too_long(bed):
    client = bed.new_client(introduced=False)
    _undecodable(client, ops.exchange_id(b"o" * 1025, client.verifier))


def _undecodable(client, operation):
    try:
        said = client.raw(operation).status
    except Rejected as rejected:
        said = str(rejected)
    check(said, "BADXDR GARBAGE_ARGS INVAL", "EXCHANGE_ID")


@what.case()
def an_owner_as_long_as_may_be(bed):
    _unconfirmed(bed, name=os.urandom(8).hex() + "o" * 1008).create_session()


@what.case()
def protection_by_a_machine_credential_is_not_for_auth_sys(bed):
    client = bed.new_client(introduced=False)
    protect = u32(1) + u32(0) + u32(0)  # SP4_MACH_CRED
    answer = client.raw(ops.exchange_id(client.name, client.verifier, 0, protect))
    check(answer.status, "INVAL", "EXCHANGE_ID")


@what.case(rfc8881="2.10.3.1")
def sessions_end_with_a_new_life(bed):
    session = bed.client.session.id
    bed.new_client(name=bed.client.name)
    check(bed.client.raw(ops.sequence(session, bed.client.number + 1)).status,
          "BADSESSION DEADSESSION", "SEQUENCE")


# --- DESTROY_CLIENTID

@destroy.case()
def that_has_a_session(bed):
    check(bed.client.raw(ops.destroy_clientid(bed.client.client_id)).status, "CLIENTID_BUSY",
          "DESTROY_CLIENTID")
    bed.expect("OK", ops.putfh(bed.dir))


@destroy.case()
def that_has_an_open(bed):
    bed.open(text=b"")
    bed.client.raw(ops.destroy_session(bed.client.session.id))
    check(bed.client.raw(ops.destroy_clientid(bed.client.client_id)).status, "CLIENTID_BUSY",
          "DESTROY_CLIENTID")


@destroy.case()
def that_has_nothing(bed):
    bed.client.raw(ops.destroy_session(bed.client.session.id))
    check(bed.client.raw(ops.destroy_clientid(bed.client.client_id)).status, "OK",
          "DESTROY_CLIENTID")
    check(bed.client.raw(ops.destroy_clientid(bed.client.client_id)).status, "STALE_CLIENTID",
          "DESTROY_CLIENTID again")


@destroy.case()
def unconfirmed(bed):
    client = _unconfirmed(bed)
    check(client.raw(ops.destroy_clientid(client.client_id)).status, "OK", "DESTROY_CLIENTID")
    check(client.raw(ops.create_session(client.client_id, client.exchanged.sequence)).status,
          "STALE_CLIENTID", "CREATE_SESSION")


@destroy.case()
def that_is_none(bed):
    check(bed.client.raw(ops.destroy_clientid(0x123456789ABCDEF)).status, "STALE_CLIENTID",
          "DESTROY_CLIENTID")


@destroy.case()
def another_from_a_session(bed):
    client = _unconfirmed(bed)
    bed.expect("OK", ops.destroy_clientid(client.client_id))


@destroy.case()
def its_own_from_its_session(bed):
    bed.expect("CLIENTID_BUSY", ops.destroy_clientid(bed.client.client_id))


@destroy.case()
def after_it_the_owner_is_new(bed):
    bed.client.raw(ops.destroy_session(bed.client.session.id))
    bed.client.raw(ops.destroy_clientid(bed.client.client_id))
    equal(_send(bed.client).results[0].value.flags & CONFIRMED, 0, "CONFIRMED_R")
