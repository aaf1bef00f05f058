"""Exports are edited while they and others are served."""

import contextlib
import threading

import labs
from lab_case import check, eventually, lab_test
from steps.cluster import heads_from
from steps.exit_status import CONFLICT, NOT_FOUND, UNREACHABLE, USAGE
from steps.load import MEASURED, nfs4_load
from steps.nlm import locks_of, peer
from symlab import product
from symlab.service import EXPORT, VIP, VNFS

SECOND = "second"
CLIENTS = "10.0.0.0/24"
ELSEWHERE = "192.0.2.0/24"
EDITS = 20
QUIET_S = 8.0
KINDS = ("read", "write")
# Beside the same load without edits: two cores that also run the commands.
GAP_ROOM_MS = 250.0
# Every denial is an answer: far below what a client waits before it asks again.
ANSWERED_S = 3.0
REFUSED = ("NFS3ERR_ACCES", "NFS3ERR_STALE", "no reply")  # no reply: the call is refused by RPC


def create(bench, name=SECOND, **options):
    words = []
    for option, value in {"path": "/", "clients": CLIENTS, "squash": "none", **options}.items():
        words += [f"--{option}", value]
    bench.symnas("export", "create", name, "--fs", EXPORT, *words)


def exported(bench, name=SECOND):
    for one in bench.symnas.json("export", "ls")["exports"]:
        if one["name"] == name:
            return one
    return None


@contextlib.contextmanager
def second_export(bench, **options):
    """Another export of the same filesystem, which the VNFS serves as well."""
    create(bench, **options)
    try:
        bench.symnas("export", "add", SECOND, "--vnfs", VNFS)
        yield f"nfs://{VIP}/{SECOND}"
    finally:
        if exported(bench):
            bench.symnas("export", "rm", SECOND, "--yes")


def longest(load):
    for kind in KINDS:
        check(load.seen[kind]["errors"] == 0, f"{kind} failed: {load.seen}")
    return max(load.seen[kind]["longest_gap_ms"] for kind in KINDS)


def denied(shell, *words):
    """The call is refused at once."""
    answer = shell(*words, within_s=ANSWERED_S)
    check(answer.startswith(REFUSED), f"`{' '.join(words)}` is answered {answer}")


def tell(bench, *words):
    bench.symnas("export", "set", SECOND, *words)


def edits():
    """What is asked of the other export, in turn."""
    return [("--access", "ro"), ("--access", "rw"), ("--squash", "root"), ("--squash", "none"),
            ("--clients", ELSEWHERE), ("--clients", f"{CLIENTS},{ELSEWHERE}"),
            ("--pseudo", "/db/elsewhere"), ("--pseudo", "/third"), ("--clients", CLIENTS),
            ("--pseudo", "")]


@lab_test("architecture/export_edits.md")
def exports_are_edited_under_load(bench):
    """Another export is added, edited 20 times and removed: no operation fails or waits longer."""
    before = bench.service.serving()
    with bench.load(*MEASURED, ",".join(KINDS)) as load:
        bench.let_run(QUIET_S)
    quiet_ms = longest(load)
    with bench.load(*MEASURED, ",".join(KINDS)) as load, \
            nfs4_load(bench, "--kinds", "read,write,lock", "--pause-us", "10000") as locked:
        with second_export(bench):
            for edit in (2 * edits())[:EDITS]:
                tell(bench, *edit)
        bench.let_run(1.0)
    edited_ms = longest(load)
    check(all(locked.seen[kind]["errors"] == 0 for kind in ("read", "write", "lock")),
          f"an open or locked file was lost: {locked.seen}")
    check(bench.service.serving()["pid"] == before["pid"], "the instance was restarted")
    print(f"     longest gap {quiet_ms:.0f} ms, with {EDITS} edits {edited_ms:.0f} ms")
    check(edited_ms <= quiet_ms + GAP_ROOM_MS, "the edits were noticed")


