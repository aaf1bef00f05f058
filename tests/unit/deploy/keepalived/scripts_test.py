"""The programs of deploy/keepalived; symnas is a script, keepalived is the test.

With keepalived itself: tests/machines/ha.
"""

import asyncio
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "..", "..", "..", "..", "deploy", "keepalived")
NOTIFY, TRACK = (os.path.join(SCRIPTS, f"keepalived-{name}") for name in ("notify", "track"))
# Says what the test has put into answers, the next line of it for each call: STATUS TEXT. The last
# one is for all later calls. HANG: until it is ended.
FAKE = """#!/bin/sh
read -r status text <"$FAKE/answers"
[ "$(wc -l <"$FAKE/answers")" -le 1 ] || sed -i 1d "$FAKE/answers"
[ "$status" != HANG ] || trap 'kill $!; echo ended >>"$FAKE/calls"; exit 1' TERM
echo "$*" >>"$FAKE/calls"
if [ "$status" = HANG ]; then
  sleep 60 >/dev/null 2>&1 &
  wait
fi
echo "$text"
exit "$status"
"""
TAKE = "ha take v1 --by keepalived --timeout 30"
FENCING = "4 symnas: vnfs v1: head c1n1 is being fenced"


def module_of(path):
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader = importlib.machinery.SourceFileLoader("keepalived_notify", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    sys.dont_write_bytecode = writes
    return module


notify = module_of(NOTIFY)


class FakeSymnas(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.place)
        self.symnas = os.path.join(self.place, "symnas")
        with open(self.symnas, "w", encoding="ascii") as file:
            file.write(FAKE)
        os.chmod(self.symnas, 0o755)
        self.environment = {**os.environ, "FAKE": self.place, "SYMNAS": self.symnas}
        self.answers("0 done")

    def answers(self, *lines):
        with open(os.path.join(self.place, "answers"), "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in lines)

    def calls(self):
        try:
            with open(os.path.join(self.place, "calls"), encoding="ascii") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []


class Track(FakeSymnas):
    def could_serve(self, answer):
        self.answers(answer)
        status = subprocess.run([TRACK, "v1"], env=self.environment, check=False,
                                capture_output=True).returncode
        self.assertEqual(self.calls()[-1], "ha standing v1")
        return {0: True, 1: False}[status]

    def test_a_head_that_serves_or_has_nothing_of_it_could(self):
        self.assertTrue(self.could_serve("0 serving"))
        self.assertTrue(self.could_serve("0 serving: a VIP is taken"))
        self.assertTrue(self.could_serve("0 stopped: c1n1 serves it"))

    def test_a_move_is_no_failure(self):
        self.assertTrue(self.could_serve("0 moving: it is on its way to c1n2"))

    def test_a_sick_one_could_not(self):
        self.assertFalse(self.could_serve("0 sick: its instance does not answer"))

    def test_without_vnfsd_it_could_not(self):
        self.assertFalse(self.could_serve("5 symnas: vnfsd: no answer"))

    def test_what_nobody_knows_is_no_yes(self):
        self.assertFalse(self.could_serve("0 servings"))


class Notify(FakeSymnas):
    """What Masters does with keepalived's lines."""

    def setUp(self):
        super().setUp()
        self.said = []

    def run_lines(self, steps):
        """steps(masters): an async function that is given the Masters."""
        async def body():
            masters = notify.Masters(["/usr/bin/env", f"FAKE={self.place}", self.symnas],
                                     self.place, self.said.append, first_pause_s=0.01, calm_s=0.05)
            await steps(masters)
            await masters.close()

        asyncio.run(asyncio.wait_for(body(), 20))

    async def until(self, condition):
        deadline = time.monotonic() + 10
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{self.calls()} {self.said}")
            await asyncio.sleep(0.01)

    def test_a_master_takes(self):
        async def steps(masters):
            masters.handle('INSTANCE "symnas_v1" MASTER 250\n')
            await self.until(lambda: not masters.taking)

        self.run_lines(steps)
        self.assertEqual(self.calls(), [TAKE])
        self.assertEqual(self.said, ["vnfs v1: MASTER", "vnfs v1: this head serves it"])

    def test_the_other_states_order_nothing(self):
        async def steps(masters):
            for state in ("BACKUP", "FAULT", "STOP", "DELETED", "MASTER_PRIORITY"):
                masters.handle(f'INSTANCE "symnas_v1" {state} 250\n')
            self.assertFalse(masters.taking)

        self.run_lines(steps)
        self.assertEqual(self.calls(), [])

    def test_what_is_not_symnas_is_left_alone(self):
        async def steps(masters):
            for line in ('INSTANCE "web" MASTER 100', 'GROUP "symnas_v1" MASTER 0', "", "x",
                         'INSTANCE "symnas_--head" MASTER 1', 'INSTANCE "symnas_a b" MASTER 1'):
                masters.handle(line + "\n")
            self.assertFalse(masters.taking)

        self.run_lines(steps)

    def test_it_goes_on_while_a_fence_is_under_way(self):
        self.answers(FENCING, FENCING, "5 symnas: etcd: no answer", "0 done")

        async def steps(masters):
            masters.handle('INSTANCE "symnas_v1" MASTER 250\n')
            await self.until(lambda: not masters.taking)

        self.run_lines(steps)
        self.assertEqual(self.calls(), [TAKE] * 4)
        self.assertEqual(self.said[1:], [
            "vnfs v1: not taken: symnas: vnfs v1: head c1n1 is being fenced",
            "vnfs v1: not taken: symnas: etcd: no answer", "vnfs v1: this head serves it"])

    def test_a_later_state_ends_the_retries(self):
        self.answers(FENCING)

        async def steps(masters):
            masters.handle('INSTANCE "symnas_v1" MASTER 250\n')
            await self.until(lambda: len(self.calls()) > 2)
            masters.handle('INSTANCE "symnas_v1" BACKUP 250\n')
            await asyncio.sleep(0.1)
            before = len(self.calls())
            await asyncio.sleep(0.2)
            self.assertEqual(len(self.calls()), before)

        self.run_lines(steps)

    def test_a_later_state_ends_a_take_that_waits(self):
        self.answers("HANG")

        async def steps(masters):
            masters.handle('INSTANCE "symnas_v1" MASTER 250\n')
            await self.until(lambda: self.calls() == [TAKE])
            masters.handle('INSTANCE "symnas_v1" FAULT 250\n')
            await self.until(lambda: self.calls() == [TAKE, "ended"])

        self.run_lines(steps)

    def test_vnfses_do_not_wait_for_each_other(self):
        self.answers("HANG", "0 done")

        async def steps(masters):
            masters.handle('INSTANCE "symnas_v1" MASTER 250\n')
            await self.until(lambda: self.calls() == [TAKE])
            masters.handle('INSTANCE "symnas_v2" MASTER 250\n')
            await self.until(lambda: list(masters.taking) == ["v1"])

        self.run_lines(steps)
        self.assertIn("vnfs v2: this head serves it", self.said)

    def test_the_master_that_is_left_takes_once_for_a_burst_of_adverts(self):
        async def steps(masters):
            for _ in range(5):
                masters.handle('INSTANCE "symnas_v1" MASTER_RX_LOWER_PRI 250\n')
            await self.until(lambda: not masters.taking)

        self.run_lines(steps)
        self.assertEqual(self.calls(), [TAKE])

    def test_what_happens_again_and_again_is_said_once(self):
        async def steps(masters):
            masters.handle('INSTANCE "symnas_v1" MASTER 250\n')
            await self.until(lambda: not masters.taking)
            for count in (2, 3):
                masters.handle('INSTANCE "symnas_v1" MASTER_RX_LOWER_PRI 250\n')
                await self.until(lambda: not masters.taking)
                self.assertEqual(self.calls(), [TAKE] * count)

        self.run_lines(steps)
        self.assertEqual(self.said, ["vnfs v1: MASTER", "vnfs v1: this head serves it"])

    def test_a_program_that_is_missing_is_said(self):
        os.unlink(self.symnas)

        async def steps(masters):
            masters.symnas = [self.symnas]
            masters.handle('INSTANCE "symnas_v1" MASTER 250\n')
            await self.until(lambda: len(self.said) > 1)

        self.run_lines(steps)
        self.assertIn("No such file", self.said[1])


class NotifyProgram(FakeSymnas):
    """The program at a FIFO, as keepalived runs it."""

    def start(self):
        self.fifo = os.path.join(self.place, "fifo")
        os.mkfifo(self.fifo)
        program = subprocess.Popen([NOTIFY, self.fifo], env=self.environment)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def until(self, condition):
        deadline = time.monotonic() + 10
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.calls())
            time.sleep(0.01)

    def test_it_ends_with_keepalived(self):
        program = self.start()
        with open(self.fifo, "w", encoding="ascii") as fifo:
            fifo.write('INSTANCE "symnas_v1" BACKUP 250\nINSTANCE "symnas_v1" MASTER 250\n')
            fifo.flush()
            self.until(lambda: self.calls() == [TAKE])
        self.assertEqual(program.wait(10), 0)

    def test_its_end_ends_what_it_runs(self):
        self.answers("HANG")
        program = self.start()
        with open(self.fifo, "w", encoding="ascii") as fifo:
            fifo.write('INSTANCE "symnas_v1" MASTER 250\n')
            fifo.flush()
            self.until(lambda: self.calls() == [TAKE])
            program.send_signal(signal.SIGTERM)
            self.assertEqual(program.wait(10), 0)
        self.assertEqual(self.calls(), [TAKE, "ended"])

    def test_the_next_one_goes_on_with_it(self):
        self.test_its_end_ends_what_it_runs()
        self.answers("0 done")
        os.unlink(self.fifo)
        self.start()
        with open(self.fifo, "w", encoding="ascii"):
            self.until(lambda: self.calls() == [TAKE, "ended", TAKE])
            self.until(lambda: "v1.taking" not in os.listdir(self.place))

    def test_the_next_one_leaves_it_to_another_master(self):
        self.test_its_end_ends_what_it_runs()
        os.unlink(self.fifo)
        program = self.start()
        with open(self.fifo, "w", encoding="ascii") as fifo:
            fifo.write('INSTANCE "symnas_v1" BACKUP 250\n')
        self.assertEqual(program.wait(10), 0)
        self.assertEqual(self.calls(), [TAKE, "ended"])
        self.assertNotIn("v1.taking", os.listdir(self.place))


if __name__ == "__main__":
    unittest.main()
