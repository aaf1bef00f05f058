"""Real programs for the client VM: git, SQLite, rsync, GNU tar and a compiler as this machine has
them, a repository, and the source of a project."""

import glob
import os
import shutil
import subprocess
import tarfile
import tempfile

import vm_image
from symlab import product

FOLDERS = ("common", "cvm", "docs")  # the content of the repository
GIT = ("git", "-c", "user.name=symnas", "-c", "user.email=symnas@example.invalid",
       "-c", "init.defaultBranch=main")
# What gcc needs beside itself to make programs in C.
COMPILERS = ("gcc", "make", "as", "ld", "ar", "ranlib")
FOR_COMPILERS = ("crtbegin.o", "crtbeginS.o", "crtend.o", "crtendS.o", "libgcc.a", "libgcc_s.so",
                 "libgcc_s.so.1", "include", "crti.o", "crtn.o", "crt1.o", "Scrt1.o", "libc.so",
                 "libc_nonshared.a", "liblto_plugin.so")
HEADERS = ("/usr/include/x86_64-linux-gnu", "/usr/include/linux", "/usr/include/asm-generic")
PROJECT = "project/zlib.tar.gz"


def _git(folder, *words):
    subprocess.run([*GIT, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _make_repository(folder):
    """A bare repository with one commit; returns its path."""
    tree = os.path.join(folder, "tree")
    for name in FOLDERS:
        shutil.copytree(os.path.join(product.REPO, name), os.path.join(tree, name),
                        ignore=shutil.ignore_patterns("__pycache__"))
    _git(tree, "init", "-q")
    _git(tree, "add", ".")
    _git(tree, "commit", "-q", "-m", "Content")
    bare = os.path.join(folder, "repository.git")
    _git(folder, "clone", "-q", "--bare", tree, bare)
    return bare


def _from_gcc(option, name):
    return subprocess.run(["gcc", f"-print-{option}={name}"], check=True, capture_output=True,
                          text=True).stdout.strip()


def _add_project(tar, source):
    """The source, and what compilers need; returns the programs among it."""
    tar.add(source, "run/zlib.tar.gz")
    parts = [_from_gcc("file-name", name) for name in FOR_COMPILERS]
    for path in [*parts, *HEADERS, *glob.glob("/usr/include/*.h")]:
        tar.add(path, os.path.normpath(path).lstrip("/"))
    inner = [_from_gcc("prog-name", name) for name in ("cc1", "collect2")]
    for path in inner:
        tar.add(path, path.lstrip("/"))
    return inner


def add_programs(tar, compilers=True):
    """Adds all, or all but what builds a project (minutes), to an archive that is unpacked in the
    VM's root."""
    names = ["git", "sqlite3", "rsync", "tar"]
    inner = []
    source = os.path.join(vm_image.cache_dir(), PROJECT)
    if compilers and os.path.exists(source):
        inner = _add_project(tar, source)
        names += COMPILERS
    programs = [path for path in map(shutil.which, names) if path]
    for path in programs:
        name = os.path.basename(path)
        # The VM's own tar is busybox'. A compiler looks for its parts from where it lies.
        folder = "usr/bin/" if name in COMPILERS else "bin/"
        tar.add(os.path.realpath(path), folder + {"tar": "gtar"}.get(name, name))
    link = tarfile.TarInfo("bin/git-upload-pack")
    link.type, link.linkname = tarfile.SYMTYPE, "git"
    tar.addfile(link)
    for path in vm_image.libraries(programs + inner):
        tar.add(os.path.realpath(path), path.lstrip("/"))
    if shutil.which("git"):
        with tempfile.TemporaryDirectory() as folder:
            tar.add(_make_repository(folder), "run/repository.git",
                    filter=lambda entry: entry.replace(uid=1000, gid=1000, uname="", gname="",
                                                        deep=False))
