"""The lab's cases as a set: what each must say of itself, and how `run` chooses among them."""

import argparse
import ast
import glob
import os
import re
import sys
import unittest
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.join(HERE, "..", "..")
sys.path[:0] = [HERE, os.path.join(REPO, "deploy", "lab"), os.path.join(HERE, "..", "client")]

import choosing
import labs
from lab_case import all_tests

INVARIANT = re.compile(r"^INV-[1-8]$")


def case(place, name, kind=labs.ONE_HEAD, soak=False, ends_lab=False):
    return SimpleNamespace(place=place, subject=place.split("/", maxsplit=1)[0], name=name,
                           kind=kind, soak=soak, ends_lab=ends_lab)


HELD = case("locks/held", "sigterm_releases_no_lock")
WAITS = case("locks/waiting", "waiters_take_turns", labs.ONE_FILESYSTEM)
MOVED = case("moves/rehost", "rehost_under_load", labs.BACKUPS)
KEPT = case("moves/rehost", "kernel_clients_keep_locks", labs.BACKUPS)
LONG = case("durability/power_loss", "random_operations_for_long", soak=True)
DOWN = case("lab/teardown", "lab_down_leaves_nothing", ends_lab=True)
ALL = [HELD, WAITS, MOVED, KEPT, LONG, DOWN]


class Choosing(unittest.TestCase):
    def test_without_words_the_number_of_heads_decides(self):
        self.assertEqual(choosing.chosen(ALL, []), [HELD, DOWN])
        self.assertEqual(choosing.chosen(ALL, [], "several"), [WAITS, MOVED, KEPT])
        self.assertEqual(choosing.chosen(ALL, [], soak=True), [LONG])

    def test_a_subject_is_taken_whole_and_is_no_part_of_a_name(self):
        self.assertEqual(choosing.chosen(ALL, ["locks"]), [HELD, WAITS])
        self.assertEqual(choosing.chosen(ALL, ["locks", "moves"]), [HELD, WAITS, MOVED, KEPT])
        self.assertEqual(choosing.chosen(ALL, ["locks"], "one"), [HELD])
        self.assertEqual(choosing.chosen(ALL, ["locks/waiting"]), [WAITS])

    def test_other_words_are_parts_of_names(self):
        self.assertEqual(choosing.chosen(ALL, ["sigterm", "rehost"]), [HELD, MOVED])
        self.assertEqual(choosing.unmatched(ALL, ["locks", "turns", "for_long", "lcoks"]),
                         ["lcoks"])

    def test_each_lab_is_made_once_and_ended_last(self):
        for seed in (None, 1, 2, 3):
            ordered = choosing.in_order(ALL, seed)
            kinds = [test.kind for test in ordered]
            self.assertEqual(kinds, sorted(kinds, key=labs.ORDER.index))
            self.assertLess(ordered.index(HELD), ordered.index(DOWN))
        self.assertEqual(choosing.in_order(ALL), [HELD, LONG, DOWN, WAITS, MOVED, KEPT])

    def test_lanes(self):
        self.assertEqual(choosing.lane_of("2/3"), (2, 3))
        for wrong in ("", "1", "0/2", "3/2", "1/2/3", "-1/2", "a/b"):
            with self.assertRaises(argparse.ArgumentTypeError, msg=wrong):
                choosing.lane_of(wrong)

    def test_a_seed_shuffles_reproducibly(self):
        many = [case("locks/held", f"c{i}") for i in range(20)]
        self.assertNotEqual(choosing.in_order(many, 1), many)
        self.assertEqual(choosing.in_order(many, 1), choosing.in_order(many, 1))


class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        choosing.load_cases(HERE)
        cls.cases = all_tests()

    def test_each_name_is_there_once(self):
        names = [test.name for test in self.cases]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 190)
        self.assertFalse(set(names) & set(choosing.subjects(HERE)))

    def test_each_says_what_it_shows(self):
        for test in self.cases:
            self.assertTrue(test.summary, test.name)
            self.assertTrue(test.shows, test.name)
            for shown in test.shows:
                there = any(os.path.isfile(os.path.join(REPO, folder, shown))
                            for folder in ("docs", ""))
                self.assertTrue(INVARIANT.match(shown) or there, f"{test.name} shows {shown}")

    def test_each_invariant_is_shown(self):
        shown = {what for test in self.cases for what in test.shows}
        for number in (1, 2, 4, 5, 6, 7, 8):  # INV-3: its compares are seen by unit tests only
            self.assertIn(f"INV-{number}", shown)

    def test_no_case_uses_another_ones_file(self):
        for path in glob.glob(os.path.join(HERE, choosing.FOLDER, "**", "*.py"), recursive=True) + \
                glob.glob(os.path.join(HERE, "steps", "*.py")):
            with open(path, encoding="utf-8") as file:
                tree = ast.parse(file.read())
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    self.assertEqual(node.level, 0, path)
                    self.assertFalse((node.module or "").startswith(choosing.FOLDER), path)

    def test_the_readme_has_a_row_for_each_subject(self):
        with open(os.path.join(HERE, choosing.FOLDER, "README.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| (`[^|]*`) \|", file.read(), re.MULTILINE)
        named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        self.assertEqual(sorted(named), choosing.subjects(HERE))


if __name__ == "__main__":
    unittest.main()
