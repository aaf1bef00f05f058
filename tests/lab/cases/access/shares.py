"""What one credential may hold, and what ends with it; answers that are large."""

import contextlib
import http.client
import json
import os
import struct
import time

from api_client import Api
from lab_case import check, eventually, lab_test
from steps.network_api import ANSWER_S, PORT, network_api
from symlab.etcd_keys import EtcdKeys
from symlab.wait import SLOWER

LOCKS = 10_000
LISTED_S = 10.0 * SLOWER
ENDED_S = 15.0 * SLOWER
GROWTH_BYTES = 64 << 20
STREAMS = 2
REFUSED_KEPT = 32


def follow(api, token):
    """A stream of events, and its reply."""
    connection = http.client.HTTPSConnection(api.head["mgmt"], PORT, timeout=ANSWER_S)
    connection.sock = api.secure("admin")
    connection.request("GET", "/v1/events/stream",
                       headers={"Authorization": "Bearer " + api.tokens[token]})
    return connection, connection.getresponse()


@lab_test("operations/api_network.md")
def one_token_has_a_part_of_the_streams(bench):
    """A third event stream of a token is answered 429; other tokens, and its requests, are served;
    when one of them ends there is room again."""
    with network_api(bench) as api, contextlib.ExitStack() as stack:
        held = []
        for _ in range(STREAMS):
            connection, reply = follow(api, "t-operator")
            held.append(stack.enter_context(contextlib.closing(connection)))
            check(reply.status == 200, f"{reply.status}")
        connection, reply = follow(api, "t-operator")
        with contextlib.closing(connection):
            told = json.loads(reply.read())["error"]["message"]
            check(reply.status == 429 and reply.getheader("Retry-After") == "1", f"{reply.status}")
            check("event streams" in told and "another head" in told, told)
        connection, reply = follow(api, "t-admin")
        stack.enter_context(contextlib.closing(connection))
        check(reply.status == 200, "another token is refused, too")
        check(api.ask("GET", "/v1/status", "t-operator").status == 200, "it may not ask any more")
        held[0].close()

        def there_is_room():
            connection, reply = follow(api, "t-operator")
            connection.close()
            return reply.status == 200
        eventually(ENDED_S, "there is room again", there_is_room)


@lab_test("operations/api_network.md")
def a_job_ends_with_its_credential(bench):
    """A drain that a token follows as a job is cancelled when the token is revoked, and says why;
    one that root began goes on."""
    drain = "/v1/heads/c1n1/drain?async=true"
    with network_api(bench) as api:
        try:
            reply = api.ask("POST", drain, "t-operator")
            check(reply.status == 202, str(reply))
            place = reply.headers["Location"]
            root = Api(api.head["socket"])
            check(root.get(place)["job"]["state"] == "running", "no job")
            bench.symnas("api", "token", "revoke", "t-operator")

            def ended():
                job = root.get(place)["job"]
                return job if job["state"] != "running" else None
            job = eventually(ENDED_S, "the job ends", ended)
            check(job["state"] == "cancelled" and "revoked" in job["error"]["message"], str(job))
            check("still being drained" in job["error"]["message"], str(job))
        finally:
            bench.symnas("head", "undrain", "c1n1")


@lab_test("operations/api_network.md", "formats/access_records.md")
def refusals_push_nothing_out_of_the_audit_log(bench):
    """Of what one token was refused etcd keeps the last entries only, the log all of them; what
    others did stays."""
    with network_api(bench, requests_per_s=1000, requests_burst=1000) as api:
        api.symnas("t-admin", "network", "create", "nfs9", "--device", "eth9")
        api.symnas("t-admin", "network", "rm", "nfs9")
        count = REFUSED_KEPT + 8
        for _ in range(count):
            reply = api.ask("POST", "/v1/networks", "t-viewer", body='{"name": "n", "device": "d"}')
            check(reply.status == 403, str(reply))

        def refused():
            return len([one for one in api.audit("POST", "permission")
                        if one["who"] == "t-viewer"])
        eventually(ENDED_S, "they are recorded", lambda: refused() == REFUSED_KEPT)
        check(api.audit("DELETE", "done")[-1]["path"] == "/v1/networks/nfs9", "it is gone")
        path = os.path.join(api.head["dir"], "vnfsd.log")
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line for line in file if line.startswith('audit: who="t-viewer"')]
        check(len(lines) >= count, f"the log has {len(lines)}")


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def text(field, value):
    return bytes([field << 3 | 2]) + varint(len(value)) + value


def lock_record(fsid, ino, client):
    """Key and value of a lock of NFSv4 on bytes 0 to 9 (docs/formats/keys.md, `uL`)."""
    vnfs, owner = b"vnfs1", b"owner"
    key = (b"f/" + struct.pack(">I", fsid) + b"uL" + struct.pack(">Q", ino) + b"4" +
           struct.pack(">I", len(vnfs)) + vnfs + struct.pack(">I", len(client)) + client + owner)
    ranges = b"\x10" + varint(9) + b"\x18\x01"
    value = (b"\x08" + varint(ino) + text(2, vnfs) + text(4, client) + text(5, owner) +
             text(6, ranges))
    return key, value


def resident_bytes(record):
    with open(f"/proc/{record['pid']}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS:"))


@lab_test("operations/api.md")
def ten_thousand_locks_are_listed_over_the_network(bench):
    """10,000 locks come through symnas-apid, in seconds and MiB; one more is said, not listed."""
    keys = EtcdKeys(bench.lab)
    fsid = bench.symnas.json("fs", "ls")["filesystems"][0]["fsid"]
    table = b"f/" + struct.pack(">I", fsid) + b"uL"
    # Above all real inodes, beside each other.
    first_ino = 1 << 40
    below = table + struct.pack(">Q", first_ino)[:3]
    with network_api(bench) as api:
        before = len(bench.symnas.json("lock", "ls")["locks"])
        made = dict(lock_record(fsid, first_ino + number, b"lab client %d" % number)
                    for number in range(LOCKS - before))
        try:
            keys.put_all(made)
            processes = {"vnfsd": bench.lab.process("vnfsd.c1n1"), "symnas-apid": api.process}
            rested = {name: resident_bytes(one) for name, one in processes.items()}
            begin = time.monotonic()
            reply = api.ask("GET", "/v1/locks", "t-viewer")
            took = time.monotonic() - begin
            grown = {name: resident_bytes(one) - rested[name] for name, one in processes.items()}
            print(f"     {LOCKS} locks: {len(reply.body) >> 10} KiB in {took:.2f} s; grown by "
                  f"{', '.join(f'{name} {size >> 10} KiB' for name, size in grown.items())}")
            seen = json.loads(reply.body)
            check(reply.status == 200 and len(seen["locks"]) == LOCKS and not seen["more"],
                  f"{reply.status}: {len(seen.get('locks', []))} locks, more: {seen.get('more')}")
            check(took < LISTED_S, f"it takes {took:.1f} s")
            check(max(grown.values()) < GROWTH_BYTES, f"grown by {grown}")
            keys.put(*lock_record(fsid, first_ino + LOCKS, b"one more"))
            seen = json.loads(api.ask("GET", "/v1/locks", "t-viewer").body)
            check(len(seen["locks"]) == LOCKS and seen["more"], "more are not told of")
            one = json.loads(api.ask("GET", "/v1/locks?client=one%20more", "t-viewer").body)
            check(len(one["locks"]) == 1 and not one["more"], str(one)[:300])
        finally:
            keys.erase_below(below)
