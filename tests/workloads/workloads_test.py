"""Workloads: plots, figures made of nodes' results, oranfstabs, verdicts and the page."""

import os
import sys
import types
import unittest
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "deploy", "lab")]

import nodes
import page
import profiles
import shaping
import svg
from outcome import Outcome
from symlab.errors import LabError

BARS = {"kind": "bars", "kept": None,
        "title": "Reads <by> links", "unit": "MiB/s", "groups": ["1", "2"],
        "series": [{"name": "ours", "values": [10.0, 19.5]}, {"name": "aim", "values": [10, None]}]}
LINES = {"kind": "lines", "title": "A crash", "unit": "op/s",
         "series": [{"name": "all", "points": [[0, 100], [1, 20], [2, 90]]}],
         "marks": [{"at": 1, "name": "crash"}]}


def thread(name, ops_by_second, **more):
    return {"name": name, "ops": sum(ops_by_second.values()), "bytes": 0, "errors": 0, "corrupt": 0,
            "latency_us": {"p50": 1, "p90": 2, "p99": 3, "p999": 4, "max": 5},
            "per_second": [{"t": at, "ops": ops, "bytes": ops << 13, "max_us": 9}
                           for at, ops in ops_by_second.items()], **more}


def results_of(*threads_of_nodes, paths=()):
    made = [types.SimpleNamespace(name=f"node{at}") for at in range(len(threads_of_nodes))]
    return nodes.Results(made, [{"threads": threads, "paths": list(paths)}
                                for threads in threads_of_nodes])


class Plots(unittest.TestCase):
    def shapes(self, plot, tag):
        root = ElementTree.fromstring(svg.draw(plot))
        return root.findall(f"{{http://www.w3.org/2000/svg}}{tag}")

    def test_a_bar_is_as_high_as_its_value(self):
        heights = {rect.find("*").text: float(rect.get("height"))
                   for rect in self.shapes(BARS, "rect") if rect.find("*") is not None}
        ratio = heights["ours, 2: 19.5 MiB/s"] / heights["ours, 1: 10 MiB/s"]
        self.assertAlmostEqual(ratio, 1.95, places=2)

    def test_a_missing_value_has_no_bar(self):
        told = [rect.find("*").text for rect in self.shapes(BARS, "rect")
                if rect.find("*") is not None]
        self.assertIn("aim, 1: 10 MiB/s", told)
        self.assertFalse([one for one in told if one.startswith("aim, 2")])

    def test_a_line_goes_through_its_points_and_the_mark_is_where_it_happened(self):
        drawn = [tuple(map(float, pair.split(",")))
                 for pair in self.shapes(LINES, "polyline")[0].get("points").split()]
        self.assertEqual(len(drawn), 3)
        self.assertGreater(drawn[1][1], drawn[0][1])  # down the page: a lower value
        mark = next(one for one in self.shapes(LINES, "line") if one.get("stroke") == "#d00")
        self.assertAlmostEqual(float(mark.get("x1")), drawn[1][0], places=1)

    def test_logarithmic_steps_are_equal(self):
        axis = svg.Axis(1, 1000, 0, 300, log=True)
        self.assertAlmostEqual(axis.place(10) - axis.place(1), axis.place(1000) - axis.place(100))

    def test_ticks_hold_all_values(self):
        for high in (0.03, 0.97, 1.0, 7, 99, 12345):
            axis = svg.Axis(0, high, 0, 1)
            self.assertGreaterEqual(axis.ticks[-1], high * 0.999)
            self.assertLessEqual(len(axis.ticks), 8)


class Figures(unittest.TestCase):
    def test_a_rate_counts_only_seconds_in_which_all_nodes_were_at_work(self):
        first = [thread("data0", {10: 5, 11: 100, 12: 100, 13: 100, 14: 7})]
        second = [thread("data0", {11: 1, 12: 50, 13: 50, 14: 50, 15: 2})]
        self.assertEqual(results_of(first, second).rate("ops"), 150)  # seconds 12 and 13

    def test_a_second_without_any_answer_counts(self):
        self.assertEqual(results_of([thread("a", {1: 9, 2: 60, 4: 60, 5: 9})]).rate("ops"), 40)

    def test_only_threads_of_that_name(self):
        results = results_of([thread("data0", {1: 1, 2: 10, 3: 1}), thread("redo", {2: 4})])
        self.assertEqual(results.seconds("ops", "redo"), {2: 4})
        self.assertEqual(results.total("ops", "data"), 12)

    def test_too_short_a_run_is_told(self):
        with self.assertRaisesRegex(LabError, "three seconds"):
            results_of([thread("a", {1: 9, 2: 9})]).rate("ops")

    def test_bytes_of_a_path_are_those_of_all_nodes(self):
        path = {"path": "10.0.0.101", "bytes": 7, "reissued": 1}
        results = results_of([], [], paths=[path])
        self.assertEqual(results.paths(), {"10.0.0.101": 14})
        self.assertEqual(results.path_total("reissued"), 2)

    def test_unevenness_is_the_farthest_from_the_mean(self):
        self.assertAlmostEqual(shaping.unevenness([90, 100, 110]), 0.1)

    def test_an_oranfstab_has_a_local_address_before_each_path(self):
        server = nodes.Server("nas", (("10.0.0.200", "10.0.0.101"), ("10.0.1.200", "10.0.1.101")),
                              ("u04", "redo"))
        self.assertEqual(server.lines(), [
            "server: nas", "local: 10.0.0.200", "path: 10.0.0.101", "local: 10.0.1.200",
            "path: 10.0.1.101", "export: /u04 mount: /u04", "export: /redo mount: /redo",
            "nfs_version: nfsv3", ""])

    def test_a_datafile_has_8_kib_blocks_and_its_share_of_reads(self):
        made = profiles.data("data0", "/u04/data0", 1 << 20, 60, writers=4, writer=2)
        self.assertEqual((made["block_bytes"], made["read_percent"], made["writer"]), (8192, 60, 2))


class Verdicts(unittest.TestCase):
    def test_an_aim_that_is_missed_fails(self):
        outcome = Outcome("links")
        outcome.row("4 links, share of linear", 0.9, "", aim=0.97)
        self.assertTrue(outcome.verdict().startswith("FAILED links: 4 links, share of linear"))

    def test_an_upper_limit_that_is_kept_is_met(self):
        outcome = Outcome("dss")
        outcome.row("unevenness", 3.0, "%", aim=5.0, at_most=True)
        outcome.figure("40 MiB/s")
        self.assertEqual(outcome.verdict(), "ok dss: 40 MiB/s")

    def test_a_wrong_block_fails_whatever_the_speed(self):
        outcome = Outcome("stress")
        outcome.clean(results_of([thread("a", {1: 1}, corrupt=1)]), "stress")
        self.assertIn("1 blocks are not what was written", outcome.verdict())

    def test_the_page_shows_figures_and_names_no_other_resource(self):
        outcome = Outcome("links")
        outcome.row("4 links", 0.9, "", aim=0.97, seed="85 %")
        outcome.plots = [BARS, LINES]
        result = outcome.document(summary="reads", began=0, took_s=3.0, load_before=1.0,
                                  load_after=2.0, machine={"kernel": "6"}, command="run links")
        shown = page.page([result], ["two cores"])
        for words in ("FAILED links", "85 %", "two cores", "Reads &lt;by&gt; links", "<svg"):
            self.assertIn(words, shown)
        for words in ("src=", "<script", "<link"):
            self.assertNotIn(words, shown)


if __name__ == "__main__":
    unittest.main()
