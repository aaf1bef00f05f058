"""Something is lost while somebody watches: a head, vnfsd, etcd."""

import contextlib
import time

from console_case import case
from steps.deadlines import CRASHED_MS, HEARD_S, TAKEN_OVER_S
from steps.faults import paused
from steps.load import MEASURED, check_gaps, coherent_clients
from symlab.wait import SLOWER, eventually

BANNER_MS = 15_000.0 * SLOWER


@case()
def crash_is_watched(site):
    """A head crashes under load: the matrix shows its VNFS on the backup, the timeline says why."""
    service = site.service
    home, backup = site.heads[1], site.heads[2]
    with site.losing_heads() as lose, site.tab() as console:
        with coherent_clients(site.bench, "--stable", "1"), \
                site.bench.load(*MEASURED, "read,write,create", service=service) as load:
            site.bench.let_run(HEARD_S)
            since = time.monotonic()
            lose(home)
            console.wait_on(service.name, backup, TAKEN_OVER_S * 1000 * SLOWER)
            print(f"     on {backup} in the matrix {time.monotonic() - since:.1f} s after the "
                  "power failed")
            site.shoot(console, "crash")
            service.head = backup
            service.wait_serving()
            site.bench.let_run(2.0)
        check_gaps(load.seen, ("read", "write", "create"), CRASHED_MS)
        console.go("history")
        console.shown("history-vnfs").select_option(service.name)
        console.says("page-history", "failover")
        console.go("events")
        console.says("page-events", home)


@case()
def vnfsd_restarts(site):
    """vnfsd of the head ends: a banner says so and the page keeps what it knew; it starts again,
    and the page goes on by itself."""
    head = site.heads[0]
    service = site.service
    with site.tab(head) as console:
        console.wait_on(service.name, service.home)
        site.bench.kill_process(f"vnfsd.{head}")
        try:
            console.shown("banner", BANNER_MS)
            console.wait_on(service.name, service.home)
            site.shoot(console, "connection-lost")
        finally:
            site.bench.lab.start_vnfsd(head)
        console.gone("banner", BANNER_MS)
        service.rehost(site.heads[2])
        console.wait_on(service.name, site.heads[2])


@contextlib.contextmanager
def etcd_frozen(bench):
    """No member of etcd answers."""
    names = [name for name in bench.lab.state.data["processes"] if name.startswith("etcd.")]
    with paused(bench, *names):
        yield


@case()
def etcd_is_away(site):
    """No member of etcd answers: the page says so, shows what is known, and a change is refused
    with a reason; afterwards all is as before."""
    service = site.service
    with site.tab() as console:
        console.wait_on(service.name, service.home)
        with etcd_frozen(site.bench):
            console.says("banner", "etcd", BANNER_MS)
            console.wait_on(service.name, service.home)
            site.shoot(console, "etcd-away")
        console.gone("banner", TAKEN_OVER_S * 1000 * SLOWER)
    site.bench.lab.wait_members()
    eventually(TAKEN_OVER_S, f"{service.name} serves", service.serving)
