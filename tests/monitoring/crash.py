"""Four heads are scraped by a real Prometheus while one of them dies."""

import os
import re
import signal
import subprocess
import time
import urllib.request

from files import ALERTS, PROMETHEUS, check, dashboard_queries, is_known, metrics_of, read
from prometheus import PORT, Prometheus
from symlab import netns, processes, product
from symlab.cluster import Lab
from symlab.faults import Faults
from symlab.service import SharedService, create_head_services
from symlab.wait import SLOWER, eventually

HEADS = 4
MEMBERS = ("c1n2", "c1n3")  # heads with a member of etcd, beside the first
SCRAPED_S = 60.0
QUIET_S = 40.0  # longer than most alerts wait before they fire
FIRED_S = 120.0
AFTER_S = 30.0
BACK_S = 180.0
# They tell how fast this machine is, which other work may slow down.
OF_THE_MACHINE = {"SymnasEtcdSlow", "SymnasLunSlow"}
# `symnas vnfs why NAME HEAD`, `symnas status`: up to the first word that is no part of a command.
COMMAND = re.compile(r"`symnas ((?:[a-z][a-z-]* )*[a-z][a-z-]*)(?=[ `\n])")
VARIABLE = re.compile(r"\$\w+")


class Crash:
    """A lab, its clients and its Prometheus; the cases are its methods, in this order."""

    def __init__(self, prefix):
        self.lab = Lab(prefix)
        self.prometheus = None
        self.clients = []
        self.victim = ""  # it has a member of etcd, which does not lead: no gate is in danger

    def begin(self):
        self.lab.down()  # what an interrupted run has left
        self.lab.up(HEADS, HEADS, "512M")
        services = create_head_services(self.lab, SharedService, backups=True)
        self.lab.set_fence_kind("power")
        self.lab.set_fencing(automatic=True, cuts="power")
        for head in self.lab.state.data["heads"]:
            path = os.path.join(head["config_dir"], "vnfsd.toml")
            with open(path, "a", encoding="utf-8") as file:
                file.write(f'\n[metrics]\nlisten = "{head["mgmt"]}:{PORT}"\n')
            processes.send_signal(self.lab.process(f"vnfsd.{head['name']}"), signal.SIGHUP)
        self.prometheus = Prometheus(self.lab)
        self.prometheus.start()
        for service in services:
            service.wait_serving()
        urls = ",".join(service.url for service in services)
        self.clients.append(services[0].start_tool("nfs_shared", "--urls", urls, "--workers", "2",
                                                   "--stable", "1", "--seconds", "600"))

    def end(self):
        for client in self.clients:
            client.kill()
            client.wait()
        if self.prometheus:
            self.prometheus.stop()
        self.lab.down()

    def firing(self):
        """What fires, without what tells of this machine."""
        found = self.prometheus.firing()
        return {key: said for key, said in found.items() if key[0] not in OF_THE_MACHINE}

    def watch(self, seconds, allowed):
        """Looks for so long; returns all that fired. Fails at once at what must not fire."""
        seen = {}
        until = time.monotonic() + seconds * SLOWER
        while time.monotonic() < until:
            seen.update(self.firing())
            check(set(seen) <= set(allowed), f"fires and should not: {set(seen) - set(allowed)}: "
                  f"{ {key: said for key, said in seen.items() if key not in allowed} }")
            time.sleep(1.0)
        return seen

    # --- the cases

    def every_head_is_scraped_and_nothing_fires(self):
        names = {head["name"] for head in self.lab.state.data["heads"]}
        eventually(SCRAPED_S, "every head is scraped", lambda: self.prometheus.up() == names)
        eventually(SCRAPED_S, "every VNFS is served, by the metrics", lambda: len(
            self.prometheus.query("symnas_instance_up == 1")) == HEADS)
        eventually(SCRAPED_S, "nothing fires", lambda: not self.firing())
        self.watch(QUIET_S, {})

    def commands_of_alerts_exist(self):
        """Whatever an alert's description tells to run is a command of `symnas`."""
        words = set(COMMAND.findall(read(ALERTS)))
        check(len(words) > 5, f"commands: {words}")
        for said in words:
            done = subprocess.run([product.program("symnas"), *said.split(), "--help"],
                                  capture_output=True, text=True, check=False)
            check(done.returncode == 0 and said.split()[-1] in done.stdout, f"symnas {said}: "
                  f"{done.stdout}{done.stderr}")

    def pages_pass_promtool(self):
        for head in self.lab.state.data["heads"]:
            url = f"http://{head['mgmt']}:{PORT}/metrics"
            with netns.entered(self.prometheus.space), \
                    urllib.request.urlopen(url, timeout=5.0) as answer:
                page = answer.read()
            done = subprocess.run([os.path.join(PROMETHEUS, "promtool"), "check", "metrics"],
                                  input=page, capture_output=True, check=False)
            check(done.returncode == 0, (done.stdout + done.stderr).decode())

    def every_query_is_answered(self):
        known = self.prometheus.metrics()
        rules = self.prometheus.rules()
        queries = [(rule["name"], rule["query"]) for rule in rules] + dashboard_queries()
        check(len(queries) > len(rules), "no dashboards")
        for where, query in queries:
            check(not VARIABLE.search(query), f"{where}: a variable in {query}")
            self.prometheus.query(query)
            unknown = [name for name in metrics_of(query) if not is_known(name, known)]
            check(not unknown, f"{where}: unknown metrics {unknown}")
        for rule in rules:
            check(rule["health"] == "ok", f"{rule['name']}: {rule.get('lastError')}")
        empty = [where for where, query in dashboard_queries() if not self.prometheus.query(query)]
        print(f"     {len(queries)} queries; of dashboards without a result now: {empty}")

    def a_crash_fires_its_alerts_and_no_others(self):
        leader = self.lab.etcd_leader()
        self.victim = next(name for name in MEMBERS if name != leader)
        address = self.lab.head(self.victim)["mgmt"]
        heirs = {head["name"] for head in self.lab.state.data["heads"]} - {self.victim}
        must = {("SymnasHeadDown", self.victim), ("SymnasScrapeMissing", self.victim),
                ("SymnasEtcdMemberDown", f"https://{address}:2379")}
        one_of = {("SymnasFailover", heir) for heir in heirs}
        since = time.monotonic()
        Faults(self.lab).kill(self.victim)

        def all_fire():
            time.sleep(1.0)
            fired.update(self.firing())
            wrong = set(fired) - must - one_of
            check(not wrong, f"fires and should not: { {key: fired[key] for key in wrong} }")
            return must <= set(fired) and one_of & set(fired)
        fired = {}
        eventually(FIRED_S, f"{sorted(must)} and a failover fire", all_fire)
        print(f"     all of them fire {time.monotonic() - since:.0f} s after the crash")
        fired.update(self.watch(AFTER_S, must | one_of))
        check(len(one_of & set(fired)) == 1, f"one head takes over: {set(fired)}")
        for (name, about), said in fired.items():
            check("<error" not in "".join(said.values()) and "<no value>" not in
                  "".join(said.values()), f"{name} of {about}: {said}")
        summary = fired["SymnasHeadDown", self.victim]["summary"]
        check(self.victim in summary, f"the summary does not name the head: {summary}")

    def alerts_end_when_the_head_is_back(self):
        self.lab.unfence(self.victim)
        passing = {"SymnasFailover", "SymnasInstanceRestarted"}  # of the last ten minutes

        def ended():
            return all(name in passing for name, _ in self.firing())
        eventually(BACK_S, "the alerts end", ended)

    CASES = (every_head_is_scraped_and_nothing_fires, commands_of_alerts_exist, pages_pass_promtool,
             every_query_is_answered, a_crash_fires_its_alerts_and_no_others,
             alerts_end_when_the_head_is_back)

