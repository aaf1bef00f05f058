"""The runner counts cases: passes, failures, skips with reasons, and reports that are broken."""

import contextlib
import io
import os
import tempfile
import unittest

from loading import load

run = load("../run")

REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="A">
  <testcase name="good" status="run" result="completed" classname="A"/>
  <testcase name="bad" status="run" result="completed" classname="A"><failure message="x"/>
  </testcase>
  <testcase name="away" status="run" result="skipped" classname="A">
    <skipped message="a_test.cc:7&#x0A;no loop device&#x0A;"/></testcase>
  <testcase name="off" status="notrun" result="suppressed" classname="A"/>
</testsuite></testsuites>
"""


class Counting(unittest.TestCase):
    def count(self, text):
        tally = run.Tally()
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(text)
            file.flush()
            complete = run.count_googletest(tally, file.name)
        return complete, tally

    def test_cases_of_a_report(self):
        complete, tally = self.count(REPORT)
        self.assertTrue(complete)
        self.assertEqual(tally.passed, 1)
        self.assertEqual(tally.failures, ["A.bad"])
        self.assertEqual(tally.skips, [("A.away", "no loop device")])

    def test_a_truncated_report_is_none(self):
        complete, tally = self.count(REPORT[:120])
        self.assertFalse(complete)
        self.assertEqual((tally.passed, tally.failures), (0, []))
        self.assertFalse(run.count_googletest(tally, os.path.join(os.sep, "nowhere.xml")))

    def test_a_check_without_its_tool_is_skipped(self):
        tally = run.Tally()
        run.add_check(tally, "check a", 0, "a: fine\n")
        run.add_check(tally, "check b", 1, "b.sh:1: wrong\n")
        run.add_check(tally, "check c", run.SKIPPED, "looked\nno c: install it\n")
        self.assertEqual((tally.passed, tally.failures), (1, ["check b"]))
        self.assertEqual(tally.skips, [("check c", "no c: install it")])

    def test_cases_of_a_program(self):
        tally = run.Tally()

        def count(script):
            with contextlib.redirect_stdout(io.StringIO()):
                run.count_cases(tally, ["/bin/sh", "-c", script], "all")

        count("echo 'SKIP a: no device'; echo '3 passed, 1 failed, 1 skipped'; exit 1")
        count("echo no mirror; exit 77")
        count("exit 2")
        self.assertEqual(tally.passed, 3)
        self.assertEqual(tally.failures, ["all #1: see above", "/bin/sh ended with 2"])
        self.assertEqual(tally.skips, [("a", "no device"), ("all", "no mirror")])

    def test_every_check_is_there(self):
        for name in run.CHECKS:
            self.assertTrue(os.access(os.path.join(run.REPO, "tests/check", name), os.X_OK), name)

    def test_summary_line(self):
        self.assertEqual(run.SUMMARY.findall("x\n12 passed, 0 failed\n"), [("12", "0")])


if __name__ == "__main__":
    unittest.main()
