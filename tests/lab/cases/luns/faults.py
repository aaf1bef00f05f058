"""A LUN that answers EIO, hangs, vanishes or refuses the head, under a running instance."""

import socket

import labs
from lab_case import check, eventually, lab_test
from steps.striped_files import FILE_BYTES, STRIPE, prepared_file
from symlab import netns
from symlab.errors import LabError
from symlab.service import VIP
from symlab.wait import SLOWER

HANG_S = 20.0
# Calls that need nothing of the LUN that hangs.
UNDISTURBED_S = 2.0 * SLOWER
RESTART_S = 30.0


def stripes(shell, name, fill="a"):
    """The answer to a READ of each stripe."""
    answers = [shell("read", name, at, STRIPE, fill) for at in range(0, FILE_BYTES, STRIPE)]
    return [answer.split()[0] for answer in answers]


def same_instance(bench, before):
    check(bench.service.serving()["pid"] == before["pid"], "the instance was restarted")


@lab_test("architecture/cvm.md", lab=labs.FAULTY_LUNS)
def lun_answers_eio(bench):
    """I/O of a broken LUN fails with NFS3ERR_IO, other I/O goes on; then the LUN is repaired."""
    before = bench.service.serving()
    with bench.shell() as shell, bench.broken_luns() as fault:
        prepared_file(shell, "eio")
        fault("eio", "LUN1", "read", "on")
        seen = sorted(stripes(shell, "eio"))
        check(seen == ["NFS3ERR_IO"] + ["NFS3_OK"] * 3, f"READ of the four stripes: {seen}")
        fault("heal", "LUN1")
        shell.expect("NFS3_OK", "read", "eio", 0, FILE_BYTES, "a")

        fault("eio", "LUN1", "write", "on")
        for how in ("stable", "unstable"):
            seen = sorted(shell("write", "eio", at, STRIPE, "b", how).split()[0]
                          for at in range(0, FILE_BYTES, STRIPE))
            check(seen == ["NFS3ERR_IO"] + ["NFS3_OK"] * 3, f"WRITE {how}: {seen}")
        shell.expect("NFS3_OK", "commit", "eio")
        shell.expect("NFS3_OK", "create", "eio-other")
        shell.expect("NFS3_OK", "getattr", "eio")
        shell.expect("NFS3_OK", "remove", "eio-other")
        # Growth whose data cannot be written is never visible.
        shell.expect("NFS3_OK", "create", "eio-new")
        shell("write", "eio-new", 0, FILE_BYTES, "c", "stable")
        fault("heal", "LUN1")
        shell.expect("NFS3_OK", "write", "eio", 0, FILE_BYTES, "b", "stable")
        shell.expect("NFS3_OK", "read", "eio", 0, FILE_BYTES, "b")
        shell.expect("NFS3_OK", "write", "eio-new", 0, FILE_BYTES, "c", "stable")
        shell.expect("NFS3_OK", "read", "eio-new", 0, FILE_BYTES, "c")
        same_instance(bench, before)
        for name in ("eio", "eio-new"):
            shell.expect("NFS3_OK", "remove", name)


@lab_test("INV-5", "architecture/data_path.md", lab=labs.FAULTY_LUNS)
def failed_flush_ends_the_instance(bench):
    """A failed flush may lose acknowledged UNSTABLE data: the write verifier changes."""
    before = bench.service.serving()
    with bench.shell() as shell, bench.broken_luns() as fault:
        prepared_file(shell, "flush")
        old = shell.expect("NFS3_OK", "write", "flush", 0, STRIPE, "b", "unstable").split()[1]
        fault("eio", "all", "flush", "on")
        check(shell("commit", "flush").startswith("no reply"), "a failed flush was answered")
        fault("heal", "all")
        bench.service.wait_serving(other_than=before["pid"])
        shell.expect("NFS3_OK", "reconnect")
        new = shell.expect("NFS3_OK", "write", "flush", 0, STRIPE, "b", "unstable").split()[1]
        check(new != old, f"the write verifier is the same as before: {new}")
        shell.expect("NFS3_OK", "commit", "flush")
        shell.expect("NFS3_OK", "read", "flush", 0, STRIPE, "b")
        shell.expect("NFS3_OK", "read", "flush", STRIPE, FILE_BYTES - STRIPE, "a")
        shell.expect("NFS3_OK", "remove", "flush")


@lab_test("architecture/cvm.md", lab=labs.FAULTY_LUNS)
def lun_hangs(bench):
    """A LUN hangs for 20 s: I/O of other LUNs goes on, its own is answered afterwards."""
    before = bench.service.serving()
    with bench.shell() as shell, bench.shell() as reader, bench.shell() as writer, \
            bench.broken_luns() as fault:
        prepared_file(shell, "hang")
        fault("hang", "LUN2")
        reader.send("read", "hang", 0, FILE_BYTES, "a")
        writer.send("write", "hang", 0, FILE_BYTES, "a", "stable")
        # The first stripe lies on any LUN: find those that answer.
        with bench.shell() as probe:
            going = []
            for at in range(0, FILE_BYTES, STRIPE):
                probe.send("read", "hang", at, STRIPE, "a")
                if not probe.answered(UNDISTURBED_S):
                    break
                going.append(probe.answer().split()[0])
            check(all(status == "NFS3_OK" for status in going), f"READ beside it: {going}")
        for words in (("create", "hang-other"), ("getattr", "hang"), ("remove", "hang-other")):
            shell.expect("NFS3_OK", *words, within_s=UNDISTURBED_S)
        bench.let_run(HANG_S)
        check(not reader.answered() and not writer.answered(), "answered by a LUN that hangs")
        shell.expect("NFS3_OK", "create", "hang-late", within_s=UNDISTURBED_S)
        fault("resume", "LUN2")
        for waiting in (reader, writer):
            answer = waiting.answer(RESTART_S)
            check(answer.startswith("NFS3_OK ") and "differs" not in answer, f"after: {answer}")
        same_instance(bench, before)
        for name in ("hang", "hang-late"):
            shell.expect("NFS3_OK", "remove", name)


