"""Reports of sanitizers: each is shown once, those of earlier runs never."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from reports import Reports


class Showing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def append(self, name, text):
        with open(os.path.join(self.folder.name, name), "a", encoding="utf-8") as file:
            file.write(text)

    def test_what_a_program_adds_to_its_file_is_shown_once(self):
        reports = Reports(self.folder.name)
        self.assertEqual(reports.new(), "")
        self.append("report.vnfsd.7", "first race\n")
        self.assertEqual(reports.new(), "--- report.vnfsd.7\nfirst race\n")
        self.assertEqual(reports.new(), "")
        self.append("report.vnfsd.7", "second race\n")
        self.append("ganesha.1", "overflow\n")
        self.assertEqual(reports.new(),
                         "--- ganesha.1\noverflow\n\n--- report.vnfsd.7\nsecond race\n")

    def test_an_earlier_run_does_not_count(self):
        self.append("report.vnfsd.7", "old\n")
        self.assertEqual(Reports(self.folder.name).new(), "")

    def test_a_log_is_a_report_from_its_first_runtime_error_on(self):
        reports = Reports(os.path.join(self.folder.name, "reports"))
        log = os.path.join(self.folder.name, "vnfs1.log")
        self.append("vnfs1.log", "mounted\nserving\n")
        self.assertEqual(reports.new([log]), "")
        self.append("vnfs1.log", "more\na.cc:7:1: runtime error: shift\n  #0 here\n")
        self.assertEqual(reports.new([log]),
                         "--- vnfs1.log\na.cc:7:1: runtime error: shift\n  #0 here\n")
        self.assertEqual(reports.new([log]), "")
        os.unlink(log)  # a new lab has new logs
        self.append("vnfs1.log", "runtime error: null\n")
        self.assertEqual(reports.new([log]), "--- vnfs1.log\nruntime error: null\n")

    def test_a_build_without_sanitizer_has_none(self):
        self.assertEqual(Reports(os.path.join(self.folder.name, "reports")).new(), "")


if __name__ == "__main__":
    unittest.main()
