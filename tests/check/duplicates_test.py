"""The duplicates check finds equal runs, at their full length, once."""

import unittest

import sources
from loading import load

duplicates = load("duplicates")


def lines(count, name="x"):
    return [f"{name}{number}();" for number in range(count)]


def found(length=12, **texts):
    """texts: name of a file without .cc, and its lines."""
    return duplicates.find({f"{name}.cc": ("\n".join(some), "c++") for name, some in texts.items()},
                           length)


class Runs(unittest.TestCase):
    def test_twelve_lines_are_found_and_eleven_are_not(self):
        one = ["a();", *lines(12), "b();"]
        self.assertEqual(found(a=one, b=lines(12)), ["a.cc:2-13 ~ b.cc:1-12: 12 lines"])
        self.assertEqual(found(a=one, b=lines(11)), [])

    def test_a_long_run_is_one(self):
        self.assertEqual(found(a=lines(40), b=["a();", *lines(40)]),
                         ["a.cc:1-40 ~ b.cc:2-41: 40 lines"])

    def test_in_one_file(self):
        self.assertEqual(found(a=[*lines(12), "a();", *lines(12)]),
                         ["a.cc:1-12 ~ a.cc:14-25: 12 lines"])
        self.assertEqual(found(a=["a();"] * 13), [])

    def test_each_pair_of_three_the_longest_first(self):
        pairs = found(a=lines(12), b=lines(14), c=lines(14))
        self.assertEqual([pair.split(": ")[0] for pair in pairs],
                         ["b.cc:1-14 ~ c.cc:1-14", "a.cc:1-12 ~ b.cc:1-12",
                          "a.cc:1-12 ~ c.cc:1-12"])

    def test_what_does_not_count(self):
        other = ["// text", "#include <a>", ""]
        for number, line in enumerate(lines(12)):
            other += [f"\t {line}  // {number}", "/* of", "   two lines */", ""]
        [pair] = found(a=lines(12), b=other)
        self.assertEqual(pair, "a.cc:1-12 ~ b.cc:4-48: 12 lines")
        same = ["#include <x>"] * 6 + [f"#include <{n}>" for n in range(12)] + ["// a"] * 12
        self.assertEqual(found(a=same, b=same), [])

    def test_a_string_is_no_comment(self):
        code = duplicates.code_lines('f("http://a");  // b', "c++")
        self.assertEqual(code, [(1, 'f("http://a");')])

    def test_scripts(self):
        text = "#!/bin/sh\n# a\n. b.sh\necho $#  # c\n"
        self.assertEqual(duplicates.code_lines(text, "shell"), [(4, "echo $# # c")])
        self.assertEqual(duplicates.code_lines("import a\nfrom b import c\nd()\n", "python"),
                         [(3, "d()")])


class Languages(unittest.TestCase):
    def test_of_files(self):
        self.assertEqual(sources.language("a/b.h", ""), "c++")
        self.assertEqual(sources.language("a.py", "text"), "python")
        self.assertEqual(sources.language("run", "#!/usr/bin/env python3\n"), "python")
        self.assertEqual(sources.language("run", "#!/bin/bash\n"), "shell")
        self.assertEqual(sources.language("ganesha.in", "#!/bin/sh\n"), "shell")
        self.assertIsNone(sources.language("a.md", "# a"))
        self.assertIsNone(sources.language("Makefile", "all:"))

    def test_product(self):
        self.assertTrue(sources.in_product("deploy/setup/setup"))
        self.assertFalse(sources.in_product("tests/run"))
        self.assertFalse(sources.in_product("hacks/a.cc"))


if __name__ == "__main__":
    unittest.main()
