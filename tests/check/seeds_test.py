"""The ledger of seeds that have run: what counts, where the next block begins."""

import os
import subprocess
import tempfile
import types
import unittest

from loading import load

seeds = load("../sim/seeds")


def tree(name="abc"):
    return types.SimpleNamespace(names=dict.fromkeys(seeds.CHUNKS, name), first_seed=1000)


class OfALedger(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.ledger = seeds.Ledger(self.folder.name)

    def test_nothing_has_run(self):
        self.assertEqual(self.ledger.seeds(tree(), "mount"), (0, 0))

    def test_seeds_that_ran_twice_count_once(self):
        self.ledger.note(tree(), "mount", 1000, 1099, 0, 1.0)
        self.ledger.note(tree(), "mount", 1000, 1099, 0, 1.0)
        self.ledger.note(tree(), "mount", 1050, 1199, 2, 1.0)
        self.ledger.note(tree(), "data", 1000, 1009, 0, 1.0)
        self.ledger.note(tree("other"), "mount", 5000, 5009, 0, 1.0)
        self.assertEqual(self.ledger.seeds(tree(), "mount"), (200, 1200))
        self.assertEqual([row[2] for row in self.ledger.of(tree(), "mount")], [0, 0, 2])

    def test_a_gap_is_not_counted(self):
        self.ledger.note(tree(), "heads", 1000, 1009, 0, 1.0)
        self.ledger.note(tree(), "heads", 2000, 2009, 0, 1.0)
        self.assertEqual(self.ledger.seeds(tree(), "heads"), (20, 2010))


class OfATree(unittest.TestCase):
    """In a repository of its own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(setattr, seeds, "REPO", seeds.REPO)
        seeds.REPO = self.folder.name
        self.write("common/a.cc", "")
        self.write("tests/sim/moves/b.cc", "")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "t")
        self.before = seeds.Tree().names

    def git(self, *words):
        subprocess.run(["git", "-C", self.folder.name, *words], check=True)

    def write(self, path, text):
        path = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def changed(self):
        after = seeds.Tree().names
        return {simulation for simulation in seeds.CHUNKS
                if after[simulation] != self.before[simulation]}

    def test_documents_and_mutants_are_no_part_of_it(self):
        self.write("common/README.md", "text")
        self.write("tests/sim/mutants/m.patch", "text")
        self.write("tests/lab/case.py", "text")
        self.assertEqual(self.changed(), set())

    def test_what_moves_alone_is_made_of(self):
        self.write("tests/sim/moves/b.cc", "int b;")
        self.assertEqual(self.changed(), {"moves"})

    def test_what_all_are_made_of(self):
        self.write("tests/support/new.cc", "int c;")
        self.assertEqual(self.changed(), set(seeds.CHUNKS))


class OfTheListOfRegressions(unittest.TestCase):
    def test_each_line_names_a_simulation_and_a_seed(self):
        listed = seeds.regressions()
        self.assertTrue(listed)
        for what, simulation, seed in listed:
            self.assertIn(simulation, seeds.CHUNKS, what)
            self.assertGreater(seed, 0)


class OfAHunt(unittest.TestCase):
    def hunt(self, script):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.makedirs(os.path.join(folder.name, "tests/bin"))
        program = os.path.join(folder.name, "tests/bin/symnas_sim")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(program, 0o755)
        return seeds.Hunt(types.SimpleNamespace(build=folder.name, jobs=1))

    def test_failures_are_counted_from_the_report(self):
        hunt = self.hunt("echo 'mount: seeds 1 to 9: 3 failed; rest'; exit 1\n")
        self.assertEqual(hunt.run("mount", 1, 9), 3)

    def test_a_run_without_a_report_has_failed(self):
        self.assertEqual(self.hunt("exit 0\n").run("mount", 1, 9), 1)


if __name__ == "__main__":
    unittest.main()