@lab_test("architecture/export_edits.md")
def rules_hold_when_the_command_returns(bench):
    """Access, squash and clients of an export hold from the next call on; also after a crash."""
    with second_export(bench) as url, bench.shell(url=url) as shell:
        shell.expect("NFS3_OK", "create", "ruled")
        shell.expect("NFS3_OK", "write", "ruled", 0, 4096, "a", "stable")
        tell(bench, "--access", "ro")
        shell.expect("NFS3ERR_ROFS", "write", "ruled", 0, 4096, "b", "stable")
        shell.expect("NFS3_OK", "read", "ruled", 0, 4096, "a")
        tell(bench, "--access", "rw", "--squash", "root")
        check(shell("create", "squashed").startswith("NFS3ERR_ACCES"), "root is not squashed")
        tell(bench, "--squash", "none")
        shell.expect("NFS3_OK", "write", "ruled", 0, 4096, "c", "stable")
        tell(bench, "--clients", ELSEWHERE)
        denied(shell, "getattr", "ruled")
        tell(bench, "--clients", CLIENTS)
        eventually(5.0, "the client is back", lambda: shell("reconnect").startswith("NFS3_OK"))
        shell.expect("NFS3_OK", "read", "ruled", 0, 4096, "c")
        tell(bench, "--pseudo", "/moved/there")
        shell.expect("NFS3_OK", "read", "ruled", 0, 4096, "c")  # it has it mounted
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        with bench.shell(url=f"nfs://{VIP}/moved/there") as there:
            there.expect("NFS3_OK", "read", "ruled", 0, 4096, "c")
            there.expect("NFS3_OK", "remove", "ruled")


@lab_test("architecture/export_edits.md")
def bad_edits_change_nothing(bench):
    """Impossible edits are refused with the reason; what the instance cannot serve is undone."""
    before = bench.service.serving()
    with second_export(bench), bench.load(*MEASURED, ",".join(KINDS)) as load:
        was = exported(bench), exported(bench, EXPORT)
        for code, words in ((USAGE, ("--clients", "no.such.host.invalid")),
                            (USAGE, ("--clients", "10.0.0.0/33")), (USAGE, ("--access", "some")),
                            (USAGE, ("--pseudo", "relative")), (USAGE, ()),
                            (CONFLICT, ("--pseudo", f"/{EXPORT}/below"))):
            bench.refused(code, "export", "set", SECOND, *words)
        bench.refused(NOT_FOUND, "export", "set", "none", "--access", "ro")
        create(bench, "nowhere", path="/no/such/directory")
        told = bench.refused(UNREACHABLE, "export", "add", "nowhere", "--vnfs", VNFS)
        check("/no/such/directory" in told and "taken back" in told, told)
        check(bench.symnas.json("vnfs", "ls")["vnfs"][0]["exports"] == [EXPORT, SECOND],
              "it is served all the same")
        bench.symnas("export", "rm", "nowhere")
        check((exported(bench), exported(bench, EXPORT)) == was, "something has changed")
        tell(bench, "--access", "ro")  # what was refused is in nobody's way
    longest(load)
    after = bench.service.serving()
    check(after["pid"] == before["pid"] and not after["error"], f"the instance: {after}")


@lab_test("architecture/export_edits.md")
def removal_of_an_export_names_its_clients(bench):
    """An export in use is removed with --yes only; its clients are told at once."""
    with second_export(bench) as url, bench.shell(url=url) as shell:
        shell.expect("NFS3_OK", "create", "used")
        eventually(10.0, "its client is known", lambda: "10.0.0." in bench.symnas(
            "export", "rm", SECOND, "--dry-run"))
        bench.refused(CONFLICT, "export", "rm", SECOND)
        told = bench.refused(CONFLICT, "export", "rm", SECOND, "--vnfs", VNFS)
        check("1 clients" in told and "--yes" in told, told)
        shell.expect("NFS3_OK", "getattr", "used")
        shell.expect("NFS3_OK", "remove", "used")
        bench.symnas("export", "rm", SECOND, "--yes")
        denied(shell, "create", "after")
    bench.refused(CONFLICT, "export", "rm", EXPORT, "--vnfs", VNFS, "--yes")  # the only one
    check(exported(bench) is None, "it is still there")


