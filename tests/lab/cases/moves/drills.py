"""`symnas drill`: what clients would notice of a failure."""

import json

import labs
from lab_case import check, lab_test
from steps.cluster import heads_from, victim
from steps.deadlines import BETWEEN_S
from steps.exit_status import CONFLICT, USAGE
from steps.load import coherent_clients
from symlab import netns, product


@lab_test("operations/commands.md", "architecture/moves.md", lab=labs.BACKUPS)
def drills_measure_what_clients_notice(bench):
    """`symnas drill` on a third head: a move there and back, then a kill; with clients at work."""
    service = victim(bench)
    to, by = heads_from(service)[:2]
    at_head = bench.lab.symnas(by)

    def symnas(*words, **options):
        """From where that head's probes would come."""
        with netns.entered(bench.lab.head(by)["netns"]):
            return at_head(*words, **options)

    told = bench.refused(USAGE, "drill", "kill", bench.services[0].name, "--yes")
    check("cannot probe a VIP that it serves itself" in told, told)
    report = f"{bench.lab.directory}/drill-report"
    with coherent_clients(bench, "--stable", "1"):
        bench.let_run(BETWEEN_S)
        moved = json.loads(symnas("-o", "json", "drill", "move", service.name, to,
                                  "--budget-ms", "60000", "--report", report, timeout_s=120))
        check(moved["passed"], moved["why"])
        check(moved["heads"] == [service.home, to, service.home], str(moved["heads"]))
        check([entry["cause"] for entry in moved["history"]] == ["move", "move"], str(moved))
        check(moved["clients"] and not moved["clients_not_back"], str(moved))
        before = service.serving()["pid"]
        try:
            symnas("drill", "kill", service.name)
            raise AssertionError("it was killed under clients without consent")
        except product.CommandFailed as failed:
            check(failed.status == CONFLICT and "--yes" in failed.output, failed.output)
        check(service.serving()["pid"] == before, "it was killed all the same")
        killed = json.loads(symnas("-o", "json", "drill", "kill", service.name, "--yes",
                                   "--budget-ms", "60000", timeout_s=120))
        check(killed["passed"] and killed["history"][0]["cause"] == "restart", str(killed))
        check(service.wait_serving()["pid"] != before, "it was not killed")
        for drill in (moved, killed):
            print(f"     {drill['kind']}: longest gap {drill['longest_gap_ms']} ms, "
                  f"{drill['connections']} connections, {drill['answers']} answers")
        check(killed["longest_gap_ms"] > 0 and killed["connections"] > 1, str(killed))
    with open(report, encoding="utf-8") as file:
        check("passed: within the budget" in file.read(), "the report does not say it")
