"""Who gets through symnas-apid, and what the audit log tells of it."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import time

from lab_case import check, lab_test
from steps.network_api import PORT, network_api, openssl
from symlab import netns, product
from symlab.wait import SLOWER

STREAM_S = 20.0 * SLOWER
REVOKED_S = 1.0 * SLOWER


def refused_by_tls(api, cert):
    """The handshake, or the first byte after it, ends the connection."""
    try:
        reply = api.ask("GET", "/v1/status", "t-viewer", cert=cert)
    except (OSError, ssl.SSLError):
        return
    raise AssertionError(f"certificate {cert} is let in: {reply}")


def etcd_lets_in(api, cert):
    """Whether etcd's client port takes that certificate."""
    context = ssl.create_default_context(cafile=f"{api.head['config_dir']}/tls/ca.crt")
    context.load_cert_chain(api.path(f"{cert}.crt"), api.path(f"{cert}.key"))
    with netns.entered(api.head["netns"]):
        plain = socket.create_connection((api.head["mgmt"], 2379), timeout=10)
    try:
        with context.wrap_socket(plain, server_hostname=api.head["mgmt"]) as connection:
            connection.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
            return b"etcdserver" in connection.recv(4096)
    except OSError:
        return False


@lab_test("operations/api_network.md")
def certificate_and_token_open_the_api(bench):
    """A certificate and a token of each role; a viewer's change is refused, told, and not made."""
    with network_api(bench) as api:
        reply = api.ask("GET", "/v1/status", "t-viewer")
        check(reply.status == 200 and '"head":"c1n1"' in reply.body.replace(" ", ""), str(reply))
        before = bench.symnas.json("network", "ls")
        body = '{"name": "nfs9", "device": "eth9"}'
        for token in ("t-viewer", "t-operator"):
            reply = api.ask("POST", "/v1/networks", token, body=body)
            check(reply.status == 403 and reply.error["code"] == "permission", str(reply))
            check("role" in reply.error["message"], str(reply))
        check(bench.symnas.json("network", "ls") == before, "a refused change was made")
        told = api.audit("POST", "permission")
        check([(entry["who"], entry["role"], entry["path"]) for entry in told[-2:]] ==
              [("t-viewer", "viewer", "/v1/networks"), ("t-operator", "operator", "/v1/networks")],
              str(told))
        check(told[-1]["from"] == api.head["mgmt"] and told[-1]["certificate"] == "admin",
              str(told[-1]))
        reply = api.ask("POST", "/v1/networks", "t-admin", body=body)
        check(reply.status == 200, str(reply))
        check(api.audit("POST", "done")[-1]["text"].startswith("network nfs9: created"), "")
        check(api.symnas("t-viewer", "network", "ls").count("nfs9") == 1, "symnas --remote")
        api.symnas("t-admin", "network", "rm", "nfs9")
        check(api.audit("DELETE", "done")[-1]["path"] == "/v1/networks/nfs9", "no entry")


@lab_test("operations/api_network.md", "formats/access_records.md")
def audit_log_has_who_logged_in(bench):
    """On a head the kernel's login uid says who; what a process says of itself does not count."""
    words = [product.program("symnas"), "--socket", bench.lab.state.data["heads"][0]["socket"],
             "network", "create", "nfs9", "--device", "eth9"]
    done = subprocess.run(["sh", "-c", 'echo 4242 >/proc/self/loginuid; exec "$@"', "sh", *words],
                          env={"SUDO_USER": "mallory", "SUDO_UID": "4711"}, capture_output=True)
    check(done.returncode == 0, done.stderr.decode())
    bench.symnas("network", "rm", "nfs9")
    entries = [json.loads(line) for line in bench.symnas("-o", "json", "audit").splitlines()]
    made, removed = entries[-2:]
    check((made["who"], made["login_uid"], made["from"]) == ("root", "4242", ""), str(made))
    check(made["path"] == "/v1/networks" and made["outcome"] == "done", str(made))
    check(removed["method"] == "DELETE" and removed["login_uid"] != "4242", str(removed))
    said = {str(value) for entry in entries for value in entry.values()}
    check(not said & {"4711", "mallory"}, "SUDO_USER is believed")
    log = os.path.join(bench.lab.state.data["heads"][0]["dir"], "vnfsd.log")
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.startswith("audit: ")]
    check('who="root" role=admin from="" certificate="" login_uid="4242" '
          'request="POST /v1/networks" outcome=done text="network nfs9: created' in lines[-2],
          lines[-2])


