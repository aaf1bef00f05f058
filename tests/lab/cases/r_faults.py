"""Partitions, sick instances, LUNs that fail on one head, failures on top of failures."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import arp
from kernel_clients import finish, kernel_clients
from lab_case import LUN_COUNT, LUN_SIZE, Shell, check, eventually, lab_test
from symlab import product
from symlab.cluster import Lab
from symlab.etcd_keys import EtcdKeys
from symlab.faults import Faults
from symlab.service import VNFS, Service

from .f_quota import LEVEL_DEADLINE_S, QUOTA_BYTES
from .h_heads import check_undisturbed, fence_state, leader, others, victim
from .i_shared import HEADS
from .l_silent import automatic_fencing
from .m_moves import (CONFLICT, CRASHED_MS, HEARD_S, MEASURED, SECOND, SITTING, TAKEN_OVER_S,
                      check_gaps, heads_from, history, is_holding, owner)

# They wait for as long as a fault may last.
WRITERS = ("nfs_crash", "--workers", "2", "--pause-us", "2000", "--deadline-s", "180")
ORPHANS_S = 6.0  # of a namespace without processes
SILENT_S = 15.0  # 8 s of the gate, 1 s until the VIPs go, and a busy machine
BACK_S = 3.0
NOTICED_S = 10.0  # 3 s of stillness, a fence, a start
ANSWERS_S = 8.0  # an instance that answers no NULL for so long has no workers
STEADY_S = 12.0  # longer than a head is missed, and than a gate's window
WELL_S = 100.0  # a minute without a fault
FREEZER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "frozen_threads.py")
JUNK, JUNK_BYTES = b"zz/junk/", 64 << 10
ILL_S = 30.0  # a LUN is ill, all heads that have the fault have said so, the move


def vips(pid):
    """The IPv4 addresses that the instance `pid` answers for; none when it has gone."""
    done = subprocess.run(["nsenter", "-t", str(pid), "-n", "ip", "-o", "-4", "addr", "show"],
                          capture_output=True, text=True)
    found = [line.split()[3].split("/")[0] for line in done.stdout.splitlines()]
    return {address for address in found if not address.startswith("127.")}


def check_silent(pid, service, seconds):
    """The instance answers for no VIP, at any moment."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        check(service.vip not in vips(pid), f"{service.vip} is up on two heads")
        time.sleep(0.02)


@contextlib.contextmanager
def cut_off(bench, head, *parts):
    """The head reaches none of these; healed afterwards."""
    faults = Faults(bench.lab)
    try:
        for part in parts:
            faults.partition(head, part)
        yield
    finally:
        faults.heal(head)


def take_over(bench, service, home):
    """Waits until the first backup serves the VNFS; it is where `service` is then."""
    names = [head["name"] for head in bench.lab.state.data["heads"]]
    backup = names[(names.index(home) + 1) % len(names)]
    service.head = eventually(4 * TAKEN_OVER_S, f"{backup} serves {service.name}",
                              lambda: owner(bench, service) == backup and backup)
    check(backup != home, "it did not move")
    return service.wait_serving()


