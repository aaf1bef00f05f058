"""Cases without a cluster: what deploy/monitoring, its tests, its document and the catalog say
agrees."""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

REPO = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
MONITORING = os.path.join(REPO, "deploy", "monitoring")
ALERTS = os.path.join(MONITORING, "alerts.yml")
DOCUMENT = os.path.join(REPO, "docs", "operations", "monitoring.md")
PROMETHEUS = os.path.join(os.environ.get("SYMNAS_CACHE", "/var/cache/symnas"), "prometheus")
PARTS = re.compile(r"_(bucket|sum|count)$")
OURS = re.compile(r"\b((?:symnas|process)_[a-z_]+)")
GRID_COLUMNS = 24


class Failed(Exception):
    """Says what is wrong."""


def check(condition, message):
    if not condition:
        raise Failed(message)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def promtool(*words, cwd=None):
    done = subprocess.run([os.path.join(PROMETHEUS, "promtool"), *words], cwd=cwd, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    check(done.returncode == 0, f"promtool {' '.join(words)}:\n{done.stdout}")
    return done.stdout


def rule_tests():
    return sorted(glob.glob(os.path.join(REPO, "tests", "monitoring", "rules", "*_test.yml")))


def dashboards():
    return sorted(glob.glob(os.path.join(MONITORING, "dashboards", "*.json")))


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def dashboard_queries():
    """[(where, query)] with Grafana's variables replaced."""
    found = []
    for path in dashboards():
        dashboard = json.loads(read(path))
        name = os.path.basename(path)
        for panel in panels(dashboard):
            found += [(f"{name}: {panel['title']}", target["expr"])
                      for target in panel["targets"]]
        found += [(f"{name}: annotation {one['name']}", one["expr"])
                  for one in dashboard["annotations"]["list"]]
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                metric = re.match(r"label_values\((\w+), \w+\)$", variable["query"]["query"])
                check(metric, f"{name}: variable {variable['name']}")
                found.append((f"{name}: variable {variable['name']}", metric.group(1)))
    return [(where, query.replace("$__rate_interval", "30s").replace("$vnfs", ".*"))
            for where, query in found]


def metrics_of(query):
    """The names of our metrics in a text, without the parts of histograms."""
    return set(OURS.findall(query))


def is_known(name, known):
    return name in known or PARTS.sub("", name) in known


def documented(first_cell):
    return set(re.findall(rf"^\| {first_cell} \|", read(DOCUMENT), re.MULTILINE))


def alerts():
    """{name: its text in alerts.yml}."""
    pieces = re.split(r"^ +- alert: (\w+)$", read(ALERTS), flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


# --- the cases

def rules_and_example_are_valid():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("alerts.yml", "prometheus.example.yml"):
            shutil.copy(os.path.join(MONITORING, name), folder)
        said = promtool("check", "config", "prometheus.example.yml", cwd=folder)
    check(f"{len(alerts())} rules found" in said, said)


def alerts_fire_when_they_should():
    promtool("test", "rules", *rule_tests())


def every_alert_has_a_test():
    tested = "".join(map(read, rule_tests()))
    missing = [name for name in alerts() if f'alertname="{name}"' not in tested]
    check(not missing, f"no test of {missing}")


def every_alert_says_what_to_do():
    for name, text in alerts().items():
        check(re.search(r"severity: (critical|warning)$", text, re.MULTILINE), f"{name}: severity")
        check("summary: " in text, f"{name}: no summary")
        description = text.partition("description: >-")[2]
        check(re.search(r"`(symnas|systemctl|chronyc|iostat) ", description), f"{name}: no command")


def every_alert_is_in_the_document():
    rows = {name for name in re.findall(r"^\| (Symnas\w+) \|", read(DOCUMENT), re.MULTILINE)}
    check(rows == set(alerts()), f"rows and alerts differ by {rows ^ set(alerts())}")


def queries_name_documented_metrics():
    known = set(re.findall(r"^\| `(\w+)` \|", read(DOCUMENT), re.MULTILINE))
    queries = [("alerts.yml", read(ALERTS)), *dashboard_queries()]
    for where, query in queries:
        unknown = [name for name in metrics_of(query) if not is_known(name, known)]
        check(not unknown, f"{where}: unknown metrics {unknown}")


def dashboards_can_be_provisioned():
    check(len(dashboards()) == 2, "two dashboards")
    for path in dashboards():
        dashboard = json.loads(read(path))
        check(dashboard["uid"] == os.path.basename(path).removesuffix(".json"), f"{path}: uid")
        first = dashboard["templating"]["list"][0]
        check((first["name"], first["type"]) == ("datasource", "datasource"), f"{path}: datasource")
        ids = [panel["id"] for panel in dashboard["panels"]]
        check(len(ids) == len(set(ids)), f"{path}: ids of panels")
        taken = set()
        for panel in dashboard["panels"]:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            check(max(x for x, _ in cells) < GRID_COLUMNS and not cells & taken,
                  f"{path}: {panel['title']} lies on another panel")
            taken |= cells
        for panel in panels(dashboard):
            check(panel["description"] and panel["datasource"]["uid"] == "${datasource}",
                  f"{path}: {panel['title']}")


CASES = (rules_and_example_are_valid, alerts_fire_when_they_should, every_alert_has_a_test,
         every_alert_says_what_to_do, every_alert_is_in_the_document,
         queries_name_documented_metrics, dashboards_can_be_provisioned)