@lab_test("operations/api_network.md")
def only_good_certificates_get_in(bench):
    """None, another authority's, etcd's, an expired, a forged and a revoked certificate."""
    with network_api(bench) as api:
        refused_by_tls(api, None)
        # Another authority.
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=admin", "-days", "2",
                "-keyout", api.path("stranger.key"), "-out", api.path("stranger.crt"))
        refused_by_tls(api, "stranger")
        # The head's own certificate, of the authority that etcd believes.
        tls = f"{api.head['config_dir']}/tls"
        for ending in ("crt", "key"):
            with open(f"{tls}/head.{ending}", encoding="utf-8") as source, \
                 open(api.path(f"etcd.{ending}"), "w", encoding="utf-8") as target:
                target.write(source.read())
        refused_by_tls(api, "etcd")
        check(not etcd_lets_in(api, "admin"), "etcd takes a certificate of the API")
        check(etcd_lets_in(api, "etcd"), "etcd takes no certificate at all")
        # Whoever stole the authority's key has no record for what it signs.
        openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=admin",
                "-keyout", api.path("forged.key"), "-out", api.path("forged.csr"))
        sign = ["x509", "-req", "-in", api.path("forged.csr"), "-CAkey",
                f"{api.head['config_dir']}/api/ca.key", "-CA",
                f"{api.head['config_dir']}/api/ca.crt", "-set_serial", "0x1234"]
        openssl(*sign, "-days", "2", "-out", api.path("forged.crt"))
        reply = api.ask("GET", "/v1/status", "t-viewer", cert="forged")
        check(reply.status == 401 and "certificate" in reply.error["message"], str(reply))
        openssl(*sign, "-days", "0", "-out", api.path("forged.crt"))
        time.sleep(1.1)  # its end is given in whole seconds
        refused_by_tls(api, "forged")
        # Revoked: at once.
        api.issue("laptop")
        check(api.ask("GET", "/v1/status", "t-viewer", cert="laptop").status == 200, "laptop")
        bench.symnas("api", "cert", "revoke", "laptop")
        reply = api.ask("GET", "/v1/status", "t-viewer", cert="laptop")
        check(reply.status == 401 and "revoked" in reply.error["message"], str(reply))
        check(api.ask("GET", "/v1/status", "t-viewer").status == 200, "another was revoked, too")


@lab_test("operations/api_network.md")
def a_stream_ends_with_its_credential(bench):
    """Events come as they happen over the network; a revoked token ends a stream within seconds."""
    with network_api(bench) as api:
        check(api.ask("GET", "/v1/events/stream", "t-viewer").status == 403, "a viewer follows")
        connection = http.client.HTTPSConnection(api.head["mgmt"], PORT, timeout=STREAM_S)
        connection.sock = api.secure("admin")
        connection.request("GET", "/v1/events/stream", headers={
            "Authorization": "Bearer " + api.tokens["t-operator"]})
        reply = connection.getresponse()
        check(reply.status == 200 and reply.getheader("Content-Type") == "text/event-stream",
              f"{reply.status} {reply.getheaders()}")
        api.symnas("t-admin", "network", "create", "nfs9", "--device", "eth9")
        lines = []
        while not any("network nfs9: created" in line for line in lines):
            lines.append(reply.readline().decode())
            check(lines[-1], f"the stream has ended: {lines}")
        bench.symnas("network", "rm", "nfs9")
        bench.symnas("api", "token", "revoke", "t-operator")
        begin = time.monotonic()
        reply.read()
        took = time.monotonic() - begin
        check(took < REVOKED_S, f"a revoked token follows for {took:.1f} s")
        connection.close()
        check(api.ask("GET", "/v1/status", "t-viewer").status == 200, "it does not answer now")


@lab_test("operations/api_network.md")
def only_good_tokens_get_in(bench):
    """None, a wrong, an expired and a revoked token, and one in a URL, which is in no log."""
    with network_api(bench) as api:
        reply = api.ask("GET", "/v1/status")
        check(reply.status == 401 and reply.headers["WWW-Authenticate"].startswith("Bearer"),
              str(reply))
        wrong = api.tokens["t-admin"][:-1] + ("0" if api.tokens["t-admin"][-1] != "0" else "1")
        for token in (wrong, "x", "symnas.t-admin." + 64 * "0", "symnas.nobody." + 64 * "0"):
            reply = api.ask("GET", "/v1/status", token)
            check(reply.status == 401, f"{reply}")
        api.token("t-short", "viewer", "--expires", "1m")
        check(api.ask("GET", "/v1/status", "t-short").status == 200, "t-short")
        bench.symnas("api", "token", "revoke", "t-short")
        check(api.ask("GET", "/v1/status", "t-short").status == 401, "a revoked token is taken")
        secret = api.tokens["t-admin"]
        for path in (f"/v1/status?token={secret}", f"/v1/status?x={secret}", f"/v1/{secret}",
                     "/v1/status?access_token=abc"):
            reply = api.ask("GET", path, "t-admin")
            check(reply.status == 400 and "URL" in reply.error["message"], str(reply))
            check(secret not in reply.body, "the answer repeats the token")
        check(api.audit("GET", "done") == [], "reading is no change")
        logs = ""
        for path in bench.logs():
            with open(path, encoding="utf-8", errors="replace") as file:
                logs += file.read()
        for token in api.tokens.values():
            check(token.rsplit(".", 1)[1] not in logs, "a token's secret is in a log")