def bring_home(bench, service, home):
    """The fenced head boots, and the VNFS goes back."""
    bench.lab.unfence(home)
    eventually(2 * TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
    service.rehost(home)
    bench.lab.wait_members()


def wait_luns_well(bench):
    """Every head trusts its LUNs again, so that the next test finds them in its record."""
    def well():
        return not [lun for head in bench.lab.state.data["heads"]
                    for lun in bench.lab.symnas(head["name"]).json("status")["luns"]
                    if lun["error"]]
    eventually(WELL_S, "every head reaches its LUNs well", well)


def wait_networks_well(bench):
    """The same of their networks."""
    def well():
        return not [network for head in bench.lab.state.data["heads"]
                    for network in bench.lab.symnas(head["name"]).json("status")["networks"]
                    if network["error"]]
    eventually(WELL_S, "every head reaches its networks well", well)


def check_nobody_fenced(bench):
    for head in bench.lab.state.data["heads"]:
        check(fence_state(bench, head["name"]) is None, f"{head['name']} was fenced")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def vips_go_while_nothing_can_be_proved(bench):
    """Management cut off, no automatic fencing: the VIPs go, and come back with the proof."""
    service = victim(bench)
    before = service.serving()
    check(service.vip in vips(before["pid"]), "the VIP is not up")
    with bench.load(*WRITERS, service=service) as load:
        bench.let_run(1.0)
        since = time.monotonic()
        with cut_off(bench, service.head, "etcd", "peers"):
            eventually(SILENT_S, "the VIP is down", lambda: service.vip not in vips(before["pid"]))
            print(f"     silent {time.monotonic() - since:.1f} s after the cut")
            check_silent(before["pid"], service, STEADY_S)
        since = time.monotonic()
        eventually(BACK_S, "the VIP is back", lambda: service.vip in vips(before["pid"]))
        print(f"     back {time.monotonic() - since:.1f} s after the end of the cut")
        bench.let_run(2.0)
    check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
    after = service.wait_serving()
    check(after["pid"] == before["pid"], "the instance was restarted")
    check("VIPs are down" not in after["error"], after["error"])
    check_nobody_fenced(bench)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def cut_off_head_stays_silent_after_a_take_over(bench):
    """Management cut off, its LUNs refused: the backup serves, the old VIP never comes back."""
    service = victim(bench)
    home = service.head
    before = service.serving()
    bench.lab.set_fence_kind("lun")
    with automatic_fencing(bench, "luns"):
        with bench.load(*WRITERS, service=service) as load:
            bench.let_run(HEARD_S)
            with cut_off(bench, home, "etcd", "peers"):
                eventually(SILENT_S, "the VIP is down",
                           lambda: service.vip not in vips(before["pid"]))
                take_over(bench, service, home)
                check_silent(before["pid"], service, 3.0)
            check_silent(before["pid"], service, STEADY_S)
        check(load.seen["operations"] > 0, str(load.seen))
        bring_home(bench, service, home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def head_cut_off_from_everything(bench):
    """No etcd, no peers, no clients: fenced by power, the backup serves."""
    service = victim(bench)
    home = service.head
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"):
        with bench.load(*WRITERS, service=service):
            bench.let_run(HEARD_S)
            with cut_off(bench, home, "etcd", "peers", "clients"):
                since = time.monotonic()
                take_over(bench, service, home)
                print(f"     served elsewhere {time.monotonic() - since:.1f} s after the cut")
                bench.let_run(2.0)
        bring_home(bench, service, home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def paused_instance_is_found(bench):
    """An instance stands still: its head ends it within seconds and starts it anew."""
    service = victim(bench)
    before = service.serving()
    other = others(bench)[0]
    with bench.load(*WRITERS, service=service) as load, \
            bench.load(*MEASURED, "read,write", service=other) as beside:
        bench.let_run(1.0)
        since = time.monotonic()
        Faults(bench.lab).pause(service.name)
        after = service.wait_serving(other_than=before["pid"])
        took_s = time.monotonic() - since
        bench.let_run(1.0)
    print(f"     serves again {took_s:.1f} s after it stood still")
    check(took_s < NOTICED_S, f"found after {took_s:.1f} s only")
    check(after["epoch"] > before["epoch"], "it was not claimed anew")
    check(load.seen["reconnects"] > 0, f"the clients saw nothing: {load.seen}")
    check_undisturbed({other.head: beside}, [other], ("read", "write"))


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def instance_that_takes_no_requests_is_found(bench):
    """Heartbeats and pulse go on, but nobody answers: after 8 s it is ended and restarted."""
    service = victim(bench)
    before = service.serving()
    with bench.load(*WRITERS, service=service) as load:
        bench.let_run(1.0)
        freezer = subprocess.Popen([sys.executable, FREEZER, str(before["pid"]), "ganesha.nfsd"],
                                   stdout=subprocess.PIPE, text=True)
        try:
            check(int(freezer.stdout.readline()) > 0, "no thread was frozen")
            since = time.monotonic()
            after = service.wait_serving(other_than=before["pid"])
            took_s = time.monotonic() - since
        finally:
            freezer.kill()
            freezer.wait()
        bench.let_run(1.0)
    print(f"     serves again {took_s:.1f} s after it took no more requests")
    check(ANSWERS_S < took_s < ANSWERS_S + NOTICED_S, f"found after {took_s:.1f} s")
    check(after["epoch"] > before["epoch"], "it was not claimed anew")
    check(load.seen["reconnects"] > 0, f"the clients saw nothing: {load.seen}")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def instance_out_of_memory(bench):
    """An instance gets no memory any more: it ends or is ended, and serves again."""
    service = victim(bench)
    before = service.serving()
    with open(f"/proc/{before['pid']}/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * 4096
    with bench.load(*WRITERS, service=service) as load:
        bench.let_run(1.0)
        subprocess.run(["prlimit", "--pid", str(before["pid"]), f"--as={size}"], check=True)
        with bench.load("nfs_crash", "--workers", "16", "--deadline-s", "180", service=service):
            service.wait_serving(other_than=before["pid"])
            bench.let_run(1.0)
    check(load.seen["reconnects"] > 0, f"the clients saw nothing: {load.seen}")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def hung_luns_of_all_heads_move_nothing(bench):
    """Every LUN hangs everywhere for longer than a LUN may: nobody is restarted, moved, fenced."""
    before = {service.name: service.serving()["pid"] for service in bench.services}
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), bench.broken_luns() as fault, \
            bench.load(*WRITERS, service=victim(bench)) as load:
        bench.let_run(HEARD_S)
        fault("hang", "all")
        bench.let_run(ILL_S)
        fault("resume", "all")
        bench.let_run(2.0)
    check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
    for service in bench.services:
        check(service.wait_serving()["pid"] == before[service.name], f"{service.name} was ended")
        check(owner(bench, service) == service.home, f"{service.name} was moved")
    check_nobody_fenced(bench)
    wait_luns_well(bench)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def luns_that_fail_on_one_head(bench):
    """EIO of one head's LUNs only: its VNFS goes to a head without it, and stays there."""
    service = victim(bench)
    home = service.head
    backup = heads_from(service)[1]
    with bench.broken_luns() as fault, bench.load(*WRITERS, service=others(bench)[0]):
        for kind in ("read", "write", "flush"):
            fault("eio", "all", kind, "on", home)
        since = time.monotonic()
        service.head = eventually(ILL_S, f"{backup} serves {service.name}",
                                  lambda: owner(bench, service) == backup and backup)
        print(f"     served by {backup} {time.monotonic() - since:.1f} s after the first error")
        service.wait_serving()
        luns = bench.lab.symnas(home).json("status")["luns"]
        check(all("cannot be read on this head" in lun["error"] for lun in luns), str(luns))
        bench.refused(CONFLICT, "vnfs", "rehost", service.name, home)
        with bench.load(*WRITERS, service=service):
            bench.let_run(STEADY_S)
        fault("heal", "all")
    last = history(bench, service)[-1]
    check((last["from"], last["to"]) == (home, backup), str(last))
    check(owner(bench, service) == backup, "it did not stay")
    check_nobody_fenced(bench)

    wait_luns_well(bench)
    service.rehost(home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def client_network_of_one_head(bench):
    """Clients reach one head no more: its VNFS goes to another one, nobody is fenced."""
    service = victim(bench)
    home = service.head
    backup = heads_from(service)[1]
    with bench.load(*WRITERS, service=service):
        bench.let_run(HEARD_S)
        since = time.monotonic()
        with cut_off(bench, home, "clients"):
            service.head = eventually(ILL_S, f"{backup} serves {service.name}",
                                      lambda: owner(bench, service) == backup and backup)
            service.wait_serving()
            print(f"     served by {backup} {time.monotonic() - since:.1f} s after the cut")
            networks = bench.lab.symnas(home).json("status")["networks"]
            check("eth1" in networks[0]["error"], str(networks))
            bench.refused(CONFLICT, "vnfs", "rehost", service.name, home)
            with bench.load(*WRITERS, service=service):
                bench.let_run(STEADY_S)
    last = history(bench, service)[-1]
    check((last["from"], last["to"], last["cause"]) == (home, backup, "move"), str(last))
    check_nobody_fenced(bench)

    wait_networks_well(bench)
    service.rehost(home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def one_network_of_probes_is_enough(bench):
    """A head is heard on the NFS network alone: nobody is fenced, nothing moves."""
    service = victim(bench)
    before = service.serving()["pid"]
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), bench.load(*WRITERS, service=service) as load:
        bench.let_run(HEARD_S)
        with cut_off(bench, service.head, "peers"):
            bench.let_run(STEADY_S)
        bench.let_run(1.0)
    check_nobody_fenced(bench)
    check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
    check(service.serving()["pid"] == before, "its instance was ended")


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def luns_that_fail_everywhere(bench):
    """EIO of every head's LUNs: nothing is moved to and fro."""
    homes = {service.name: service.home for service in bench.services}
    with bench.broken_luns() as fault:
        fault("eio", "all", "read", "on")
        bench.let_run(ILL_S)
        for service in bench.services:
            check(owner(bench, service) == homes[service.name], f"{service.name} was moved")
        fault("heal", "all")
    for service in bench.services:
        service.wait_serving()
    wait_luns_well(bench)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def second_crash_during_a_take_over(bench):
    """The head that takes over is lost too: a third one serves, and locks are held all the time."""
    service = bench.services[-1]  # its home has no etcd member: two of three are left in the end
    home = service.head
    first, looks = heads_from(service)[0], heads_from(service)[1]
    check(not bench.lab.has_etcd(bench.lab.head(home)), f"{home} has an etcd member")
    faults = Faults(bench.lab)
    bench.lab.set_fence_kind("power")
    with kernel_clients(bench, "twice") as (one, other), automatic_fencing(bench, "power"):
        folder = one.mount("v41", service, "vers=4.1")
        one.run(f"mkdir -p {folder}")
        job = one.start(SITTING.format(folder=folder, how="locked"))
        eventually(20.0, "the shell holds its lock", lambda: is_holding(job))
        looking = other.mount("v41", next(s for s in bench.services if s.head == looks),
                              "vers=4.1")
        bench.let_run(HEARD_S)
        try:
            faults.kill(home)
            eventually(TAKEN_OVER_S, f"{first} claims it",
                       lambda: owner_seen_by(bench, looks, service) == first)
            faults.kill(first)
            third = eventually(2 * TAKEN_OVER_S, f"a third head serves {service.name}",
                               lambda: (seen := owner_seen_by(bench, looks, service))
                               not in (None, "", home, first) and seen)
            print(f"     from {home} to {first} to {third}")
            for _ in range(10):
                check(other.run(SECOND.format(folder=looking)) == "refused", "a lock was stolen")
            other.run(f"touch {looking}/go")
            output = finish({"the holder": job})["the holder"]
            check(output == f"holding\none two {folder}", f"the holder said {output!r}")
            check(other.run(SECOND.format(folder=looking)) == "granted", "not given back")
        finally:
            for head in (first, home):
                bench.lab.unfence(head)
        for head in (first, home):
            eventually(2 * TAKEN_OVER_S, f"{head} is back",
                       lambda h=head: fence_state(bench, h) is None)
    bench.lab.wait_members()
    for each in bench.services:
        each.head = eventually(TAKEN_OVER_S, f"{each.name} has an owner",
                               lambda e=each: owner(bench, e))
        each.wait_serving()
        if each.head != each.home:
            each.rehost(each.home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def vips_of_a_dead_instance_do_not_come_back(bench):
    """Instance and agent die while no client hears it: its VIP answers no more, then the next's."""
    service = victim(bench)
    home = service.head
    with bench.load(*WRITERS, service=service):
        bench.let_run(1.0)
        with cut_off(bench, home, "clients"):
            bench.let_run(0.5)  # replies that nobody acknowledges
            instance = service.serving()
            bench.kill_process(f"vnfsd.{home}")
            bench.kill_recorded(instance)
            bench.let_run(ORPHANS_S)
        answering = arp.holders(bench.lab.client_netns, "eth1", service.vip)
        check(not answering, f"{service.vip} is still answered for by {answering}")
        bench.lab.start_vnfsd(home)
        service.wait_serving()
        answering = arp.holders(bench.lab.client_netns, "eth1", service.vip)
        check(len(answering) == 1, f"{service.vip} is answered for by {answering}")
        bench.let_run(2.0)


def owner_seen_by(bench, head, service):
    with contextlib.suppress(product.CommandFailed):
        for vnfs in bench.lab.symnas(head).json("vnfs", "ls")["vnfs"]:
            if vnfs["name"] == service.name:
                return vnfs["owner"]
    return None


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def crash_of_the_head_that_leads_etcd(bench):
    """The head with etcd's leader is gone: an election, a fence, and its backup serves."""
    home = leader(bench)
    service = next(s for s in bench.services if s.head == home)
    backup = heads_from(service)[0]
    looks = next(s.head for s in bench.services if s.head not in (home, backup))
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"):
        with bench.load(*MEASURED, "read,write,create", service=service) as load:
            bench.let_run(HEARD_S)
            Faults(bench.lab).kill(home)
            service.head = eventually(
                TAKEN_OVER_S, f"{home} has lost {service.name}",
                lambda: (seen := owner_seen_by(bench, looks, service)) not in (None, home, "")
                and seen)
            bench.let_run(HEARD_S)
        check_gaps(load.seen, load.seen, CRASHED_MS)
        bring_home(bench, service, home)


@lab_test(luns="fuse", heads=HEADS, shared=True, backups=True)
def without_quorum_nothing_moves(bench):
    """Two of three etcd members are gone: no fence, no move, and each head's status says so."""
    heads = [head["name"] for head in bench.lab.state.data["heads"]]
    members = [head for head in heads if bench.lab.has_etcd(bench.lab.head(head))]
    before = {service.name: service.serving() for service in bench.services}
    faults = Faults(bench.lab)
    bench.lab.set_fence_kind("power")
    with automatic_fencing(bench, "power"), \
            bench.load(*WRITERS, service=victim(bench)) as load:
        bench.let_run(HEARD_S)
        for head in members[:2]:
            faults.kill(f"etcd-{head}")
        try:
            for service in bench.services:
                pid = before[service.name]["pid"]
                eventually(2 * SILENT_S, f"the VIP of {service.name} is down",
                           lambda p=pid, s=service: s.vip not in vips(p))
            bench.let_run(STEADY_S)
            for head in heads:
                told = status_without_quorum(bench, head)
                check("etcd" in told and "VIPs are down" in told, f"{head} says: {told}")
        finally:
            for head in members[:2]:
                bench.lab.start_etcd(head)
        bench.lab.wait_members()
        bench.let_run(BACK_S)
    check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
    for service in bench.services:
        check(owner(bench, service) == service.home, f"{service.name} was moved")
        check(service.wait_serving()["pid"] == before[service.name]["pid"],
              f"{service.name} was restarted")
    check_nobody_fenced(bench)


def status_without_quorum(bench, head):
    try:
        told = bench.lab.symnas(head)("status")
    except product.CommandFailed as failed:
        check(failed.status == 5, f"exit status {failed.status}: {failed.output}")
        return failed.output
    raise AssertionError(f"{head} sees nothing wrong: {told}")


def quota_level(lab, head):
    return lab.symnas(head).json("status")["quota"]["level"]


def wait_owned(lab, by, owner_wanted):
    """Waits until that head serves the lab's VNFS, as `by` and it itself say."""
    def served():
        rows = {row["name"]: row for row in lab.symnas(by).json("vnfs", "ls")["vnfs"]}
        own = {row["name"]: row for row in lab.symnas(owner_wanted).json("status")["vnfs"]}
        return rows[VNFS]["owner"] == owner_wanted and own[VNFS]["state"] == "serving"
    eventually(2 * TAKEN_OVER_S, f"{owner_wanted} serves {VNFS}", served)


def fill(keys):
    """A little more of the quota is used up, behind the product's back; the level lags by 2 s."""
    time.sleep(0.3)
    keys.put(JUNK + time.monotonic_ns().to_bytes(8, "big"), bytes(JUNK_BYTES))


@lab_test(needs_service=False, luns="fuse", heads=3)
def failover_while_etcd_is_full(bench):
    """etcd's quota is used up: a crash of the head and a move of its VNFS succeed all the same."""
    lab = Lab(bench.prefix[:6] + "q")
    lab.down()
    try:
        lab.up(3, LUN_COUNT, LUN_SIZE, kind="fuse", etcd_quota_bytes=QUOTA_BYTES)
        service = Service(lab)
        service.create()
        lab.set_fence_kind("power")
        lab.set_fencing(automatic=True, cuts="power")
        service.wait_serving()
        shell = Shell(service)
        shell.expect("NFS3_OK", "create", "kept")
        shell.expect("NFS3_OK", "write", "kept", 0, 8192, "k", "stable")
        filler = service.start_tool("nfs_badinput", "quota")
        try:
            eventually(2 * LEVEL_DEADLINE_S, "etcd is full",
                       lambda: quota_level(lab, "c1n2") != "free")
            filler.send_signal(signal.SIGSTOP)
            keys = EtcdKeys(lab)
            eventually(2 * LEVEL_DEADLINE_S, "etcd's last reserve is touched",
                       lambda: fill(keys) or quota_level(lab, "c1n2") == "critical")
            Faults(lab).kill("c1n1")
            wait_owned(lab, "c1n3", "c1n2")
            keys = EtcdKeys(lab, "c1n2")  # compactions make room meanwhile
            eventually(2 * LEVEL_DEADLINE_S, "etcd's last reserve is touched again",
                       lambda: quota_level(lab, "c1n2") == "critical" or fill(keys))
            lab.symnas("c1n2")("vnfs", "rehost", VNFS, "c1n3")
            wait_owned(lab, "c1n2", "c1n3")
            check(quota_level(lab, "c1n2") != "free", "etcd is not full any more")
            for key in keys.below(JUNK):
                keys.erase(key)
        finally:
            filler.kill()
            filler.wait()
        shell.expect("NFS3_OK", "reconnect")
        shell.expect("NFS3_OK", "read", "kept", 0, 8192, "k")
        shell.expect("NFS3_OK", "remove", "kept")
        shell.close()
        lab.unfence("c1n1")
        lab.wait_members()
        lab.symnas("c1n2")("fs", "check", service.commands()[3][2])
    finally:
        lab.down()