@lab_test("architecture/export_edits.md")
def two_administrators_edit_one_export(bench):
    """Two edits at once: the loser is told, and what is served is what the record says."""
    outcomes = []

    def set_access(word):
        try:
            bench.symnas("export", "set", SECOND, "--access", word)
            outcomes.append(0)
        except product.CommandFailed as failed:
            outcomes.append(failed.status)

    with second_export(bench) as url, bench.shell(url=url) as shell:
        shell.expect("NFS3_OK", "create", "both")
        for _ in range(5):
            threads = [threading.Thread(target=set_access, args=(word,)) for word in ("ro", "rw")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            writes = shell("write", "both", 0, 512, "x", "stable").startswith("NFS3_OK")
            check(writes == (exported(bench)["access"] == "rw"), "it is not what is served")
        tell(bench, "--access", "rw")
        shell.expect("NFS3_OK", "remove", "both")
    check(set(outcomes) <= {0, CONFLICT} and 0 in outcomes, f"they were told {outcomes}")
    print(f"     {outcomes.count(CONFLICT)} of {len(outcomes)} edits were refused")


@contextlib.contextmanager
def side_filesystem(bench, name="side"):
    """A filesystem of its own, exported under its name by the VNFS."""
    lun = bench.lab.add_lun(name, "256M")
    for words in (("lun", "import", f"SIDE={lun}"),
                  ("volume", "create", "vside", "--luns", "SIDE", "--stripe-unit", "64K"),
                  ("fs", "create", name, "--volume", "vside"),
                  ("export", "create", name, "--fs", name, "--clients", CLIENTS, "--squash",
                   "none"),
                  ("export", "add", name, "--vnfs", VNFS)):
        bench.symnas(*words)
    yield name
    before = bench.kill_instance()  # it has it mounted until it ends
    bench.service.wait_serving(other_than=before["pid"])
    for words in (("fs", "rm", name), ("volume", "rm", "vside"), ("lun", "release", "SIDE")):
        bench.symnas(*words)


@lab_test("INV-7", "architecture/locks.md")
def locks_of_removed_exports_are_cleared(bench):
    """A lock from before the instance's start, in a filesystem that it no longer exports."""
    with side_filesystem(bench) as side:
        check(peer(bench, "held", "lock", "--length", "100", export=side) == "granted", "no lock")
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        bench.symnas("export", "rm", side, "--yes")
        check(len(locks_of(bench, "--fs", side)) == 1, "its lock is not recorded any more")
        bench.symnas("lock", "clear", "--fs", side, "--yes")
        check(not locks_of(bench, "--fs", side), "it is still locked")


def order(bench, *words):
    """Its exit code."""
    try:
        bench.symnas(*words)
    except product.CommandFailed as failed:
        return failed.status
    return 0


def answer_of_next(shell, *words):
    """On the connection that there is, or a new one to whoever has the VIP by then."""
    def answer():
        said = shell(*words)
        if said.startswith("no reply"):
            shell("reconnect")
            return None
        return said
    return eventually(20.0, "an answer", answer)


@lab_test("architecture/export_edits.md", lab=labs.BACKUPS)
def edits_beside_moves_hold_at_once(bench):
    """What is edited while a VNFS moves is what its next head serves, from the first call."""
    service = bench.services[0]
    with bench.shell(service=service) as shell:
        shell.expect("NFS3_OK", "create", "moved")
        for turn, head in enumerate(heads_from(service)):
            move = threading.Thread(target=service.rehost, args=(head,))
            move.start()
            bench.let_run(0.05 * turn)
            eventually(20.0, "the edit is made", lambda: order(
                bench, "export", "set", EXPORT, "--access", "ro") == 0)
            said = answer_of_next(shell, "write", "moved", 0, 512, "x", "stable")
            check(said.startswith("NFS3ERR_ROFS"), f"the old rules are served: {said}")
            move.join()
            service.wait_serving()
            bench.symnas("export", "set", EXPORT, "--access", "rw")
            said = answer_of_next(shell, "write", "moved", 0, 512, "y", "stable")
            check(said.startswith("NFS3_OK"), f"the new rules are not served: {said}")
        shell.expect("NFS3_OK", "remove", "moved")
