"""Two source trees whose products are compared: the one that runs the command, and a commit's.

The commit's tree is unpacked once below the build folder and stays there, with its own build.
Both are compiled alike: by the same compiler, with the flags of the first one, against the same
cache (etcd, ganesha and its headers).
"""

import json
import os
import re
import shlex
import subprocess
import tempfile

from symlab.errors import LabError

# What a lab of one head runs, and what loads it.
PRODUCT = ("vnfsd", "symnas", "symnas-launch", "fsalcluster")
CLIENT = ("nfs_load",)
# Settings of CMake that a commit's build takes over.
ALIKE = ("CMAKE_BUILD_TYPE", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "SYMNAS_CACHE",
         "SYMNAS_DEBUG_INFO", "SYMNAS_SANITIZE", "SYMNAS_WERROR")
PATCHES = ("deploy/ganesha/patches", "deploy/ganesha/apply.sh")
CODE_FLAG = re.compile(r"-(O|g|f(?!pch|diagnostics)|m|std=|DNDEBUG$)")
BUILD_TYPE_FLAG = re.compile(r"-(O|g|DNDEBUG$)")


class Tree:
    """A folder with sources, and the folder of its build."""

    def __init__(self, name, path, build):
        self.name, self.path, self.build = name, path, build

    def ninja(self, jobs, targets):
        """Compiles; shows ninja's output."""
        argv = ["ninja", "-C", self.build, "-j", str(jobs), *targets]
        if subprocess.run(argv).returncode != 0:
            raise LabError(f"{self.path} does not compile")

    def flags(self):
        """The flags that its plugin is compiled with, of those that decide what code results."""
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            return code_flags(next(entry["command"] for entry in json.load(file)
                                   if "/fsal_cluster/plugin/" in entry["file"]))

    def settings(self):
        """ALIKE as {name: value}."""
        with open(os.path.join(self.build, "CMakeCache.txt"), encoding="utf-8") as file:
            return cache_values(file.read(), ALIKE)


def code_flags(command):
    """The words of a compiler's command that decide what code results, in order."""
    return [word for word in shlex.split(command) if CODE_FLAG.match(word)]


def cache_values(text, names):
    """{name: value} of those that a CMakeCache.txt has."""
    found = dict(re.findall(r"(?m)^([A-Za-z_]+):[A-Z]+=(.*)$", text))
    return {name: found[name] for name in names if name in found}


def configuration(settings, flags):
    """Words for cmake: the same settings and flags, whatever the tree's own defaults are."""
    words = [f"-D{name}={value}" for name, value in settings.items()]
    own = " ".join(flag for flag in flags if BUILD_TYPE_FLAG.match(flag))
    kind = settings["CMAKE_BUILD_TYPE"].upper()
    return words + [f"-DCMAKE_{language}_FLAGS_{kind}={own}" for language in ("C", "CXX")]


def differing(ours, theirs):
    """One line about flags that one of the two has, or ""."""
    texts = [f"only {name}: {' '.join(more)}" for name, more in (
        ("now", [flag for flag in ours if flag not in theirs]),
        ("base", [flag for flag in theirs if flag not in ours])) if more]
    return "; ".join(texts)


def commit_of(repo, name):
    """The full hash of what git calls `name`. LabError: nothing."""
    return _git(repo, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}",
                wrong=f"{name} is no commit of {repo}")


def description(repo, commit):
    return _git(repo, "show", "-s", "--format=%h %cs %s", commit)


def patches_differ(repo, commit):
    """Whether ganesha is patched differently there."""
    return bool(_git(repo, "diff", "--name-only", commit, "--", *PATCHES))


def unpacked(repo, commit, folder):
    """The commit's Tree in `folder`/<hash>; unpacks it if it is not there."""
    path = os.path.join(folder, commit[:12])
    if not os.path.isdir(path):
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as new:
            archive, tree = os.path.join(new, "archive.tar"), os.path.join(new, "tree")
            _git(repo, "archive", "--output", archive, commit)
            os.mkdir(tree)
            _run("tar", "-xf", archive, "-C", tree)
            os.rename(tree, path)
    return Tree(commit[:7], path, os.path.join(path, "build"))


def build_alike(now, base, jobs):
    """Compiles both; returns a line on how flags differ all the same, or ""."""
    now.ninja(jobs, PRODUCT + CLIENT)
    flags = now.flags()
    _run("cmake", "-S", base.path, "-B", base.build, "-G", "Ninja",
         *configuration(now.settings(), flags))
    base.ninja(jobs, PRODUCT)
    return differing(flags, base.flags())


def _run(*argv):
    """Shows the output only if it fails."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise LabError(f"`{' '.join(argv)}` failed; the end of its output:\n{done.stdout[-4000:]}")


def _git(repo, *words, wrong=None):
    done = subprocess.run(["git", "-C", repo, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise LabError(wrong or f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()
