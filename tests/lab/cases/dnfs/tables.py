"""The oranfstab: which line is wrong, what symnas writes and finds; a client that is killed."""

import os

from lab_case import check, lab_test
from steps.dnfs import (
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
    symnas_there,
    table,
    vanishing,
)
from steps.exit_status import FINDINGS
from symlab.service import EXPORT, VIP

USAGE = 2
NO_PATH = 3
SMALL = 1000  # bytes; larger packets vanish
WELL = ("path: ", "export: ")


@lab_test("operations/oracle.md")
def dnfs_says_which_line_of_its_table_is_wrong(bench):
    """Before any I/O: attributes, local addresses, versions, exports; nobody at any path."""
    with oracle_vnfs(bench):
        good = table(pairs(1))
        for line, word, text in (
                (3, "pth", good.replace("path:", "pth:")),
                (2, "no address of this host", good.replace(LOCALS[0], "10.0.0.77")),
                (4, "this client speaks", table(pairs(1), ["nfs_version: pNFS"])),
                (4, "mnt_timeout", table(pairs(1), ["mnt_timeout: soon"]))):
            run = run_whole(bench, text)
            check(run.status == USAGE and run.result is None, f"{text}: {run.status}: {run.said}")
            run.check_said(line, word)
        run = run_whole(bench, good.replace(f"/{EXPORT} ", "/other "))
        check(run.status == USAGE and "below no export" in run.said, run.said)
        run = run_whole(bench, table([(LOCALS[0], NOBODY)], ["mnt_timeout: 7"]))
        check(run.status == NO_PATH, f"ended with {run.status}: {run.said}")
        run.check_said(line_of(0), NOBODY)


@lab_test("operations/oracle.md")
def dnfs_names_the_line_of_a_path_to_another_machine(bench):
    """The first path leads to the head itself, where no NFS is: refused; the second one carries."""
    with oracle_vnfs(bench):
        run = run_whole(bench, table([(LOCALS[0], "10.0.0.1"), (LOCALS[1], VIPS[1])]), seconds=5)
        run.check_clean().check_said(line_of(0), "10.0.0.1")


@lab_test("operations/oracle.md", "operations/commands.md")
def what_symnas_oranfstab_writes_works(bench):
    """Two VNFSs of one export as paths: the file is used as it is, and --check finds nothing."""
    with oracle_vnfs(bench):
        words = ("oranfstab", "--client", "db1", "--vnfs", f"vnfs1,{VNFS}",
                 "--local", ",".join(LOCALS))
        text = bench.symnas(*words)
        check([line for line in text.splitlines() if line.startswith(WELL)] ==
              [f"path: {vip}" for vip in (VIP, *VIPS[:3])] +
              [f"export: /{EXPORT} mount: /mnt/{EXPORT}"], text)
        run_whole(bench, text).check_clean()
        status, found = symnas_there(bench, *words, "--check")
        check(status == FINDINGS and
              [one["verdict"] for one in found["findings"]] == ["fine"] * 4 + ["problem"] and
              "5 VIPs" in found["findings"][4]["what"], f"{status}: {found}")


@lab_test("operations/oracle.md", "operations/commands.md")
def symnas_oranfstab_finds_what_is_wrong_with_paths(bench):
    """Large packets that vanish, an address that is none of the host's, silence; as nobody."""
    with oracle_vnfs(bench):
        words = ("oranfstab", "--client", LOCALS[0], "--vnfs", VNFS, "--check")
        status, found = symnas_there(bench, *words)
        check(status == 0 and len(found["findings"]) == 4, f"{status}: {found}")
        with vanishing(bench, VIPS[1:2], longer_than=1300):
            status, found = symnas_there(bench, *words)
        verdicts = [one["verdict"] for one in found["findings"]]
        lost = found["findings"][1]
        check(status == FINDINGS and verdicts == ["fine", "problem", "fine", "fine"], f"{found}")
        check("are lost on the way" in lost["what"] and "bytes pass" in lost["next"], f"{lost}")
        print(f"     {lost['what']}; {lost['next']}")
        with vanishing(bench, VIPS[2:3]):
            status, found = symnas_there(bench, *words)
        check(status == FINDINGS and "nobody answers" in found["findings"][2]["what"], f"{found}")
        status, found = symnas_there(bench, *words, "--local", "10.0.0.77")
        check(status == FINDINGS and "no address of this host" in found["findings"][0]["what"],
              f"{found}")


@lab_test("operations/oracle.md", soak=True)
def dnfs_goes_on_after_it_was_killed(bench):
    """SIGKILL of the client under load: the next run with its state reads all it had written."""
    state = os.path.join(bench.lab.directory, "dnfs.state")
    words = ("--state", state)
    with oracle_vnfs(bench):
        try:
            with running(bench, table(pairs(2)), seconds=60, words=words) as run:
                bench.let_run(6.0)
                run.process.kill()
            run = run_whole(bench, table(pairs(2)), seconds=3, words=words).check_clean()
            again = {one["name"]: one["ops"] for one in run.result["threads"]}
            for thread in OLTP:
                check(again[f"verify:{thread['file']}"] > 0, f"{again}")
            print(f"     {again}")
        finally:
            if os.path.exists(state):
                os.unlink(state)
