"""Something that answers on a socket as vnfsd does, with documents that it is given: for clusters
that are larger than a lab, and for callers that may do less than root. It decides nothing.

Thread class: replace() and tell() are thread-safe; each request has a thread of its own.
"""

import contextlib
import http.server
import json
import os
import queue
import socketserver
import threading

COMMENT_S = 2.0
NOT_FOR_VIEWERS = ("/v1/events", "/v1/events/stream", "/v1/api-tokens", "/v1/audit",
                   "/v1/api-certificates")


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "console"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = self.path.split("?")[0]
        if self.server.fake.role == "viewer" and path in NOT_FOR_VIEWERS:
            self._refuse(403, "permission_denied", "this needs another role")
        elif path == "/v1/events/stream":
            self._stream()
        elif document := self.server.fake.text_of(path):
            self._answer(200, document)
        else:
            self._refuse(404, "not_found", f"{path}: nothing has that name here")

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.fake.asked.append(f"{self.command} {self.path}")
        self._refuse(403, "permission_denied", "this needs the role operator")

    do_DELETE = do_POST

    def _refuse(self, status, code, message):
        self._answer(status, json.dumps({"error": {"code": code, "message": message}}).encode())

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def _stream(self):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        with self.server.fake.reader() as events, contextlib.suppress(OSError):
            while True:
                try:
                    event = events.get(timeout=COMMENT_S)
                    text = f"id: {event['revision']}\ndata: {json.dumps(event)}\n\n"
                except queue.Empty:
                    text = ": nothing\n\n"
                self.wfile.write(text.encode())
                self.wfile.flush()


class FakeVnfsd:
    """documents: {path: what GET answers}. role: "viewer" or "admin"; no change is ever made."""

    def __init__(self, run_dir, documents, role="admin"):
        self.role = role
        self.asked = []  # changes that were asked for
        self._lock = threading.Lock()
        self._texts = {}
        self._readers = []
        self.replace(documents)
        path = os.path.join(run_dir, "vnfsd.sock")
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        self._server = _Server(path, _Handler)
        os.chmod(path, 0o600)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def text_of(self, path):
        with self._lock:
            return self._texts.get(path)

    def replace(self, documents):
        texts = {path: json.dumps(document).encode() for path, document in documents.items()}
        with self._lock:
            self._texts.update(texts)

    def tell(self, event):
        """Sends an event to everybody who follows the stream."""
        with self._lock:
            for reader in self._readers:
                reader.put(event)

    @contextlib.contextmanager
    def reader(self):
        events = queue.Queue()
        with self._lock:
            self._readers.append(events)
        try:
            yield events
        finally:
            with self._lock:
                self._readers.remove(events)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
