"""etcd away for longer than the gate's window: requests wait, unanswered."""

import contextlib
import signal
import subprocess
import sys
import threading
import time

from lab_case import check, eventually, lab_test
from steps.load import PATIENT_WRITERS
from steps.nlm import OTHER, PEER, called_back, expect, new_lives
from symlab.service import EXPORT, VIP, wait_for_line

# Far beyond the window. NFSv3 only: a v4.1 client's lease would run out meanwhile.
ETCD_STOP_S = 60.0
# Of an instance's gate: 8 s after the sending of its last proof, which is at most 1 s old; a proof
# may be under way when etcd stops.
CLOSES_AFTER_S = (6.5, 10.0)
GOES_ON_WITHIN_S = 1.0
# A read or write in place, by far, on a busy machine.
UNDISTURBED_S = 2.0
BLOCK = 8192
BLOCKS = 64
# So few that the change attribute of the file does not run out of numbers (data_path.md).
PAUSE_S = 0.002


class Asker(threading.Thread):
    """A client that makes one call after the other and notes when each was answered."""

    def __init__(self, shell, words):
        super().__init__(daemon=True)
        self.shell = shell
        self.words = words  # of the call for a block
        self.answers = []  # (sent, answered, answer)
        self.ends = threading.Event()

    def run(self):
        number = 0
        while not self.ends.is_set():
            sent = time.monotonic()
            answer = self.shell(*self.words(number % BLOCKS), within_s=3 * ETCD_STOP_S)
            self.answers.append((sent, time.monotonic(), answer))
            number += 1
            time.sleep(PAUSE_S)

    def finish(self):
        self.ends.set()
        self.join(3 * ETCD_STOP_S)
        check(not self.is_alive(), "a call was never answered")

    def check(self, stopped, continued):
        """Answered until the gate closes, then held, then answered again."""
        name = self.words(0)[0]
        for _, _, answer in self.answers:
            check(answer.startswith("NFS3_OK ") and "differs" not in answer, f"{name}: {answer}")
        held = [(sent, got) for sent, got, _ in self.answers if sent < continued <= got]
        check(len(held) == 1, f"{name}: no call was held until etcd came back")
        sent, got = held[0]
        late = [f"{at - stopped:.2f} s: {end - at:.2f} s" for at, end, _ in self.answers
                if at != sent and end - at > UNDISTURBED_S]
        check(not late, f"{name}: slow beside the held call: {late}")
        print(f"     {name}: held {sent - stopped:.2f} s after etcd stopped, answered "
              f"{(got - continued) * 1000:.0f} ms after it went on, {len(self.answers)} in all")
        low, high = CLOSES_AFTER_S
        check(low <= sent - stopped <= high, f"{name}: held {sent - stopped:.2f} s after etcd "
              f"stopped, should be {low} to {high} s")
        check(got - continued <= GOES_ON_WITHIN_S,
              f"{name}: answered {got - continued:.2f} s after etcd went on")
        check(any(at > got for at, _, _ in self.answers), f"{name}: nothing after the held call")


@lab_test("INV-8", "architecture/gate.md")
def etcd_frozen_beyond_the_gate_window(bench):
    """etcd frozen for 60 s: I/O goes on for 8 s, is held, goes on within 1 s; nothing is lost."""
    before = bench.service.serving()
    with bench.load(*PATIENT_WRITERS) as load, bench.shell() as shell, \
            bench.shell() as reading, bench.shell() as writing:
        for name, fill in (("away-r", "r"), ("away-w", "w")):
            shell.expect("NFS3_OK", "create", name)
            shell.expect("NFS3_OK", "write", name, 0, BLOCK * BLOCKS, fill, "stable")
        askers = [Asker(reading, lambda n: ("read", "away-r", n * BLOCK, BLOCK, "r")),
                  Asker(writing, lambda n: ("write", "away-w", n * BLOCK, BLOCK, "n", "stable"))]
        for asker in askers:
            asker.start()
        bench.let_run(2.0)
        bench.signal_process("etcd.c1n1", signal.SIGSTOP)
        try:
            stopped = time.monotonic()
            bench.let_run(ETCD_STOP_S)
        finally:
            continued = time.monotonic()
            bench.signal_process("etcd.c1n1", signal.SIGCONT)
        bench.let_run(3.0)
        for asker in askers:
            asker.finish()
        for asker in askers:
            asker.check(stopped, continued)
        load.finish()  # it knows what was acknowledged, and looks
        check(load.seen["reconnects"] == 0, f"a client lost its connection: {load.seen}")
        check(bench.service.wait_serving()["pid"] == before["pid"], "the instance was restarted")
        shell.expect("NFS3_OK", "read", "away-w", 0, BLOCK * BLOCKS, "n")
        for name in ("away-r", "away-w"):
            shell.expect("NFS3_OK", "remove", name)
    print(f"     {load.seen}")


# The gate is shut then, for long.
SHUT_S = CLOSES_AFTER_S[1] + 2.0
HEARD_S = 3.0


@contextlib.contextmanager
def told_later(bench, file, what, *options):
    """A call by nlm_peer that is sent when a line has been written to its standard input."""
    process = bench.lab.popen_in(
        "client", [sys.executable, PEER, VIP, "/" + EXPORT, file, what, "--when-told", *options],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_line(process, "ready")
        yield process
    finally:
        process.kill()
        process.communicate()


@lab_test("INV-8", "architecture/gate.md")
def closed_gate_holds_replies_of_other_threads(bench):
    """NLM's answers to _MSG calls and refusals of credentials wait like any reply (patch 0035)."""
    [life] = new_lives(1)
    file = "answered"
    expect("granted", bench, file, "lock", "--state", life, "--start", "7", "--length", "3")
    expect("refused", bench, file, "unknown")
    with called_back(bench) as heard:
        expect("done", bench, file, "test_msg", *OTHER)
        eventually(HEARD_S, "the answer is heard", lambda: heard == [(1, 7, 3)])
        with told_later(bench, file, "test_msg", *OTHER) as tested, \
                told_later(bench, file, "unknown") as unknown:
            bench.kill_process("vnfsd.c1n1")  # it would remove the VIPs
            bench.signal_process("etcd.c1n1", signal.SIGSTOP)
            try:
                bench.let_run(SHUT_S)
                for process in (tested, unknown):
                    process.stdin.write("\n")
                    process.stdin.flush()
                bench.let_run(HEARD_S)
                check(len(heard) == 1, f"the answers were {heard} while the gate was shut")
                check(unknown.poll() is None, "a credential was refused while the gate was shut")
            finally:
                bench.signal_process("etcd.c1n1", signal.SIGCONT)
                bench.lab.start_vnfsd("c1n1")
                bench.service.wait_serving()
            for process, word in ((tested, "done"), (unknown, "refused")):
                wait_for_line(process, word)
            eventually(HEARD_S, "the second answer is heard", lambda: heard[1:] == [(1, 7, 3)])
    expect("done", bench, file, "free_all")
