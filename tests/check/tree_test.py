"""The tree check finds what it is there to find."""

import unittest

from loading import load

tree = load("tree")


def problems(path, text):
    return list(tree.check_file(path, text.encode(), {"mirror.example.org"}))


class Files(unittest.TestCase):
    def test_clean_file(self):
        self.assertEqual(problems("cvm/layout.cc", "int x;\n"), [])

    def test_registry_host_and_machine_path(self):
        self.assertEqual(len(problems("Makefile", "get http://mirror.example.org/x\n")), 1)
        self.assertEqual(len(problems("Makefile", "cd /ro" + "ot/x\n")), 1)

    def test_sizes(self):
        self.assertEqual(len(problems("a.cc", "x\n" * 601)), 1)
        self.assertEqual(len(problems("a.txt", "x" * (1 << 21))), 1)
        self.assertEqual(len(problems("cvm/README.md", "x\n" * 31)), 1)
        self.assertEqual(problems("README.md", "x\n" * 31), [])
        self.assertEqual(len(problems("docs/plan.md", "x\n" * 46)), 1)

    def test_columns_of_documents(self):
        self.assertEqual(len(problems("docs/a.md", "x" * 121)), 1)
        self.assertEqual(problems("docs/a.md", "x" * 120 + "\n| " + "x" * 200 + " |\n"), [])
        self.assertEqual(problems("a.txt", "x" * 121), [])

    def test_unfinished_work_and_binaries(self):
        self.assertEqual(len(problems("a.cc", "// TO" + "DO: later\n")), 1)
        self.assertEqual(len(problems("a.cc", "TEST(A, DISABL" + "ED_b)\n")), 1)
        self.assertEqual(len(problems("a.png", "\0")), 1)


class Readmes(unittest.TestCase):
    def test_missing(self):
        paths = {"cvm/layout.cc", "cvm/README.md", "cvm/io/ring.cc", "tests/unit/cvm/a_test.cc",
                 "tests/README.md", "tests/unit/README.md", "common/kv/etcd/CMakeLists.txt"}
        missing = [line.split(":")[0] for line in tree.check_readmes(paths)]
        self.assertEqual(missing, ["common", "common/kv", "common/kv/etcd", "cvm/io"])


class Rooms(unittest.TestCase):
    def test_loose_sources(self):
        paths = {"vnfsd/names/names.h", "vnfsd/README.md", "vnfsd/CMakeLists.txt", "vnfsd/names.h",
                 "fsal_cluster/mount.cc", "cvm/layout.cc", "tests/unit/vnfsd/x.h"}
        found = [line.split(":")[0] for line in tree.check_rooms(paths)]
        self.assertEqual(found, ["fsal_cluster/mount.cc", "vnfsd/names.h"])


class Tests(unittest.TestCase):
    def test_without_a_target(self):
        lists = {"tests/CMakeLists.txt": "symnas_test(SOURCES u/a_test.cc)\nforeach(name b c)",
                 "tests/u/CMakeLists.txt": "foreach(name b)", "tests/g/CMakeLists.txt": "GLOB x"}
        paths = {*lists, "tests/u/a_test.cc", "tests/u/b_test.cc", "tests/u/c_test.cc",
                 "tests/g/d_test.cc"}
        found = [line.split(":")[0] for line in tree.check_tests(lists.get, paths)]
        self.assertEqual(found, ["tests/u/c_test.cc"])


if __name__ == "__main__":
    unittest.main()
