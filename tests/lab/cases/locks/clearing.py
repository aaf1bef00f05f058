"""`symnas lock ls` and `symnas lock clear`."""

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import heads_from, victim
from steps.lock_holders import Holder, check_granted, check_refused, locking_clients
from steps.nlm import OTHER, SEES_IT_S, expect, locks_of, new_lives
from symlab.service import EXPORT, VIP, VNFS


@lab_test("architecture/locks.md", "operations/commands.md")
def locks_are_listed_and_cleared(bench):
    """`lock ls` shows holders and ranges; `lock clear` releases them, in the instance too."""
    bench.symnas("lock", "clear", "--client", "peer", "--yes")  # what other tests have left
    [first] = new_lives(1)
    file = "cleared"
    expect("granted", bench, file, "lock", "--state", first, "--start", "10", "--length", "20")
    expect("granted", bench, file, "lock", "--state", first, "--start", "100")
    expect("granted", bench, "kept", "lock", "--state", first, *OTHER)
    found = locks_of(bench, "--fs", EXPORT, "--path", f"/{file}")
    check(len(found) == 1, f"not one owner: {found}")
    seen = found[0]
    check((seen["protocol"], seen["client"], seen["vnfs"], seen["vip"], seen["revocable"]) ==
          ("nlm", "peer", VNFS, VIP, "no") and seen["path"] == f"/{file}" and seen["age_s"] < 600,
          f"shown as {seen}")
    check(seen["ranges"] == [{"start": 10, "length": 20, "type": "write"},
                             {"start": 100, "type": "write"}], f"shown as {seen['ranges']}")
    check(seen["owner"].startswith("1/"), f"the owner is shown as {seen['owner']}")
    bench.refused(2, "lock", "clear", "--yes")
    line = bench.refused(2, "lock", "clear", "--fs", EXPORT, "--path", f"/{file}")
    check("locks of 1 owner would be released" in line and "--yes" in line, line)
    bench.refused(3, "lock", "ls", "--vnfs", "nobody")
    expect("denied", bench, file, "test", *OTHER, "--start", "15", "--length", "1")
    done = bench.symnas("lock", "clear", "--fs", EXPORT, "--path", f"/{file}", "--yes")
    check("locks of 1 owner released" in done, done)
    expect("granted", bench, file, "lock", *OTHER, "--state", first, "--start", "15", "--length",
           "1")
    # The cleared owner: its unlock is none, its lock is asked for anew.
    expect("denied", bench, file, "lock", "--state", first, "--start", "10", "--length", "20")
    expect("granted", bench, file, "unlock")
    expect("granted", bench, file, "lock", "--state", first, "--start", "100")
    check(len(locks_of(bench, "--client", "peer")) == 3, "the other file's lock is not there")
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
    done = bench.symnas("lock", "clear", "--client", "peer", "--yes")
    check("locks of 3 owners released" in done, done)
    left = locks_of(bench, "--client", "peer")
    check(left == [], f"left: {left}")
    expect("granted", bench, file, "test", "--svid", "3")
    check("nothing to do" in bench.symnas("lock", "clear", "--client", "peer", "--yes"), "not so")


@lab_test("architecture/locks.md", "operations/commands.md")
def locks_of_a_stopped_vnfs_are_cleared(bench):
    """The records of a stopped VNFS go at once; its next instance does not know them."""
    bench.symnas("lock", "clear", "--vnfs", VNFS, "--yes")
    [first] = new_lives(1)
    expect("granted", bench, "stopped", "lock", "--state", first)
    bench.symnas("vnfs", "stop", VNFS)
    try:
        check(len(locks_of(bench, "--vnfs", VNFS)) == 1, "the lock is gone with its instance")
        bench.symnas("lock", "clear", "--vnfs", VNFS, "--yes")
        check(locks_of(bench, "--vnfs", VNFS) == [], "it is still recorded")
    finally:
        bench.symnas("vnfs", "start", VNFS)
    bench.service.wait_serving()
    expect("granted", bench, "stopped", "test", *OTHER)


@lab_test("architecture/locks.md", "operations/commands.md", lab=labs.BACKUPS)
def locks_of_kernel_clients_are_cleared(bench):
    """NFSv3 and v4.1, before and after a move: the next client gets the lock."""
    service = victim(bench)
    bench.symnas("lock", "clear", "--vnfs", service.name, "--yes")
    with locking_clients(bench, "clear") as ((one, other), (folder, beside)):
        v41 = [client.mount("v41", service, "vers=4.1") for client in (one, other)]
        for mine, others, moves in ((folder, beside, False), (folder, beside, True),
                                    (v41[0], v41[1], False), (v41[0], v41[1], True)):
            one.run(f"rm -f {mine}/go")
            holder = Holder(one, mine)
            check_refused(other, (others,), "while it is held")
            if moves:
                service.rehost(heads_from(service)[0])
                check_refused(other, (others,), "after the move")
            held = locks_of(bench, "--vnfs", service.name)
            check(len(held) == 1, f"shown: {held}")
            check(held[0]["protocol"] == ("nlm" if mine == folder else "nfs4"), f"shown: {held}")
            bench.symnas("lock", "clear", "--vnfs", service.name, "--yes")
            check_granted(other, others, "after it was cleared")
            holder.job.kill()
            eventually(SEES_IT_S, "nothing is held",
                       lambda: locks_of(bench, "--vnfs", service.name) == [])
            if moves:
                service.rehost(service.home)
