"""Direct NFS over several paths: balance, dead and silent ones, MTUs, a crash."""

from lab_case import check, lab_test
from steps.dnfs import (
    IO_MS,
    LOCALS,
    NOBODY,
    OLTP,
    VIPS,
    VNFS,
    line_of,
    oracle_vnfs,
    pairs,
    run_whole,
    running,
    table,
    thread,
    vanishing,
)

EVEN = 0.05
SEEN_S = 2.0
DEAD_S = 20.0
# A request that was on the path, another time-out for the one that tried it again, and a busy
# machine.
LONGEST_MS = 2 * IO_MS + 4000
FAIL_MS = 30_000
LARGE = thread("large", "mix", 64, block_bytes=256 * 1024, depth=4)


@lab_test("operations/oracle.md", soak=True)
def dnfs_paths_are_used_alike(bench):
    """Over two and four paths, each gets its share within 5 %, from its own local address."""
    with oracle_vnfs(bench):
        for count in (2, 4):
            run = run_whole(bench, table(pairs(count))).check_clean()
            shares = [one["bytes"] for one in run.paths()]
            mean = sum(shares) / count
            check(all(abs(share - mean) <= EVEN * mean for share in shares),
                  f"{count} paths: {shares}")
            print(f"     {count} paths: " +
                  ", ".join(f"{share / mean - 1:+.2%}" for share in shares))


@lab_test("operations/oracle.md")
def dnfs_goes_on_without_a_path_that_is_dead_from_the_start(bench):
    """Nobody has the address of the second path; its line is named, no I/O notices."""
    with oracle_vnfs(bench):
        run = run_whole(bench, table([(LOCALS[0], VIPS[0]), (LOCALS[1], NOBODY)])).check_clean()
        run.check_said(line_of(1), NOBODY)
        dead = run.paths()[1]
        check(dead["failures"] == 1 and dead["bytes"] == dead["returns"] == 0, f"{dead}")


@lab_test("operations/oracle.md", soak=True)
def dnfs_goes_over_other_paths_while_one_is_silent(bench):
    """Packets of one path vanish under load: re-issued over the others, no error; it comes back."""
    with oracle_vnfs(bench), running(bench, table(pairs(4)), seconds=20) as run:
        bench.let_run(SEEN_S)
        with vanishing(bench, VIPS[1:2]):
            bench.let_run(6.0)
        run.finish().check_clean().check_said(line_of(1), f"no answer for {IO_MS} ms")
        silent = run.paths()[1]
        check(silent["failures"] == silent["returns"] == 1 and silent["reissued"] > 0, f"{silent}")
        check(silent["state"] == "up", f"{silent}")
        check(run.longest_us() <= LONGEST_MS * 1000, f"a request took {run.longest_us()} us")
        for one in (0, 2, 3):
            check(run.paths()[one]["failures"] == 0, f"{run.paths()[one]}")
        print(f"     longest request {run.longest_us() / 1000:.0f} ms, "
              f"{silent['reissued']} sent again")


@lab_test("operations/oracle.md", soak=True)
def dnfs_waits_while_all_paths_are_silent(bench):
    """20 s without any path: I/O waits, and goes on without an error."""
    with oracle_vnfs(bench), running(bench, table(pairs(4)), seconds=32) as run:
        bench.let_run(SEEN_S)
        with vanishing(bench, VIPS):
            bench.let_run(DEAD_S)
        run.finish().check_clean()
        check(run.longest_us() >= (DEAD_S - SEEN_S) * 1e6, f"{run.longest_us()} us: nobody waited")
        check(all(one["failures"] == one["returns"] == 1 for one in run.paths()),
              f"{run.paths()}")
        print(f"     longest request {run.longest_us() / 1e6:.1f} s")


@lab_test("operations/oracle.md", soak=True)
def dnfs_tells_an_error_only_after_its_limit(bench):
    """With a limit of 4 s a longer outage becomes errors, which are counted; nothing is corrupt."""
    with oracle_vnfs(bench), running(bench, table(pairs(2)), seconds=14,
                                     words=("--wait-limit-ms", "4000")) as run:
        bench.let_run(SEEN_S)
        with vanishing(bench, VIPS):
            bench.let_run(9.0)
        run.finish()
        check(run.status == 1 and run.result, f"ended with {run.status}: {run.said}")
        check(sum(one["errors"] for one in run.result["threads"]) > 0, f"{run.result}")
        check(all(one["corrupt"] == 0 for one in run.result["threads"]), f"{run.result}")


@lab_test("operations/oracle.md", soak=True)
def dnfs_finds_a_path_that_loses_large_packets(bench):
    """The second path mounts, but carries no large packet: its line and the MTU are named."""
    with oracle_vnfs(bench), vanishing(bench, VIPS[1:2], longer_than=1000):
        run = run_whole(bench, table(pairs(2)), (LARGE,), seconds=10).check_clean()
        run.check_said(line_of(1), "MTU")
        check(run.paths()[0]["failures"] == 0, f"{run.paths()[0]}")
        check(run.longest_us() <= LONGEST_MS * 1000, f"a request took {run.longest_us()} us")


@lab_test("operations/oracle.md", "architecture/moves.md", soak=True)
def dnfs_notices_no_crash_of_its_server(bench):
    """SIGKILL of the VNFS's instance: all paths are reset and come back; every block is right."""
    with oracle_vnfs(bench), running(bench, table(pairs(4)), (*OLTP, LARGE), seconds=20) as run:
        bench.let_run(SEEN_S * 2)
        before = bench.service.serving(VNFS)
        bench.kill_recorded(before)
        run.finish().check_clean()
        check(all(one["failures"] >= 1 and one["state"] == "up" for one in run.paths()),
              f"{run.paths()}")
        check(run.longest_us() <= FAIL_MS * 1000, f"a request took {run.longest_us()} us")
        print(f"     longest request {run.longest_us() / 1000:.0f} ms")
        bench.service.wait_serving(VNFS, other_than=before["pid"])
