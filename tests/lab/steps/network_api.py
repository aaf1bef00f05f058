"""The API over the network: symnas-apid on the lab's first head, and clients of it."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess

from lab_case import check, eventually
from symlab import netns, processes, product
from symlab.wait import SLOWER

PORT = 20492
USER = "nobody"
READY_S = 20.0 * SLOWER
ANSWER_S = 30.0 * SLOWER


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def error(self):
        return json.loads(self.body)["error"]

    def __str__(self):
        return f"{self.status} {self.body[:300]}"


class NetworkApi:
    """symnas-apid on a head, as an unprivileged user; a client's certificates and tokens."""

    def __init__(self, bench, head="c1n1"):
        self.bench = bench
        self.head = bench.lab.head(head)
        self.symnas_here = bench.lab.symnas(head)
        self.folder = os.path.join(self.head["dir"], "api-client")
        self.config = os.path.join(self.head["config_dir"], "vnfsd.toml")
        self.process = None
        self.tokens = {}

    # --- switching it on and off

    def switch_on(self, **settings):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        with open(self.config, encoding="utf-8") as file:
            text = file.read().split("[api]")[0]
        values = {"enabled": "true", "user": f"'{USER}'", **settings}
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text + "\n[api]\n" + "".join(f"{k} = {v}\n" for k, v in values.items()))
        self.reload()
        self.make_certificate()
        self.start()

    def make_certificate(self):
        """On the head that has the authority's key."""
        self.symnas_here("api", "on")

    def reload(self):
        """vnfsd reads its configuration anew: the one before answers for a moment yet."""
        before = self.beginnings()
        self.bench.signal_process(f"vnfsd.{self.head['name']}", signal.SIGHUP)
        eventually(READY_S, "vnfsd answers with its new configuration",
                   lambda: self.beginnings() > before and self.symnas_here("status"))

    def beginnings(self):
        """How often vnfsd has said that it listens."""
        path = os.path.join(self.head["dir"], "vnfsd.log")
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().count(f"on head {self.head['name']}: API on")

    def start(self):
        """Starts it with copies of its certificate and key that only its user can read."""
        source = os.path.join(self.head["config_dir"], "api")
        files = []
        for name in ("server.crt", "server.key"):
            files.append(os.path.join(self.folder, name))
            shutil.copy(os.path.join(source, name), files[-1])
            shutil.chown(files[-1], USER)
        self.process = processes.spawn(
            ["setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups",
             "--bounding-set=-all", "--no-new-privs", product.program("symnas-apid"),
             "--socket", self.head["run_dir"] + "-api/api.sock",
             "--certificate", files[0], "--key", files[1]],
            self.log_path, netns=self.head["netns"])
        eventually(READY_S, "symnas-apid listens", self.listens)

    @property
    def log_path(self):
        return os.path.join(self.head["dir"], "apid.log")

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def listens(self):
        check(processes.is_alive(self.process), self.log())
        try:
            self.connect().close()
        except OSError:
            return False
        return True

    def stop(self):
        if self.process:
            processes.stop(self.process, 10.0)
        self.process = None

    def switch_off(self):
        self.stop()
        with open(self.config, encoding="utf-8") as file:
            text = file.read().split("[api]")[0]
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)
        self.reload()

    # --- credentials

    def issue(self, name):
        self.bench.symnas("api", "cert", "issue", name, "--out", self.folder)
        return name

    def token(self, name, role, *more):
        text = self.bench.symnas("api", "token", "create", name, "--role", role, *more).strip()
        self.tokens[name] = text
        path = os.path.join(self.folder, f"{name}.token")
        with open(path, "w", encoding="utf-8", opener=private) as file:
            file.write(text + "\n")
        return text

    def path(self, name):
        return os.path.join(self.folder, name)

    # --- requests

    def connect(self):
        with netns.entered(self.head["netns"]):
            return socket.create_connection((self.head["mgmt"], PORT), timeout=ANSWER_S)

    def context(self, cert):
        context = ssl.create_default_context(cafile=self.path("ca.crt"))
        if cert:
            context.load_cert_chain(self.path(f"{cert}.crt"), self.path(f"{cert}.key"))
        return context

    def secure(self, cert):
        return self.context(cert).wrap_socket(self.connect(), server_hostname=self.head["mgmt"])

    def ask(self, method, path, token=None, cert="admin", body=None, headers=None):
        """One request; OSError (ssl.SSLError) when there is no answer."""
        connection = http.client.HTTPSConnection(self.head["mgmt"], PORT, timeout=ANSWER_S)
        connection.sock = self.secure(cert)
        with contextlib.closing(connection):
            more = dict(headers or {})
            if token:
                more["Authorization"] = "Bearer " + self.tokens.get(token, token)
            if body is not None:
                more.setdefault("Content-Type", "application/json")
            connection.request(method, path, body=body, headers=more)
            reply = connection.getresponse()
            return Reply(reply.status, dict(reply.getheaders()), reply.read().decode())

    def symnas(self, token, *args):
        """`symnas --remote`, as somebody in the head's network who is no head."""
        argv = [product.program("symnas"), "--remote", f"https://{self.head['mgmt']}:{PORT}",
                "--cert", self.path("admin.crt"), "--key", self.path("admin.key"),
                "--ca", self.path("ca.crt"), "--token-file", self.path(f"{token}.token")]
        with netns.entered(self.head["netns"]):
            return product.run([*argv, *map(str, args)])

    def audit(self, method, outcome):
        """The entries with that method and outcome."""
        return [entry for line in self.bench.symnas("-o", "json", "audit").splitlines()
                for entry in [json.loads(line)]
                if entry["method"] == method and entry["outcome"] == outcome]


def private(path, flags):
    return os.open(path, flags, 0o600)


def openssl(*args):
    done = subprocess.run(["openssl", *args], capture_output=True, text=True)
    check(done.returncode == 0, f"openssl {args[0]}: {done.stderr}")


@contextlib.contextmanager
def network_api(bench, **settings):
    """Switched on with an admin's certificate and a token for each role, and off afterwards."""
    api = NetworkApi(bench)
    try:
        api.switch_on(**settings)
        api.issue("admin")
        for role in ("viewer", "operator", "admin"):
            api.token(f"t-{role}", role)
        yield api
    finally:
        for name in list(api.tokens):
            with contextlib.suppress(product.CommandFailed):
                bench.symnas("api", "token", "revoke", name)
        with contextlib.suppress(product.CommandFailed):
            bench.symnas("api", "cert", "revoke", "admin")
        api.switch_off()
