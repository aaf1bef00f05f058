"""Which cases a subject makes, what a check says, and that the cases of the folder are in order."""

import importlib
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "client")]
import registry
from registry import Again, Failed, check, equal, references


class Cases(unittest.TestCase):
    def test_references_say_for_which_protocols_a_rule_holds(self):
        self.assertEqual(references(rfc7530="16.1"), {0: "RFC 7530 section 16.1"})
        self.assertEqual(references(rfc8881="18.1"),
                         {1: "RFC 8881 section 18.1", 2: "RFC 8881 section 18.1"})
        self.assertEqual(references(rfc8881="18.1", rfc7862="15.1")[2], "RFC 7862 section 15.1")
        self.assertEqual(set(references(rfc1813="3.3")), {"v3"})
        self.assertEqual(set(references(v41only="18.1")), {1})

    def test_all_have_names_of_their_own(self):
        for name in sorted(os.listdir(HERE)):
            if name.startswith("cases_") and name.endswith(".py"):
                importlib.import_module(name[:-3])
        names = [case.name for case in registry.CASES]
        self.assertGreater(len(names), 1000)
        self.assertEqual(sorted({name for name in names if names.count(name) > 1}), [])
        self.assertEqual([name for name in names if name.endswith("_") or " " in name], [])


class Checks(unittest.TestCase):
    def test_what_was_answered_and_expected_is_said(self):
        with self.assertRaisesRegex(Failed, "LOOKUP answered OK, expected NOENT or STALE"):
            check("OK", "NOENT STALE", "LOOKUP")
        with self.assertRaisesRegex(Failed, "size is 1, expected 2"):
            equal(1, 2, "size")
        check("OK", "NOENT OK", "LOOKUP")

    def test_a_server_may_ask_to_come_again(self):
        with self.assertRaises(Again):
            check("DELAY", "OK", "OPEN")
        check("GRACE", "GRACE", "OPEN")

    def test_long_values_are_cut(self):
        with self.assertRaises(Failed) as caught:
            equal(b"x" * 5000, b"", "text")
        self.assertLess(len(str(caught.exception)), 400)


if __name__ == "__main__":
    unittest.main()
