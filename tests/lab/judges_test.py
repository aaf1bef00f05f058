"""The judges of torture and bench-failover: what they have to find, and what they excuse."""

import importlib.machinery
import importlib.util
import os
import sys
import unittest
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "bench")
sys.path[:0] = [HERE, BENCH, os.path.join(HERE, "..", "client"),
                os.path.join(HERE, "..", "..", "deploy", "lab")]

import disk_probe
import nfs4_owners
import torture_clients
from arbiter import Arbiter, Held
from failover_clients import longest
from nfs4_owners import Opened


def program(path):
    """A program without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path) + "_program", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


TORTURE = program(os.path.join(HERE, "torture"))
FAILOVER = program(os.path.join(BENCH, "failover"))


class Arbitration(unittest.TestCase):
    def setUp(self):
        self.arbiter = Arbiter()

    def test_two_inside_one_range_are_a_stolen_lock(self):
        self.arbiter.enter("a", "f", 0, 4, True)
        self.arbiter.enter("b", "f", 3, 4, False)
        line, fine, wrong = self.arbiter.verdict()
        self.assertFalse(fine)
        self.assertEqual(line, "locks lost 0, locks stolen 1")
        self.assertIn("which a holds 0 to 4", wrong[0])

    def test_others_files_ranges_and_readers_are_not(self):
        self.arbiter.enter("a", "f", 0, 2, True)
        self.arbiter.enter("b", "f", 2, 4, True)
        self.arbiter.enter("c", "g", 0, 4, False)
        self.arbiter.enter("d", "g", 0, 4, False)
        self.arbiter.leave("a")
        self.arbiter.enter("e", "f", 0, 2, True)
        self.assertEqual(self.arbiter.verdict()[:2], ("locks lost 0, locks stolen 0", True))
        self.assertEqual(self.arbiter.held(), 4)

    def test_an_owner_holds_many_ranges_and_gives_back_parts(self):
        self.arbiter.enter("a", "f", 0, 4, True)
        self.arbiter.enter("a", "f", 8, 12, True)
        self.arbiter.leave("a", "f", 1, 3)
        self.arbiter.enter("b", "f", 1, 3, True)
        self.assertTrue(self.arbiter.verdict()[1])
        self.assertEqual(self.arbiter.held(), 4)
        for first in (0, 3, 11):
            self.arbiter.enter("c", "f", first, first + 1, False)
        self.assertEqual(self.arbiter.verdict()[0], "locks lost 0, locks stolen 3")
        self.assertEqual(self.arbiter.seen(), {
            "ranges": 6, "owners": 3, "beside others": 3, "given back in parts": 1})

    def test_a_lock_over_what_its_owner_holds_takes_its_place(self):
        self.arbiter.enter("a", "f", 0, 4, True)
        self.arbiter.enter("a", "f", 1, 2, False)
        self.arbiter.enter("b", "f", 1, 2, False)
        self.assertTrue(self.arbiter.verdict()[1])
        self.arbiter.enter("b", "f", 3, 4, False)
        self.arbiter.enter("a", "f", 1, 2, True)
        self.assertEqual(self.arbiter.verdict()[0], "locks lost 0, locks stolen 2")
        self.arbiter.leave("a")
        self.arbiter.enter("c", "f", 0, 1, True)
        self.assertEqual(self.arbiter.verdict()[0], "locks lost 0, locks stolen 2")

    def test_an_open_that_does_what_another_denies_is_stolen(self):
        self.arbiter.open("a", "f", 1, 2)
        self.arbiter.open("b", "f", 1, 0)
        self.arbiter.open("c", "g", 2, 0)
        self.assertTrue(self.arbiter.verdict()[1])
        self.arbiter.open("d", "f", 2, 0)  # a denies it
        self.arbiter.closed("d")
        self.arbiter.open("e", "f", 1, 1)  # denies what a and b do
        self.assertEqual(self.arbiter.verdict()[0], "locks lost 0, locks stolen 3")
        self.arbiter.closed("a")
        self.assertEqual(self.arbiter.denying(), 1)
        self.assertEqual(self.arbiter.seen()["opens that deny"], 2)
        self.assertEqual(self.arbiter.granted_to("b"), 1)

    def test_complaints_and_old_content_count(self):
        self.assertEqual(self.arbiter.enter("a", "f", 0, 1, True), 0)
        self.arbiter.leave("a")
        self.assertEqual(self.arbiter.enter("b", "f", 0, 1, False), 1)
        self.arbiter.complain("lost", "b", "EIO")
        self.arbiter.complain("corrupt", "b", "slot 0 says 0 instead of 1")
        line, fine, wrong = self.arbiter.verdict()
        self.assertFalse(fine)
        self.assertEqual(line, "locks lost 1, locks stolen 0")
        self.assertEqual(len(wrong), 2)

    def test_a_lock_that_only_its_kernel_has_given_up_is_not_lost(self):
        asked = []
        self.arbiter = Arbiter(lambda client, held: asked.append((client, held[0].file)) or True)
        self.arbiter.enter("a", "f", 0, 1, True)
        self.assertTrue(self.arbiter.gone("a", "write: EIO"))
        self.assertEqual(asked, [("a", "f")])
        self.arbiter.leave("a")
        self.assertIsNone(self.arbiter.enter("b", "f", 0, 1, True))
        self.arbiter.says("f", 0, 7)
        self.arbiter.leave("b")
        self.assertEqual(self.arbiter.enter("c", "f", 0, 1, True), 7)
        self.assertTrue(self.arbiter.verdict()[1])

    def test_a_lock_that_is_gone_is_lost(self):
        self.arbiter.enter("a", "f", 0, 1, True)
        self.assertFalse(self.arbiter.gone("a", "write: EIO"))
        self.assertEqual(self.arbiter.verdict()[0], "locks lost 1, locks stolen 0")

    def test_only_what_the_records_have_is_kept(self):
        held = [Held("turns0", 2, 3, True, "")]
        record = {"client": "Linux NFSv4.0 vm2/10.0.0.104",
                  "ranges": [{"type": "write", "start": 8192, "length": 4096}]}

        def kept(client, record, held=held):
            symnas = SimpleNamespace(json=lambda *_: {"locks": [record]})
            bench = SimpleNamespace(lab=SimpleNamespace(running_symnas=lambda: symnas))
            return torture_clients.is_recorded(bench, client, "folder", held)

        self.assertTrue(kept("vm2.turns.vers=4.0.1", record))
        self.assertTrue(kept("vm2.locks.vers=4.0.1", record))
        self.assertFalse(kept("vm1.turns.vers=4.0.1", record))
        self.assertFalse(kept("vm2.turns.vers=4.1.1", record))
        self.assertFalse(kept("vm2.files.vers=4.0.1", record))
        shared = {**record, "ranges": [{"type": "read", "start": 0}]}
        self.assertFalse(kept("vm2.turns.vers=4.0.1", shared))
        self.assertTrue(kept("vm2.locks.vers=4.0.1", shared, [Held("locks0", 2, 3, False, "")]))

    def test_who_was_granted_nothing_is_seen(self):
        self.arbiter.enter("vm1.vers=4.1.0", "f", 0, 1, True)
        self.assertEqual(self.arbiter.granted_to("vm1.vers=4.1"), 1)
        self.assertEqual(self.arbiter.granted_to("vm2.vers=4.1"), 0)


class CloseBesideOpen(unittest.TestCase):
    """Which answers to an OPEN, the CLOSE of what was open before, and a LOCK can all be true."""

    BEFORE = b"\0\0\0\1" + b"a" * 12
    AGAIN = b"\0\0\0\2" + b"a" * 12
    ANEW = b"\0\0\0\1" + b"b" * 12

    def judged(self, stateid, **answers):
        opened = Opened("file", "f", 3, 0)
        opened.stateid = stateid
        opened.held = {"a": {1}}
        opened.locks = {"a": b"l", "c": b"m"}
        names = {"opens": nfs4_owners.OPEN, "closes": nfs4_owners.CLOSE, "locks": nfs4_owners.LOCK}
        outcome = nfs4_owners.Owners.judge(
            opened, self.BEFORE, {names[name]: status for name, status in answers.items()}, "c",
            range(4, 6))
        return outcome, opened.held

    def test_what_was_open_stays_or_goes(self):
        self.assertEqual(self.judged(self.AGAIN, opens=0, closes=10024, locks=0),
                         ((True, True), {"a": {1}, "c": {4, 5}}))
        self.assertEqual(self.judged(self.ANEW, opens=0, closes=0, locks=10010),
                         ((False, False), {}))

    def test_what_was_opened_is_not_closed(self):
        for stateid, closes, locks in ((self.AGAIN, 0, 0), (self.ANEW, 10024, 0),
                                       (self.AGAIN, 10024, 10025)):
            with self.assertRaises(nfs4_owners.Lost):
                self.judged(stateid, opens=0, closes=closes, locks=locks)

    def test_who_is_told_to_try_again_knows_nothing(self):
        with self.assertRaises(nfs4_owners.Uncertain):
            self.judged(self.BEFORE, opens=10008, closes=0)

    def test_slots_are_claimed_by_runs(self):
        self.assertEqual(nfs4_owners.runs({3, 1, 2, 7}), [(1, 4), (7, 8)])
        self.assertEqual(nfs4_owners.runs(()), [])


class Excuses(unittest.TestCase):
    def setUp(self):
        self.work = TORTURE.Torture(bench=_Bench(), chance=None)
        self.work.spans = [("vnfs1", 100.0, 110.0)]

    def test_only_the_vnfs_with_the_fault_is_excused_and_only_then(self):
        def seen(at_s, ms):
            return {"read": {"gaps": [{"at_s": at_s, "ms": ms}]}, "write": {"gaps": []}}
        self.assertEqual(self.work.delayed_of_others({"vnfs1": seen(105.0, 9000.0)}, []), [])
        self.assertEqual(self.work.delayed_of_others({"vnfs2": seen(105.0, 499.0)}, []), [])
        self.assertEqual(len(self.work.delayed_of_others({"vnfs2": seen(105.0, 500.0)}, [])), 1)
        self.assertEqual(len(self.work.delayed_of_others({"vnfs1": seen(99.0, 800.0)}, [])), 1)
        self.assertEqual(len(self.work.delayed_of_others({"vnfs1": seen(112.0, 800.0)}, [])), 1)
        self.assertEqual(self.work.longest_own_ms, 800.0)

    def test_what_the_disk_took_meanwhile_stands_beside_it(self):
        slow = {"read": {"gaps": [{"at_s": 105.0, "ms": 800.0}]}, "write": {"gaps": []}}
        disk = [{"at_s": 104.1, "ms": 900.0}, {"at_s": 104.9, "ms": 300.0},
                {"at_s": 107.0, "ms": 1900.0}]
        self.assertEqual(disk_probe.during(disk, 105.0, 800.0), 300.0)
        self.assertEqual(disk_probe.during(disk, 105.2, 1200.0), 1900.0)
        self.assertEqual(disk_probe.during(disk, 110.0, 800.0), 0.0)
        [line] = self.work.delayed_of_others({"vnfs2": slow}, disk)
        self.assertIn("the disk itself took 300 ms", line)


class _Bench:
    lab = None


class Figures(unittest.TestCase):
    def test_the_longest_gap_that_overlaps_the_run(self):
        gaps = [(10.0, 300.0), (12.0, 50.0), (20.0, 900.0)]
        self.assertEqual(longest(gaps, 9.9, 15.0), 300.0)
        self.assertEqual(longest(gaps, 11.0, 15.0), 50.0)
        self.assertEqual(longest(gaps, 13.0, 15.0), 10.0)
        self.assertEqual(longest(gaps, 13.0, 19.2), 900.0)

    def test_the_steps_of_the_longest_move_are_kept(self):
        def recorded(ms):
            return {"blackout_ms": ms, "began_ns": 5_000_000,
                    "steps": [{"name": "claimed", "at_ns": 5_000_000 + ms * 1_000_000}]}
        work = SimpleNamespace(windows={("none", "rehost"): [
            (0, 1, recorded(80)), (1, 2, None), (2, 3, recorded(120))]})
        [row] = FAILOVER.recorded_rows(work)
        self.assertEqual((row["runs"], row["longest_ms"]), (2, 120))
        self.assertEqual(row["longest_steps_ms"], {"claimed": 120})

    def test_percentiles_are_values_that_were_seen(self):
        values = list(range(1, 31))
        self.assertEqual(FAILOVER.percentile(values, 0.5), 16)
        self.assertEqual(FAILOVER.percentile(values, 0.99), 30)
        self.assertEqual(FAILOVER.percentile([7], 0.99), 7)

    def test_native_clients_are_judged_by_the_budget(self):
        row = {"client": "v3", "action": "rehost", "p50_ms": 101.0, "p99_ms": 400.0}
        self.assertEqual(FAILOVER.verdict(row), "p50 100 MISSED, p99 500 met")
        self.assertEqual(FAILOVER.verdict({**row, "client": "v3, Linux in a VM"}), "")
        self.assertEqual(FAILOVER.verdict({**row, "action": "nothing"}), "")


if __name__ == "__main__":
    unittest.main()
