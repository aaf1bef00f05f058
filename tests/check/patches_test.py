"""The patches of ganesha: series, folders and table agree, and each is in the form of `git am`."""

import os
import re
import subprocess
import sys
import unittest

REPO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GANESHA = os.path.join(REPO, "deploy", "ganesha")
PATCHES = os.path.join(GANESHA, "patches")
LAB = os.path.join(REPO, "tests", "lab")
sys.path[:0] = [LAB, os.path.join(REPO, "deploy", "lab"), os.path.join(REPO, "tests", "client")]

import choosing
from lab_case import all_tests

NAME = re.compile(r"^[a-z0-9]+/(\d{4})-[a-z0-9-]+\.patch$")
KINDS = {"bug of ganesha", "bug of ntirpc", "bug of Linux", "feature for an FSAL"}
SUBJECT_COLUMNS = 72
BODY_COLUMNS = 75


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Patches(unittest.TestCase):
    def setUp(self):
        self.series = text_of(PATCHES, "series").splitlines()

    def test_the_series_names_each_patch_once(self):
        there = {os.path.relpath(os.path.join(folder, name), PATCHES)
                 for folder, _, names in os.walk(PATCHES) for name in names} - {"series"}
        self.assertEqual(set(self.series), there)
        self.assertEqual(len(self.series), len(set(self.series)))
        numbers = [NAME.match(name)[1] for name in self.series]
        self.assertEqual(len(numbers), len(set(numbers)))
        self.assertEqual(sorted(numbers), numbers, "a new patch takes the next number")

    def test_each_is_a_mail_that_git_am_takes(self):
        for name in self.series:
            head, _, rest = text_of(PATCHES, name).partition("\n---\n")
            header, _, body = head.partition("\n\n")
            fields = re.findall(r"^(From|Date|Subject)(?: |: )(.+)$", header, re.MULTILINE)
            self.assertEqual([field for field, _ in fields], ["From", "From", "Date", "Subject"],
                             name)
            subject = re.sub(r"\s+", " ", header.partition("Subject: ")[2])
            self.assertRegex(subject, r"^\[PATCH\] \w+: [A-Z]", name)
            self.assertLessEqual(len(subject.removeprefix("[PATCH] ")), SUBJECT_COLUMNS, name)
            self.assertTrue(body.strip(), name)
            for line in body.splitlines():
                self.assertLessEqual(len(line), BODY_COLUMNS, f"{name}: {line}")
            self.assertNotRegex(body, r"\b[Pp]atch \d{4}\b|symnas", name)  # it stands for itself
            self.assertRegex(rest, r"^ [^\n]+\|", f"{name}: no diffstat")
            self.assertIn("\ndiff --git a/", rest)

    def test_paths_are_those_of_their_own_repository(self):
        for name in self.series:
            paths = re.findall(r"^diff --git a/(\S+) b/", text_of(PATCHES, name), re.MULTILINE)
            self.assertTrue(paths, name)
            for path in paths:
                inside = ("src/", "ntirpc/") if name.startswith("ntirpc/") else ("src/",)
                self.assertTrue(path.startswith(inside), f"{name}: {path}")
                self.assertNotIn("libntirpc/", path, name)

    def test_the_table_has_a_row_for_each(self):
        choosing.load_cases(LAB)
        cases = {test.name for test in all_tests()}
        rows = {}
        folder = None
        for line in text_of(GANESHA, "patches.md").splitlines():
            if line.startswith("## "):
                folder = line[3:].partition(":")[0]
            if row := re.match(r"^\| (\d{4}) \| (.+) \| (.+) \| (.+) \|$", line):
                number, without, kind, test = row.groups()
                rows[number] = folder
                self.assertTrue(without and test, line)
                self.assertIn(kind, KINDS, line)
                for named in re.findall(r"`(\w+_\w+)`", test):
                    self.assertTrue(named in cases or named == "nfs_resend", f"{number}: {named}")
        self.assertEqual(rows, {NAME.match(name)[1]: name.partition("/")[0]
                                for name in self.series})

    def test_rebase_explains_itself(self):
        done = subprocess.run([os.path.join(GANESHA, "rebase")], check=False, text=True,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()