@lab_test("architecture/cvm.md", lab=labs.FAULTY_LUNS)
def lun_vanishes_and_comes_back(bench):
    """I/O of a missing LUN fails and no instance starts; when it is back all data is there."""
    before = bench.service.serving()
    with bench.shell() as shell, bench.broken_luns() as fault:
        prepared_file(shell, "gone")
        fault("vanish", "LUN3")
        seen = sorted(stripes(shell, "gone"))
        check(seen == ["NFS3ERR_IO"] + ["NFS3_OK"] * 3, f"READ of the four stripes: {seen}")
        shell.expect("NFS3_OK", "getattr", "gone")
        same_instance(bench, before)

        bench.kill_instance()
        eventually(RESTART_S, "the message names the LUN", lambda: names_lun3(bench))
        fault("appear", "LUN3")
        bench.service.wait_serving(other_than=before["pid"])
        shell.expect("NFS3_OK", "reconnect")
        shell.expect("NFS3_OK", "read", "gone", 0, FILE_BYTES, "a")
        shell.expect("NFS3_OK", "write", "gone", 0, FILE_BYTES, "b", "stable")
        shell.expect("NFS3_OK", "remove", "gone")


def answers_at(bench, vip):
    """Whether a client's SYN is answered."""
    with netns.entered(bench.lab.client_netns):
        try:
            socket.create_connection((vip, 2049), timeout=1.0).close()
            return True
        except OSError:
            return False


def names_lun3(bench):
    """Nothing serves, and the status says why."""
    vnfs = bench.service.vnfs()
    told = vnfs.get("instance", {}).get("error", "")
    if "LUN3" not in told:
        raise LabError(f"{vnfs['state']}: {told}")
    return vnfs["state"] != "serving"


@lab_test("INV-1", "architecture/fencing.md", lab=labs.FAULTY_LUNS)
def reservation_conflict_ends_the_instance(bench):
    """A head whose LUNs refuse it (EBADE, as a reservation does) answers nothing; its VIP goes."""
    before = bench.service.serving()
    with bench.shell() as shell, bench.broken_luns() as fault:
        prepared_file(shell, "fenced")
        fault("fence", "all", "c1n1")
        shell.send("read", "fenced", 0, FILE_BYTES, "a")
        eventually(RESTART_S, "its VIP is away", lambda: not answers_at(bench, VIP))
        check(not shell.answered(), "it ended before its VIP went, or has answered")
        fault("unfence", "all", "c1n1")
        bench.service.wait_serving(other_than=before["pid"])
        answer = shell.answer()  # its connection was reset by the next one
        check(answer.startswith("no reply"), f"a fenced head answered: {answer}")
        shell.expect("NFS3_OK", "reconnect")
        shell.expect("NFS3_OK", "read", "fenced", 0, FILE_BYTES, "a")
        shell.expect("NFS3_OK", "remove", "fenced")


@lab_test("INV-1", "architecture/cvm.md", lab=labs.FAULTY_LUNS)
def next_instance_waits_for_io_of_a_killed_one(bench):
    """The VNFS waits until writes of its killed instance have left the queue of a LUN."""
    before = bench.service.serving()
    with bench.shell() as shell, bench.broken_luns() as fault:
        prepared_file(shell, "queued")
        fault("hang", "all")
        shell.send("write", "queued", 0, FILE_BYTES, "q", "stable")
        eventually(RESTART_S, "writes wait in the LUNs",
                   lambda: sum(lun["queued"] for lun in bench.lun_stats()) > 0)
        bench.kill_recorded(before)
        bench.let_run(5.0)
        queued = sum(lun["queued"] for lun in bench.lun_stats())
        check(queued > 0, "the queue did not outlive the instance")
        vnfs = bench.service.vnfs()
        check(vnfs["state"] != "serving" or vnfs["instance"]["pid"] == before["pid"],
              f"another instance serves with {queued} old requests in flight")
        check(not answers_at(bench, VIP),
              "what is dying still has its VIP, which another head may serve by now")
        fault("resume", "all")
        # Only now: a thread that was inside the system call could not end before.
        check(shell.answer().startswith("no reply"), "a killed instance has answered")
        bench.service.wait_serving(other_than=before["pid"])
        shell.expect("NFS3_OK", "reconnect")
        shell.expect("NFS3_OK", "write", "queued", 0, FILE_BYTES, "n", "stable")
        shell.expect("NFS3_OK", "read", "queued", 0, FILE_BYTES, "n")
        shell.expect("NFS3_OK", "remove", "queued")
