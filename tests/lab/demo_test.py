"""What the demo prints (deploy/lab/symlab/demo_report.py), and what it reads of a client's gaps."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "deploy", "lab"))

from symlab import demo_cluster, demo_report, product


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Printed(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.lines = []
        self.report = demo_report.Report(self.lines.append, self.clock)

    def test_a_fact_has_the_seconds_since_the_last_one(self):
        self.report.begin("cluster", "three heads")
        self.clock.now += 1.5
        self.report.fact("they run")
        self.clock.now += 20.25
        self.report.fact("they serve")
        self.assertEqual(self.lines, ["\ncluster: three heads", "     1.5 s  they run",
                                      "    20.2 s  they serve"])

    def test_a_phase_ends_with_the_next_one(self):
        self.report.begin("cluster", "three heads")
        self.clock.now += 2.0
        self.report.begin("data", "a tree")
        self.clock.now += 30.0
        self.report.total()
        self.assertEqual(self.lines[-1], "32 s in all: cluster 2, data 30")

    def test_the_summary_ends_with_where_to_go_on(self):
        self.report.proved("what", "seen", "limit [1]")
        self.report.summary()
        text = "\n".join(self.lines)
        self.assertLess(text.index("limit [1]"), text.index("[1] docs/"))
        self.assertLess(text.index("[1] docs/"), text.index("make lab N=3"))

    def test_every_document_that_is_named_exists(self):
        for place, _ in demo_report.NEXT:
            if place.startswith("docs/"):
                self.assertTrue(os.path.exists(os.path.join(product.REPO, place)), place)


class Table(unittest.TestCase):
    def test_cells_are_wrapped_to_their_columns(self):
        lines = demo_report.table([("word " * 20, "short", "other " * 9)])
        self.assertTrue(all(len(line) <= 118 for line in lines))
        self.assertEqual(sum("short" in line for line in lines), 1)
        self.assertEqual(sum(line.count("word") for line in lines), 20)

    def test_no_cell_is_lost(self):
        lines = demo_report.table([("one", "two", "three"), ("four", "five", "six")])
        self.assertEqual([line.split() for line in lines if not line.startswith("-")][1:],
                         [["one", "two", "three"], ["four", "five", "six"]])


class Gaps(unittest.TestCase):
    def test_the_longest_of_each_version(self):
        text = ("gap /mnt/v3/gaps-v3 1700000000.100 31.5\n"
                "gap /mnt/v41/gaps-v41 1700000001.100 140.0\n"
                "gap /mnt/v3/gaps-v3 1700000002.100 22.0\n")
        self.assertEqual(demo_cluster.longest_gaps(text), {"NFSv3": 31.5, "NFSv4.1": 140.0})

    def test_none_that_was_noted(self):
        found = demo_cluster.longest_gaps("")
        self.assertEqual(demo_report.gaps(found, 20), "NFSv3 under 0.02 s, NFSv4.1 under 0.02 s")

    def test_seconds(self):
        self.assertEqual(demo_report.gaps({"NFSv3": 144.0}, 20), "NFSv3 0.14 s")


class Commands(unittest.TestCase):
    def test_paths_lose_their_folders(self):
        self.assertEqual(demo_cluster.shown("LUN0=/var/lib/lab/lun0.img"), "LUN0=lun0.img")
        self.assertEqual(demo_cluster.shown("10.0.0.0/24"), "10.0.0.0/24")


if __name__ == "__main__":
    unittest.main()
