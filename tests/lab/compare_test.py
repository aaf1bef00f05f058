"""make bench-compare: what it chooses, how it compiles alike, and how it reckons."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "bench")
sys.path[:0] = [BENCH, os.path.join(HERE, "..", "..", "deploy", "lab")]

import loads
import trees
from symlab.errors import LabError

LOADER = importlib.machinery.SourceFileLoader("compare_program", os.path.join(BENCH, "compare"))
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader(LOADER.name, LOADER))
LOADER.exec_module(compare)


class Cases(unittest.TestCase):
    def test_a_case_has_all_shapes_or_the_one_behind_its_name(self):
        one, deep = loads.SHAPES
        self.assertEqual(loads.chosen(["read8k", "getattr_deep", "write8k_sync_one"]),
                         [("read8k", one), ("read8k", deep), ("getattr", deep),
                          ("write8k_sync", one)])

    def test_an_unknown_case_is_refused(self):
        for name in ("read9k", "read8k_wide", "_deep"):
            with self.assertRaisesRegex(LabError, f"no case {name}"):
                loads.chosen([name])


class CompiledAlike(unittest.TestCase):
    COMMAND = ("/usr/bin/c++ -DNDEBUG_NOT -I/a -isystem /b -O2 -g1 -DNDEBUG -std=gnu++20 -fPIC "
               "-Wall -fno-omit-frame-pointer -fpch-preprocess -include x.hxx -o a.o -c a.cc")

    def test_flags_that_decide_the_code(self):
        self.assertEqual(trees.code_flags(self.COMMAND), [
            "-O2", "-g1", "-DNDEBUG", "-std=gnu++20", "-fPIC", "-fno-omit-frame-pointer"])

    def test_the_other_tree_gets_settings_and_flags(self):
        text = ("// A comment\nCMAKE_BUILD_TYPE:STRING=RelWithDebInfo\nSYMNAS_WERROR:BOOL=ON\n"
                "CMAKE_CXX_FLAGS:STRING=-x=y\n")
        settings = trees.cache_values(text, trees.ALIKE)
        self.assertEqual(settings, {"CMAKE_BUILD_TYPE": "RelWithDebInfo", "SYMNAS_WERROR": "ON"})
        self.assertEqual(trees.configuration(settings, trees.code_flags(self.COMMAND)), [
            "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DSYMNAS_WERROR=ON",
            "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG",
            "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG"])

    def test_a_difference_is_told(self):
        self.assertEqual(trees.differing(["-O2", "-g1"], ["-g1", "-O2"]), "")
        self.assertEqual(trees.differing(["-O2", "-g1"], ["-O2", "-g", "-flto"]),
                         "only now: -g1; only base: -g -flto")


class Commits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repo = os.path.join(folder.name, "repo")
        self.trees = os.path.join(folder.name, "trees")
        subprocess.run(["git", "init", "-q", self.repo], check=True)
        self.first = self.commit("deploy/ganesha/patches/1.patch", "one")
        self.second = self.commit("b", "two")

    def commit(self, name, text):
        path = os.path.join(self.repo, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        git = ["git", "-C", self.repo, "-c", "user.name=n", "-c", "user.email=e@example.invalid"]
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", name], check=True)
        return trees.commit_of(self.repo, "HEAD")

    def test_a_commit_is_unpacked_once(self):
        tree = trees.unpacked(self.repo, self.first, self.trees)
        self.assertEqual(os.listdir(tree.path), ["deploy"])
        os.mkdir(tree.build)
        again = trees.unpacked(self.repo, self.first, self.trees)
        self.assertTrue(os.path.isdir(again.build))
        self.assertEqual(sorted(os.listdir(self.trees)), [self.first[:12]])

    def test_what_is_no_commit_is_refused(self):
        with self.assertRaisesRegex(LabError, "moon is no commit"):
            trees.commit_of(self.repo, "moon")

    def test_other_patches_of_ganesha_are_seen(self):
        self.assertFalse(trees.patches_differ(self.repo, self.first))
        self.commit("deploy/ganesha/patches/1.patch", "another")
        self.assertTrue(trees.patches_differ(self.repo, self.first))


def result(rate, instance, etcd):
    return {"ops_per_s": rate, "cpu_us_per_op": instance + etcd,
            "cpu_us_per_op_of": {"instance": instance, "etcd": etcd}}


class Reckoning(unittest.TestCase):
    def test_ratios_are_those_of_the_rounds(self):
        self.assertEqual(compare.ratios([100, 200, 100], [110, 200, 130]), {
            "base": 100, "now": 130, "ratio": 1.1, "ratio_min": 1.0, "ratio_max": 1.3})

    def test_a_row_has_the_rate_the_servers_and_the_instance(self):
        row = compare.row_of("getattr", "deep", [result(1000, 40, 10)], [result(500, 60, 10)])
        self.assertEqual([row[key]["ratio"] for key in
                          ("rate", "cpu_us_per_op", "instance_cpu_us_per_op")], [0.5, 1.4, 1.5])
        self.assertEqual(compare.line(row).split()[:5], ["getattr,", "deep", "1000.0", "500.0",
                                                         "0.50"])

    def test_sides_take_turns_and_lead_by_turns(self):
        order = []

        class Side:
            def __init__(self, name):
                self.name = name

            def load(self, *_, seed):
                order.append(f"{self.name}{seed}")
                return result(1000, 1, 1)
        compare.measure(Side("a"), Side("b"), "read8k", loads.SHAPES[0], SimpleNamespace(rounds=3))
        self.assertEqual(order, ["a1", "b1", "b2", "a2", "a3", "b3"])


class Labs(unittest.TestCase):
    def test_a_build_folder_is_named_for_a_time(self):
        with unittest.mock.patch.dict(os.environ, {"SYMNAS_BUILD": "/now"}):
            with compare.built_in("/base"):
                self.assertEqual(os.environ["SYMNAS_BUILD"], "/base")
            self.assertEqual(os.environ["SYMNAS_BUILD"], "/now")

    def test_a_product_that_this_lab_cannot_start_is_started_by_its_own(self):
        lab = unittest.mock.Mock(prefix="p")
        lab.up.side_effect = LabError("no option --new")
        with tempfile.TemporaryDirectory() as folder:
            package = os.path.join(folder, "deploy/lab/symlab")
            os.makedirs(package)
            with open(os.path.join(package, "cluster.py"), "w", encoding="utf-8") as file:
                file.write("class Lab:\n  def __init__(self, prefix): self.prefix = prefix\n"
                           "  def up(self, **words):\n"
                           f"    open('{folder}/up', 'w').write(f'{{self.prefix}} {{words}}')\n")
            with unittest.mock.patch("builtins.print"):
                compare.up(lab, trees.Tree("old", folder, ""))
            with open(os.path.join(folder, "up"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "p {'heads': 1, 'lun_count': 4, 'lun_size': '512M'}")
        lab.down.assert_called_once()

    def test_this_trees_product_has_no_other_lab(self):
        lab = unittest.mock.Mock()
        lab.up.side_effect = LabError("no space")
        with self.assertRaisesRegex(LabError, "no space"):
            compare.up(lab, trees.Tree("now", compare.REPO, ""))


if __name__ == "__main__":
    unittest.main()
