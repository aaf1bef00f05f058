"""The format check finds long lines in scripts, whatever they are called."""

import os
import shutil
import subprocess
import tempfile
import unittest

FORMAT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "format")
LONG = "x" * 101 + "\n"


class Columns(unittest.TestCase):
    def long_lines(self, files):
        """The paths that the check names in a tree of these files: {path: text}."""
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "-q", root], check=True)
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            check = os.path.join(root, "tests/check/format")
            os.makedirs(os.path.dirname(check), exist_ok=True)
            shutil.copy(FORMAT, check)
            done = subprocess.run([check], check=False, stdout=subprocess.PIPE, text=True)
        found = sorted(line.split(":")[0] for line in done.stdout.splitlines() if LONG[:-1] in line)
        self.assertEqual(done.returncode, 1 if found else 0, done.stdout)
        return found

    def test_scripts_and_programs(self):
        self.assertEqual(self.long_lines({
            "tests/a/program": "#!/bin/sh\n" + LONG, "b c": "#!/usr/bin/env python3\n" + LONG,
            "cvm/d.py": LONG, "Makefile": LONG, "deploy/lab/e": LONG, "cvm/CMakeLists.txt": LONG,
        }), ["Makefile", "b c", "cvm/CMakeLists.txt", "cvm/d.py", "deploy/lab/e",
             "tests/a/program"])

    def test_what_is_no_script(self):
        self.assertEqual(self.long_lines({
            "deploy/lab/README.md": LONG, "a.txt": LONG, "b": "x\n#!/bin/sh\n" + LONG,
            "c": "#!/bin/sh\n" + "x" * 100 + "\n",
        }), [])


if __name__ == "__main__":
    unittest.main()
