"""A real Prometheus in a namespace of a lab, and what its API says."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

from files import ALERTS, PROMETHEUS, Failed, read
from symlab import netns, processes
from symlab.cluster import MGMT_BRIDGE
from symlab.wait import eventually

SPACE = "prom"
ADDRESS = "10.99.0.150/24"
API = "http://127.0.0.1:9090"
PORT = 9641
SCRAPE = "5s"  # so that a run takes minutes; the rules' own times stay
READY_S = 30.0

CONFIG = """global:
  scrape_interval: {scrape}
  evaluation_interval: {scrape}
rule_files: ['{rules}']
scrape_configs:
  - job_name: symnas
    static_configs:
      - targets: {targets}
"""


class Prometheus:
    """Scrapes every head of the lab until stop()."""

    def __init__(self, lab):
        self.lab = lab
        self.space = f"{lab.prefix}-{SPACE}"
        self.folder = os.path.join(lab.directory, "prometheus")
        self.targets = {f"{head['mgmt']}:{PORT}": head["name"]
                        for head in lab.state.data["heads"]}
        self.record = None

    def start(self):
        self.lab.make_netns(self.space)
        netns.connect_to_bridge(self.space, "eth0", ADDRESS, self.lab.hub_netns, MGMT_BRIDGE,
                                "prom-mgmt")
        os.makedirs(self.folder)
        config = os.path.join(self.folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(scrape=SCRAPE, rules=ALERTS, targets=list(self.targets)))
        self.record = processes.spawn(
            [os.path.join(PROMETHEUS, "prometheus"), f"--config.file={config}",
             f"--storage.tsdb.path={self.folder}/data", "--web.listen-address=127.0.0.1:9090",
             "--log.level=warn"],
            os.path.join(self.folder, "log"), netns=self.space)
        self.lab.state.note_process("prometheus", self.record)
        eventually(READY_S, "Prometheus is ready", self.is_ready)

    def stop(self):
        if self.record:
            processes.stop(self.record, 10.0)

    def ask(self, path, **parameters):
        """The data of an answer. Failed: the answer is an error."""
        url = f"{API}{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with netns.entered(self.space), urllib.request.urlopen(url, timeout=30.0) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise Failed(f"{parameters}: {error.read().decode()}") from error

    def is_ready(self):
        try:
            with netns.entered(self.space), urllib.request.urlopen(f"{API}/-/ready", timeout=5.0):
                return True
        except OSError:
            return False

    def query(self, text):
        """[(labels, value)]."""
        return [(one["metric"], float(one["value"][1]))
                for one in self.ask("/api/v1/query", query=text)["result"]]

    def up(self):
        """The heads that are scraped."""
        return {self.targets[labels["instance"]]
                for labels, value in self.query('up{job="symnas"}') if value == 1}

    def metrics(self):
        """The names of all metrics that heads have shown, with samples or not."""
        return set(self.ask("/api/v1/metadata"))

    def rules(self):
        """The alert rules, as Prometheus has read them."""
        return [rule for group in self.ask("/api/v1/rules")["groups"] for rule in group["rules"]]

    def firing(self):
        """{(alert, head or instance): annotations} of what fires now."""
        found = {}
        for alert in self.ask("/api/v1/alerts")["alerts"]:
            labels = alert["labels"]
            about = labels.get("head") or self.targets.get(labels.get("instance"), "") \
                or labels.get("vnfs", "") or labels.get("endpoint", "")
            if alert["state"] == "firing":
                found[labels["alertname"], about] = alert["annotations"]
        return found

    def log(self):
        return read(os.path.join(self.folder, "log"))
