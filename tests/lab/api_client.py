"""Asks vnfsd over its unix socket, and compares every reply with docs/operations/openapi.json.

Here a reply may have no member that the document does not name: it has to be described first.
"""

import contextlib
import copy
import functools
import http.client
import json
import os
import re
import socket

import jsonschema
from symlab import product

DOCUMENT = os.path.join(product.REPO, "docs", "operations", "openapi.json")
TIMEOUT_S = 60.0
# Without a name in their path, quick, and answered whatever the cluster has.
CHEAP = ("/v1/status", "/v1/heads", "/v1/networks", "/v1/luns", "/v1/volumes", "/v1/filesystems",
         "/v1/exports", "/v1/vnfs", "/v1/placement", "/v1/distribution", "/v1/members",
         "/v1/events", "/v1/locks", "/v1/jobs")


def closed(schema):
    """The schema without room for members that it does not name."""
    if isinstance(schema, dict):
        for part in schema.values():
            closed(part)
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    elif isinstance(schema, list):
        for part in schema:
            closed(part)
    return schema


@functools.lru_cache(maxsize=1)
def document():
    with open(DOCUMENT, encoding="utf-8") as file:
        return json.load(file)


@functools.lru_cache(maxsize=None)
def validator(schema):
    parts = closed(copy.deepcopy(document()["components"]["schemas"]))
    return jsonschema.Draft202012Validator(
        {"$ref": f"#/components/schemas/{schema}", "components": {"schemas": parts}})


def operation_of(method, path):
    """The operation of the document that answers; None: there is none."""
    for template, operations in document()["paths"].items():
        pattern = re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(template))
        if re.fullmatch(pattern, path) and method.lower() in operations:
            return operations[method.lower()]
    return None


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout_s=TIMEOUT_S):
        super().__init__("vnfsd", timeout=timeout_s)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def schema_of(method, path, status):
    """The name of the schema of a reply with that status."""
    if status >= 400:
        return "Error"
    answer = operation_of(method, path)["responses"][str(status)]
    return answer["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]


class Api:
    """The API of the vnfsd with that socket."""

    def __init__(self, socket_path):
        self.socket_path = socket_path

    def __call__(self, method, target, body=None, raw=None):
        """Returns (status, document, headers) of a reply that is as documented."""
        sent = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        connection = UnixConnection(self.socket_path)
        with contextlib.closing(connection):
            connection.request(method, target, sent, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            text = reply.read()
        kind = reply.getheader("Content-Type", "")
        if not kind.startswith("application/json"):
            raise AssertionError(f"{method} {target}: {reply.status} with {kind!r}: {text[:200]}")
        said = json.loads(text)
        wrong = [f"{error.json_path}: {error.message}" for error in validator(
            schema_of(method, target.split("?")[0], reply.status)).iter_errors(said)]
        if wrong:
            raise AssertionError(f"{method} {target}: {reply.status}: is not as documented: "
                                 + "; ".join(wrong[:5]))
        return reply.status, said, reply.headers

    def get(self, target):
        status, said, _ = self("GET", target)
        if status != 200:
            raise AssertionError(f"GET {target}: {status}: {said}")
        return said

    def check_documents(self):
        """Whatever is so just now is said as documented."""
        for path in CHEAP:
            self("GET", path)
        for vnfs in self.get("/v1/vnfs")["vnfs"]:
            self("GET", f"/v1/vnfs/{vnfs['name']}/history")
            for head in vnfs["heads"]:
                self("GET", f"/v1/vnfs/{vnfs['name']}/why/{head}")
                self("GET", f"/v1/vnfs/{vnfs['name']}/standing/{head}")

    @contextlib.contextmanager
    def stream(self, after=None, last_id=None):
        """The event stream; yields its reply."""
        connection = UnixConnection(self.socket_path)
        with contextlib.closing(connection):
            headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
            target = "/v1/events/stream" + ("" if after is None else f"?after={after}")
            connection.request("GET", target, headers=headers)
            with connection.getresponse() as reply:  # it has the socket now
                yield reply


def events_of(reply):
    """The events of a stream as (id, name, document), and comments as (None, ":", text)."""
    event = {}
    for line in iter(reply.readline, b""):
        line = line.decode().rstrip("\r\n")
        if line.startswith(":"):
            yield None, ":", line[2:]
        elif line:
            name, _, value = line.partition(": ")
            event[name] = value
        elif event:
            yield event.get("id"), event.get("event", ""), json.loads(event["data"])
            event = {}
