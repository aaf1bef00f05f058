"""Credentials and the audit log on more heads than one."""

import os
import shutil
import time

import labs
from lab_case import check, lab_test
from steps.network_api import NetworkApi

REVOKED_WITHIN_S = 1.0


class SecondHead(NetworkApi):
    """Its certificate is made on the first head, and brought over."""

    def make_certificate(self):
        self.bench.symnas("api", "cert", "issue", self.head["name"], "--listener", "--address",
                          self.head["mgmt"], "--out", self.folder)
        to = os.path.join(self.head["config_dir"], "api")
        os.makedirs(to, mode=0o700)
        for name in ("server.crt", "server.key"):
            shutil.move(self.path(name), os.path.join(to, name))


@lab_test("operations/api_network.md", lab=labs.OWN_LAB)
def revoked_on_one_head_is_refused_on_the_other(bench):
    """A certificate and a token are good on both heads until one revokes them: within a second. A
    head that is removed takes its own certificates along."""
    bench.lab.up(2, 1, "64M")
    try:
        first, second = NetworkApi(bench), SecondHead(bench, "c1n2")
        for api in (first, second):
            api.switch_on()
        first.issue("admin")
        first.token("t-admin", "admin")
        second.folder, second.tokens = first.folder, first.tokens
        for api in (first, second):
            reply = api.ask("GET", "/v1/status", "t-admin")
            check(reply.status == 200 and f'"head":"{api.head["name"]}"' in reply.body, str(reply))
        reply = second.ask("POST", "/v1/networks", "t-admin",
                           body='{"name": "nfs9", "device": "eth9"}')
        check(reply.status == 200, str(reply))
        told = first.audit("POST", "done")[-1]
        check(told["head"] == "c1n2" and told["who"] == "t-admin", str(told))
        second.symnas_here("api", "token", "revoke", "t-admin")
        begin = time.monotonic()
        reply = first.ask("GET", "/v1/status", "t-admin")
        check(reply.status == 401, str(reply))
        first.token("t-again", "admin")
        first.symnas_here("api", "cert", "revoke", "admin")
        reply = second.ask("GET", "/v1/status", "t-again")
        check(reply.status == 401 and "revoked" in reply.error["message"], str(reply))
        print(f"     refused {time.monotonic() - begin:.2f} s after the first revocation")
        first.symnas_here("head", "drain", "c1n2", "--wait", timeout_s=150)
        told = first.symnas_here("head", "rm", "c1n2", "--yes")
        check("api certificate c1n2: revoked" in told, told)
        states = {one["name"]: one["state"]
                  for one in first.symnas_here.json("api", "cert", "ls")["certificates"]
                  if one["use"] == "server"}
        check(states == {"c1n1": "good", "c1n2": "revoked"}, str(states))
        for api in (first, second):
            api.stop()
    finally:
        bench.discard()
