"""The API answers as its OpenAPI document says, and clearly whatever it is asked."""

import json
import socket

from api_client import Api, document
from lab_case import check, lab_test
from steps.exit_status import CONFLICT
from symlab.service import VNFS

FILESYSTEM = "u04"
BODY_MAX = 1 << 20


def api_of(bench):
    return Api(bench.lab.head("c1n1")["socket"])


@lab_test("operations/api.md")
def every_read_is_as_documented(bench):
    """Every GET of the OpenAPI document is answered, and so are check and dump."""
    api = api_of(bench)
    check(api.get("/v1/openapi.json") == document(), "vnfsd answers another document")
    for template, operations in document()["paths"].items():
        if "get" not in operations or template in ("/v1/events/stream", "/v1/jobs/{id}"):
            continue
        name = FILESYSTEM if template.startswith("/v1/filesystems/") else VNFS
        api.get(template.replace("{name}", name).replace("{head}", "c1n1"))
    status, _, _ = api("POST", f"/v1/filesystems/{FILESYSTEM}/check")
    check(status == 200, f"check: {status}")
    with bench.load("nfs_io", "gaps", "--kinds", "read") as load:
        status, _, _ = api("POST", f"/v1/filesystems/{FILESYSTEM}/dump",
                           {"path": f"/gaps-read-{load.process.pid}"})
        check(status == 200, f"dump: {status}")
    api("POST", f"/v1/filesystems/{FILESYSTEM}/dump", {"path": "/"})
    api("POST", "/v1/lun-scan", {})


@lab_test("operations/api.md")
def changes_are_as_documented(bench):
    """Changes, dry runs of changes and their refusals are answered as documented."""
    api = api_of(bench)
    for method, target, body, expected in (
            ("POST", "/v1/networks", {"name": "apinet", "device": "eth9"}, 200),
            ("POST", "/v1/networks", {"name": "apinet", "device": "eth9"}, 409),
            ("DELETE", "/v1/networks/apinet?dry_run=true", None, 200),
            ("DELETE", "/v1/networks/apinet", None, 200),
            ("DELETE", "/v1/networks/apinet", None, 404),
            ("POST", f"/v1/exports/{FILESYSTEM}/set?dry_run=true", {"access": "ro"}, 200),
            ("POST", f"/v1/vnfs/{VNFS}/stop?dry_run=true", None, 200),
            ("POST", "/v1/heads?dry_run=true", {"name": "c1n9", "address": "10.99.0.9"}, 200),
            ("POST", "/v1/heads/c1n1/drain?dry_run=true", None, 200),
            ("POST", "/v1/heads/nobody/fence?dry_run=true", None, None),
            ("DELETE", "/v1/locks?client=nobody", None, 200),
            ("DELETE", "/v1/locks", None, 400)):
        status, said, _ = api(method, target, body)
        check(expected in (None, status), f"{method} {target}: {status}: {said}")


@lab_test("operations/api.md")
def impossible_requests_are_refused(bench):
    """100 MB, deep nesting, nonsense: each has a clear error, and vnfsd does not grow by it."""
    api = api_of(bench)
    pid = bench.lab.process("vnfsd.c1n1")["pid"]
    before = resident_kib(pid)
    huge = b'{"name": "' + b"x" * (100 << 20) + b'"}'
    status, said = send_huge(bench.lab.head("c1n1")["socket"], huge)
    check(status in (413, None), f"100 MB: {status}: {said}")
    deep = b'{"name": ' + b"[" * (BODY_MAX // 2) + b"]" * (BODY_MAX // 2 - 10) + b"}"
    for method, target, raw, expected in (
            ("POST", "/v1/networks", b"[" * (BODY_MAX - 1), 400),
            ("POST", "/v1/networks", deep[:BODY_MAX], 400),
            ("POST", "/v1/networks", b"x" * (BODY_MAX + 1), 413),
            ("POST", "/v1/networks", b'{"name": "\xff\xfe"}', 400),
            ("POST", "/v1/networks", b"null", 400),
            ("POST", "/v1/networks", b'{"name": 1e999, "device": "e"}', 400),
            ("PUT", "/v1/networks", b"", 405),
            ("DELETE", "/v1/networks", b"", 405),
            ("GET", "/v1/nothing", None, 404),
            ("GET", "/v1/networks?x=1", None, 400),
            ("DELETE", "/v1/networks/n?dry_run=1", None, 400),
            ("DELETE", "/v1/networks/n?dryrun=true", None, 400),
            ("GET", "/v1/vnfs/" + "x" * 7000 + "/history", None, 404),
            ("GET", "/v1/vnfs/%00%ff%0a/history", None, 404)):
        status, said, headers = api(method, target, raw=raw)
        check(status == expected, f"{method} {target[:60]}: {status}, not {expected}: {said}")
        check(status != 405 or headers.get("Allow"), "405 without Allow")
    grown = resident_kib(pid) - before
    check(grown < 64 << 10, f"vnfsd has grown by {grown} KiB")
    bench.refused(CONFLICT, "network", "rm", "nfs0")


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return int(next(line for line in file if line.startswith("VmRSS:")).split()[1])


def send_huge(path, body):
    """(status, document), or (None, why) if vnfsd hangs up before all is sent."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(60)
        connection.connect(path)
        try:
            connection.sendall(b"POST /v1/networks HTTP/1.1\r\nHost: vnfsd\r\nContent-Length: "
                               + str(len(body)).encode() + b"\r\n\r\n" + body)
        except OSError as error:
            return None, str(error)
        with connection.makefile("rb") as reply:
            status = int(reply.readline().split()[1])
            while reply.readline().strip():
                pass
            return status, json.loads(reply.read())
