"""A move and a crash in the middle of decision support and of OLTP, second by second."""

import time
from statistics import median

import database
import nodes
import shaping
from outcome import workload
from sites import HeadsSite
from symlab.faults import Faults
from symlab.wait import eventually

MOVE_AT_S, BACK_AT_S, CRASH_AT_S, END_S = 8, 13, 18, 30
AFTER_S = 4  # what an event does is over by then
SERVED_S = 60.0
LONGEST_MS = 5000.0  # of a request that an event delays: client's patience, fence and takeover
DSS_RATE, OLTP_RATE = "100mbit", "16mbit"


class Events:
    """What is done to the heads, and when."""

    def __init__(self, site):
        self.site = site
        self.marks = []  # (seconds since 1970, name)

    def at(self, seconds, begun):
        time.sleep(max(0.0, begun + seconds - time.time()))

    def happen(self):
        """Moves vnfs2 to the third head and back, then takes the power of the fourth."""
        begun = time.time()
        moving = self.site.services[1]
        for name, seconds, event in (
                ("move", MOVE_AT_S, lambda: moving.rehost("c1n3")),
                ("move back", BACK_AT_S, lambda: moving.rehost(moving.home)),
                ("crash", CRASH_AT_S, lambda: Faults(self.site.lab).kill("c1n4"))):
            self.at(seconds, begun)
            self.marks.append((time.time(), name))
            event()

    def recorded_ms(self):
        """{event: how long nobody served the VNFS, as the cluster has recorded it}."""
        found = {}
        for name, cause, events in (("vnfs2", "move", ("move", "move back")),
                                    ("vnfs4", "failover", ("crash",))):
            history = self.site.lab.running_symnas().json("vnfs", "history", name)["history"]
            tenures = [one["blackout_ms"] for one in sorted(history, key=lambda one: one["epoch"])
                       if one["cause"] == cause and "blackout_ms" in one]
            found.update(zip(events, tenures[-len(events):], strict=False))
        return found

    def undo(self):
        """All heads are there again, each with its own VNFS."""
        lab, services = self.site.lab, self.site.services
        lab.unfence("c1n4")
        eventually(SERVED_S, "c1n4 is back", lambda: not any(
            row.get("fence") for row in lab.running_symnas().json("head", "ls")["heads"]))
        lab.wait_members()
        for service in services:
            owner = next(row["owner"] for row in lab.running_symnas().json("vnfs", "ls")["vnfs"]
                         if row["name"] == service.name)
            service.head = owner
            if owner != service.home:
                service.rehost(service.home)
            service.wait_serving()


def dip(site, outcome, name, threads_of, key, unit, scale, rate):
    """Runs one load through the events; its plot, rows and figure."""
    events = Events(site)
    made = [database.node(site, n, threads_of(n)) for n in range(database.NODES)]
    with shaping.limited(site.lab, rate):
        results = nodes.run(made, END_S, events.happen)
    outcome.clean(results, name)
    seen = results.seconds(key)
    begin = min(seen)
    marks = [{"at": at - begin, "name": what} for at, what in events.marks]
    before = median([seen[at] for at in seen if begin < at < begin + MOVE_AT_S - 1])
    after = {at: value for at, value in seen.items() if at >= begin + MOVE_AT_S - 1}
    after.pop(max(after))
    lowest = {what: min(value for at, value in after.items() if int(since) <= at < since + AFTER_S)
              / before for since, what in events.marks}
    by_second = longest_by_second(results)
    recorded = events.recorded_ms()
    longest = max(longest_of(by_second, at, recorded.get(what, 0) / 1000)
                  for at, what in events.marks)
    for what, share in lowest.items():
        outcome.row(f"{name}, {what}: worst second, share of before", share, "")
    for what, blackout_ms in recorded.items():
        outcome.row(f"{name}, {what}: recorded by the cluster", blackout_ms, "ms")
    outcome.row(f"{name}: longest request that an event met", longest, "ms", aim=LONGEST_MS,
                at_most=True)
    outcome.row(f"{name}: longest request, with those in the queues of the heads left",
                results.longest_us() / 1000, "ms")
    outcome.row(f"{name}: requests sent again on another path", results.path_total("reissued"), "")
    outcome.figure(f"{name} worst second {lowest['move']:.0%} in a move, {lowest['crash']:.0%} in "
                   f"a crash, longest request {longest:.0f} ms")
    outcome.plot("lines", f"{name}: a move and a crash", unit, f"dips_{name.lower()}",
                 marks=marks, series=[
        {"name": name, "points": [[at - begin, value / scale] for at, value in seen.items()
                                  if at < max(seen)]}])
    outcome.plot("lines", f"{name}: longest request of each second", "ms", marks=marks, series=[
        {"name": name, "points": [[at - begin, by_second[at]] for at in sorted(by_second)]}])
    events.undo()


def longest_of(by_second, event_at, blackout_s):
    """The longest request, in milliseconds, that was sent before the event's VNFS was served again
    and answered after the event. Of the requests answered in one second the longest was sent
    first."""
    met = [longest_ms for at, longest_ms in by_second.items()
           if at + 1 > event_at and at - longest_ms / 1000 <= event_at + blackout_s]
    return max(met, default=0.0)


def longest_by_second(results):
    """{second: milliseconds}."""
    worst = {}
    for thread in results.threads():
        for second in thread["per_second"]:
            at = int(second["t"])
            worst[at] = max(worst.get(at, 0), second["max_us"] / 1000)
    return worst


@workload("dips", HeadsSite)
def dips(site, outcome, _):
    """A planned move and the crash of a head under decision support and under OLTP"""
    database.prepare(site, {**database.DECISION, **database.TRANSACTIONS})
    site.lab.set_fence_kind("power")
    site.lab.set_fencing(automatic=True, cuts="power")
    site.lab.wait_members()
    dip(site, outcome, "DSS", lambda n: database.decision_threads("throughput", n, 1), "bytes",
        "MiB/s", 1 << 20, DSS_RATE)
    dip(site, outcome, "OLTP", lambda n: database.transaction_threads(n, 60), "ops",
        "operations per second", 1, OLTP_RATE)
    outcome.limit(f"Heads' links are held to {DSS_RATE} (DSS) and {OLTP_RATE} (OLTP). Fencing is "
                  "automatic, by a power switch. After the crash three of four heads are left, one "
                  "with two of the four paths: at best three quarters, and requests of 1 MiB wait "
                  "for seconds in the queue of that head's link.")
