"""A vnfsd for tests of the command line: HTTP on a unix socket, answers from a table."""

import http.server
import json
import os
import socketserver
import threading

OBJECTS = {
    "vnfs": ["vnfs1", "vnfs2", "archive"],
    "heads": ["c1n1", "c1n2", "c1n3"],
    "exports": ["u04", "backup"],
    "filesystems": ["u04", "scratch"],
    "volumes": ["v1"],
    "luns": ["LUN0", "LUN1"],
    "networks": ["nfs0"],
    "members": ["c1n1"],
}
# Its name would clear the screen and change the terminal's title.
HOSTILE = "evil\x1b[2J\x1b]0;owned\x07\u009b31m"


def documents():
    out = {}
    for kind, names in OBJECTS.items():
        out[f"/v1/{kind}"] = {kind: [{"name": name} for name in names]}
    out["/v1/volumes"]["volumes"].append({"name": HOSTILE, "size_bytes": 1})
    out["/v1/placement"] = {
        "heads": [{"name": name, "state": "serving"} for name in OBJECTS["heads"]],
        "vnfs": [{"name": "vnfs1", "state": "serving", "failback": "manual"},
                 {"name": "vnfs2", "state": "held", "failback": "auto"}]}
    return out


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        document = self.server.documents.get(self.path.split("?")[0])
        if document is None:
            name = self.path.split("/")[-1]
            self._answer(404, {"error": {"code": "not_found", "message":
                                         f"vnfs {name}: does not exist (symnas vnfs ls)"}})
        else:
            self._answer(200, document)

    do_POST = do_DELETE = do_GET

    def _answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class FakeVnfsd:
    """Serves while it is entered; may be stopped and started again under the same path."""

    def __init__(self, path):
        self.path = path
        self.documents = documents()
        self._server = None

    def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self._server = _Server(self.path, _Handler)
        self._server.documents = self.documents
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
            os.unlink(self.path)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
