#!/usr/bin/env python3
"""What results.py makes of verdicts and expectations."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from results import Expected, Results


def expected_of(text):
    with tempfile.NamedTemporaryFile("w", suffix=".expected") as file:
        file.write(text)
        file.flush()
        return Expected(file.name)


def outcome(text, *lines, whole=False):
    """(what is printed, exit status) of a run on v3 with these expectations and verdicts."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        results = Results(expected_of(text))
        for line in lines:
            results.add("v3", line)
        status = results.finish(whole, 1.0)
    return printed.getvalue(), status


class ResultsTest(unittest.TestCase):
    def test_right_ones_count(self):
        printed, status = outcome("", "ok a.b", "ok a.c")
        self.assertEqual(status, 0)
        self.assertIn("2 passed, 0 failed, 0 failed as expected, 0 skipped", printed)

    def test_what_fails_now_and_then_may_pass(self):
        for said in ("ok a.b", "not ok a.b: why"):
            self.assertEqual(outcome("* a.b | now and then: x | y\n", said, "ok a.c")[1], 0)

    def test_a_failure_fails(self):
        printed, status = outcome("", "ok a.b", "not ok a.c: ENOENT: why")
        self.assertEqual(status, 1)
        self.assertIn("FAIL v3/a.c: ENOENT: why", printed)

    def test_an_expected_failure_does_not(self):
        printed, status = outcome("v3 a.* | defect: x | RFC 1813", "not ok a.c: y", "ok b.a")
        self.assertEqual(status, 0)
        self.assertIn("expected v3/a.c: y (defect: x)", printed)

    def test_an_expectation_is_of_its_versions(self):
        self.assertEqual(outcome("v4.0,v4.2 a.c | x | y", "ok a.b", "not ok a.c: y")[1], 1)

    def test_an_unexpected_pass_fails(self):
        self.assertEqual(outcome("* a.c | x | y", "ok a.b", "ok a.c")[1], 1)

    def test_an_expectation_of_no_case_fails_a_whole_run(self):
        self.assertEqual(outcome("* a.d | x | y", "ok a.b")[1], 0)
        self.assertEqual(outcome("* a.d | x | y", "ok a.b", whole=True)[1], 1)

    def test_a_skip_says_why(self):
        printed, status = outcome("", "ok a.b", "skip a.c: no client")
        self.assertEqual(status, 0)
        self.assertIn("SKIP v3/a.c: no client", printed)

    def test_skips_of_one_reason_are_one_line(self):
        printed, _ = outcome("", "ok a.b", "skip a.c: no client", "skip a.d: no client")
        self.assertIn("SKIP v3/a.c and 1 others: no client\n", printed)
        self.assertIn("2 skipped", printed)

    def test_other_output_fails(self):
        self.assertEqual(outcome("", "ok a.b", "Segmentation fault")[1], 1)

    def test_nothing_is_not_well(self):
        self.assertEqual(outcome("")[1], 1)

    def test_a_list_with_a_mistake_is_refused(self):
        for line in ("v3 a.b | reason", "a.b | x | y", "v3 a.b | | y"):
            with self.assertRaises(ValueError):
                expected_of(line)


if __name__ == "__main__":
    unittest.main()
