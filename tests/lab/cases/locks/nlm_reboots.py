"""Reboots of NFSv3 clients: which locks a notice (SM_NOTIFY, FREE_ALL) releases."""

from lab_case import check, eventually, lab_test
from steps.nlm import OTHER, SEES_IT_S, expect, locks_of, new_lives, peer
from symlab.service import EXPORT


@lab_test("INV-7", "architecture/nsm.md")
def nlm_late_reboot_notice_releases_no_newer_lock(bench):
    """A notice of an earlier reboot releases no lock that was taken after a later one."""
    first, second, third = new_lives(3)
    file = "lives"
    expect("granted", bench, file, "lock", "--state", first, "--length", "100")
    # Rebooted: the same process number locks a part of it, before the notice is there.
    expect("granted", bench, file, "lock", "--state", second, "--length", "10")
    expect("granted", bench, file, "test", *OTHER, "--start", "50", "--length", "10")
    expect("done", bench, file, "notify", "--state", second)
    expect("denied", bench, file, "test", *OTHER, "--length", "10")
    expect("failed", bench, file, "lock", "--state", first, "--start", "200", "--length", "10")
    expect("done", bench, file, "notify", "--state", first)
    expect("denied", bench, file, "test", *OTHER, "--length", "10")
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    expect("done", bench, file, "notify", "--state", second)
    expect("denied", bench, file, "test", *OTHER, "--length", "10")
    expect("done", bench, file, "notify", "--state", third)
    expect("granted", bench, file, "test", *OTHER)


@lab_test("INV-7", "architecture/nsm.md")
def nlm_wait_after_a_reboot_outlives_the_notice(bench):
    """A client that waits again after its reboot still waits when the notice of it comes."""
    first, second = new_lives(2)
    file = "waiting"
    expect("granted", bench, file, "lock", *OTHER, "--state", second, "--length", "10")
    expect("blocked", bench, file, "lock", "--block", "--state", first, "--length", "100")
    expect("blocked", bench, file, "lock", "--block", "--state", second, "--length", "100")
    expect("done", bench, file, "notify", "--state", second)
    # What is waited for is not given to who comes later.
    late = ("--svid", "3", "--state", second, "--start", "50", "--length", "10")
    expect("denied", bench, file, "lock", *late)
    expect("granted", bench, file, "cancel", "--block", "--length", "100")
    expect("granted", bench, file, "lock", *late)
    # A request of the former life that is late waits for no longer than until it is tried.
    expect("blocked", bench, file, "lock", "--block", "--state", first, "--length", "100")
    expect("failed", bench, "elsewhere", "lock", "--block", "--state", first)
    eventually(SEES_IT_S, "nobody waits", lambda: peer(
        bench, file, "lock", "--svid", "4", "--state", second, "--start", "80", "--length", "1"
    ) == "granted")
    expect("done", bench, file, "free_all")


@lab_test("INV-7", "architecture/nsm.md")
def nlm_cancelled_upgrade_keeps_the_shared_lock(bench):
    """A cancelled wait for an exclusive lock leaves its owner the shared lock that it held."""
    [first] = new_lives(1)
    file = "upgraded"
    for svid in ("1", "2"):
        expect("granted", bench, file, "lock", "--shared", "--state", first, "--svid", svid)
    expect("blocked", bench, file, "lock", "--block", "--state", first)
    expect("granted", bench, file, "cancel", "--block", "--state", first)
    found = locks_of(bench, "--fs", EXPORT, "--path", f"/{file}")
    check(len(found) == 2, f"recorded: {found}")
    expect("granted", bench, file, "unlock", *OTHER)
    expect("denied", bench, file, "test", *OTHER)
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    expect("denied", bench, file, "test", *OTHER)
    expect("done", bench, file, "free_all")


@lab_test("INV-7", "architecture/locks.md")
def nlm_holder_comes_before_waiters_after_a_restart(bench):
    """What an owner holds it may lock again after a crash of the server, although another waits."""
    [first] = new_lives(1)
    file = "held"
    expect("granted", bench, file, "lock", "--state", first, "--length", "10")
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    expect("blocked", bench, file, "lock", "--block", *OTHER, "--state", first, "--length", "10")
    expect("granted", bench, file, "lock", "--state", first, "--length", "10")
    expect("denied", bench, file, "lock", "--svid", "3", "--state", first, "--length", "10")
    expect("granted", bench, file, "cancel", "--block", *OTHER, "--state", first, "--length", "10")
    expect("done", bench, file, "free_all")


@lab_test("INV-7", "architecture/nsm.md")
def nlm_lock_without_a_state_number(bench):
    """A lock without an NSM state number stays beside locks with one, and goes with a notice."""
    first, second = new_lives(2)
    file = "numbers"
    expect("granted", bench, file, "lock", "--length", "100")
    expect("granted", bench, file, "lock", "--state", first, "--start", "200", "--length", "10")
    expect("denied", bench, file, "test", *OTHER, "--start", "50", "--length", "10")
    expect("done", bench, file, "notify", "--state", first)
    expect("denied", bench, file, "test", *OTHER, "--start", "50", "--length", "10")
    expect("granted", bench, file, "lock", "--svid", "3", "--start", "300", "--length", "10")
    expect("done", bench, file, "notify", "--state", first)
    expect("granted", bench, file, "test", *OTHER, "--start", "300", "--length", "10")
    expect("denied", bench, file, "test", *OTHER, "--start", "200", "--length", "10")
    expect("done", bench, file, "notify", "--state", second)
    expect("granted", bench, file, "test", *OTHER)


@lab_test("INV-7", "architecture/nsm.md")
def nlm_locks_are_released_from_reserved_ports_only(bench):
    """FREE_ALL and SM_NOTIFY from an ordinary user of a client release nothing."""
    first, second = new_lives(2)
    file = "ports"
    expect("granted", bench, file, "lock", "--state", first)
    expect("done", bench, file, "free_all", "--high-port")
    expect("done", bench, file, "notify", "--state", second, "--high-port")
    expect("denied", bench, file, "test", *OTHER)
    expect("done", bench, file, "free_all")
    expect("granted", bench, file, "test", *OTHER)
