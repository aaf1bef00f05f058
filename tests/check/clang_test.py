#!/usr/bin/env python3
"""What clang is given of a compiler's command line, and what makes a source to be checked again."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import loading

clang = loading.load("clang")

COMMAND = ("/usr/bin/cmake -E env CCACHE_NOHASHDIR=1 /usr/bin/ccache /usr/bin/c++ -DX=1 -I.. -O2 "
           "-Werror -fmax-errors=3 -std=gnu++20 -MD -MT a.o -MF a.o.d -o a.o -c /r/cvm/a.cc")
DEPS = """a.o: #deps 2, deps mtime 1 (VALID)
    ../cvm/a.cc
    ../cvm/a.h

b.o: #deps 1, deps mtime 2 (STALE)
    ../cvm/b.cc
"""


class FlagsTest(unittest.TestCase):
    def test_what_is_gccs_own_or_of_the_output_goes(self):
        self.assertEqual(clang.flags_of(COMMAND, "/r/cvm/a.cc"),
                         ["-DX=1", "-I..", "-O2", "-Werror", "-std=gnu++20", *clang.ADDED])

    def test_the_object_names_the_headers(self):
        self.assertEqual(clang.object_of(COMMAND), "a.o")
        self.assertEqual(clang.headers_by_object(DEPS),
                         {"a.o": ["../cvm/a.cc", "../cvm/a.h"], "b.o": ["../cvm/b.cc"]})


class KeyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        os.makedirs(os.path.join(self.root, "cvm"))
        os.makedirs(os.path.join(self.root, "build"))
        self.write("a.cc", "1")
        self.write("a.h", "2")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.root, "cvm", name), "w", encoding="utf-8") as file:
            file.write(text)

    def key(self, rules="rules"):
        source = os.path.join(self.root, "cvm/a.cc")
        entry = {"file": source, "directory": os.path.join(self.root, "build"),
                 "command": f"c++ -I{self.root} -o a.o -c {source}"}
        return clang.Source(self.root, entry, ["../cvm/a.h", "/usr/include/x.h"], [rules], {}).key

    def test_text_headers_and_rules_count(self):
        first = self.key()
        self.assertEqual(self.key(), first)
        self.assertNotEqual(self.key("others"), first)
        self.write("a.h", "3")
        second = self.key()
        self.assertNotEqual(second, first)
        self.write("a.cc", "4")
        self.assertNotEqual(self.key(), second)

    def test_a_clone_elsewhere_has_the_same_key(self):
        first = self.key()
        self.tearDown()
        self.setUp()
        self.assertEqual(self.key(), first)


if __name__ == "__main__":
    unittest.main()
