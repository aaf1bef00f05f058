"""`make quick` finds what is out of date, orders it, and runs it: on a small build of its own."""

import os
import tempfile
import unittest

from loading import load

quick = load("../quick")

NINJA = """
ninja_required_version = 1.8
rule object
  command = grep -v broken $in > $out
  description = Building CXX object $out
rule program
  command = (echo '#!/bin/sh'; cat $in) > $out && chmod +x $out
  description = Linking CXX executable $out
build build.ninja: phony
build a/CMakeFiles/a.dir/a.cc.o: object a.cc
build b/CMakeFiles/b.dir/b.cc.o: object b.cc
build tests/bin/a_test: program a/CMakeFiles/a.dir/a.cc.o
build tests/bin/b_test: program b/CMakeFiles/b.dir/b.cc.o
build tests_unit: phony tests/bin/a_test tests/bin/b_test
build all: phony a/CMakeFiles/a.dir/a.cc.o
"""
CTEST = "\n".join(f'add_test({name} "{{0}}/tests/bin/{name}")\n'
                  f'set_tests_properties({name} PROPERTIES LABELS "unit" '
                  f'WORKING_DIRECTORY "{{0}}/tests/unit/{name[0]}")'
                  for name in ("a_test", "b_test"))


class Order(unittest.TestCase):
    def test_the_changed_folder_comes_first_then_its_relatives(self):
        tests = {"zz": "tests/unit/cvm", "io": "tests/unit/cvm/io", "api": "tests/unit/vnfsd/api",
                 "ops": "tests/unit/fsal_cluster/ops"}
        self.assertEqual(quick.nearest_first(tests, ["cvm/CMakeFiles/symnas_cvm.dir/layout.cc.o"]),
                         ["zz", "io", "api", "ops"])
        changed_test = ["tests/unit/vnfsd/api/CMakeFiles/api.dir/router_test.cc.o"]
        self.assertEqual(quick.nearest_first(tests, changed_test)[0], "api")

    def test_ninja_says_what_it_would_do(self):
        objects, programs = quick.parse_outdated(
            "Building CXX object cvm/CMakeFiles/x.dir/a.cc.o\n"
            "Linking CXX static library cvm/libx.a\nBuilding C object p/CMakeFiles/p.dir/c.c.o\n"
            "Linking CXX executable tests/bin/a_test\nninja: no work to do.\n")
        self.assertEqual(objects, ["cvm/CMakeFiles/x.dir/a.cc.o", "p/CMakeFiles/p.dir/c.c.o"])
        self.assertEqual(programs, ["tests/bin/a_test"])

    def test_scripts_have_their_tests_beside_or_above_them(self):
        def exists(pattern):
            folder = os.path.relpath(os.path.dirname(pattern), quick.REPO)
            return [f"{folder}/x_test.py"] if folder in ("tests/lab", "tests/check") else []
        self.assertEqual(quick.python_tests(["tests/lab/cases/locks/held.py"], exists),
                         ["tests/lab/x_test.py"])
        self.assertEqual(quick.python_tests(["deploy/lab/symlab/wait.py", "tests/check/tree"],
                                            exists), ["tests/check/x_test.py",
                                                      "tests/lab/x_test.py"])
        self.assertEqual(quick.python_tests(["docs/README.md"], exists), [])


class SmallBuild(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("build.ninja", NINJA)
        self.write("CTestTestfile.cmake", CTEST.format(self.folder))
        for name in "ab":
            os.makedirs(f"{self.folder}/tests/unit/{name}")
            self.write(f"{name}.cc", "exit 0\n")
        self.build = quick.Build(self.folder, 1)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def outdated(self):
        return [os.path.basename(path) for path in self.build.outdated()[1]]

    def run_tests(self, names, end=float("inf")):
        return quick.run_unit_tests(self.build, names, end)

    def test_only_what_depends_on_a_change_is_out_of_date(self):
        self.assertEqual(self.build.unit_tests(), {"a_test": "tests/unit/a",
                                                   "b_test": "tests/unit/b"})
        self.assertEqual(self.outdated(), ["a_test", "b_test"])
        self.assertEqual(self.run_tests(["a_test", "b_test"]), (["a_test", "b_test"], [], []))
        self.assertEqual(self.outdated(), [])
        self.write("b.cc", "exit 1\n")
        os.utime(f"{self.folder}/b.cc", ns=(2 ** 62, 2 ** 62))
        self.assertEqual(self.outdated(), ["b_test"])
        self.assertEqual(self.run_tests(["a_test", "b_test"]), (["a_test"], ["b_test"], []))

    def test_what_does_not_compile_has_failed(self):
        self.write("a.cc", "broken\n")  # grep finds nothing to pass on
        self.assertEqual(self.run_tests(["a_test"]), ([], ["a_test"], []))

    def test_no_more_are_begun_when_the_time_is_over(self):
        self.assertEqual(self.run_tests(["a_test"], 0.0), ([], [], ["a_test"]))

    def test_failures_are_remembered(self):
        self.assertEqual(self.build.remembered(), [])
        self.build.remember(["b_test"])
        self.assertEqual(self.build.remembered(), ["b_test"])


if __name__ == "__main__":
    unittest.main()
