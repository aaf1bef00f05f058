"""Times of files while the clock of one head is wrong."""

import contextlib
import time

import labs
import nfs_statuses as statuses
import nfs_wire as wire
from lab_case import check, eventually, lab_test
from steps.clocks import clocks
from steps.cluster import others, victim
from symlab import netns
from symlab.service import EXPORT
from symlab.wait import SLOWER

HOUR_S = 3600
NEAR_S = 30.0 * SLOWER  # a busy machine's hiccups, and far from an hour
SEEN_S = 10.0
BEFORE_MTIME = 5 * 4 + 2 * 8 + 2 * 4 + 2 * 8 + 2 * 4  # bytes of a fattr3 (RFC 1813 2.5)
GETATTR = 1


@contextlib.contextmanager
def wrong_clock(bench, head, service):
    """Agent and instance of the head have a clock that can be set; yields it."""
    with clocks(bench, {head: service}) as made:
        clock = made[head]
        bench.kill_process(f"vnfsd.{head}")
        bench.lab.start_vnfsd(head, env={"SYMNAS_CLOCK": clock.offset, "LD_PRELOAD": clock.library})
        service.wait_serving()
        try:
            yield clock
        finally:
            clock.set(0)
            bench.kill_process(f"vnfsd.{head}")
            bench.lab.start_vnfsd(head)


def ahead_s(bench, service, name):
    """How far the times of a file that is made now are ahead of the machine's clock."""
    with netns.entered(bench.lab.client_netns):
        client = statuses.V3(service.vip, wire.mount(service.vip, "/" + EXPORT))
        _, handle = client.make(wire.CREATE, name)
        answer = client.ask(GETATTR, wire.opaque(handle))
        check(answer.u32() == wire.OK, "GETATTR")
        answer.take(BEFORE_MTIME)
        seconds = answer.u32() - time.time()
        client.remove(wire.REMOVE, name)
    return seconds


def check_times(bench, services, when):
    for service in services:
        ahead = ahead_s(bench, service, "stamped")
        check(abs(ahead) < NEAR_S, f"{when}: a file made on {service.home} is {ahead:.1f} s ahead")


@lab_test("operations/networks.md", "architecture/metadata.md", lab=labs.THREE_HEADS)
def wrong_clock_of_one_head_moves_no_times(bench):
    """The clock of one head of three is set by an hour, ahead and back: files that are made there
    and elsewhere have the right times; `status` and an event name the head."""
    service, other = victim(bench), others(bench)[0]
    with wrong_clock(bench, service.home, service) as clock:
        check_times(bench, (service, other), "before")
        for seconds, word in ((HOUR_S, "ahead of"), (-HOUR_S, "behind")):
            clock.set(seconds)
            check_times(bench, (service, other), f"at once after {seconds} s")
            said = f"head {service.home}: its clock is 3600.0 s {word}"
            for reader in (service.home, other.home):
                eventually(SEEN_S * SLOWER, "status says it",
                           lambda head=reader, text=said: text in bench.lab.symnas(head)("status"))
            check_times(bench, (service, other), f"later after {seconds} s")
            eventually(SEEN_S * SLOWER, "an event says it",
                       lambda text=said: text in bench.symnas("events"))
            clock.set(0)
            eventually(SEEN_S * SLOWER, "all is well again", lambda: "its clock is" not in
                       bench.lab.symnas(other.home)("status"))
    check_times(bench, (service, other), "in the end")
