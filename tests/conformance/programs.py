"""Real programs for the client VM: git, SQLite, rsync and GNU tar as this machine has them, and a
repository."""

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


def add_programs(tar):
    """Adds all to an archive that is unpacked in the VM's root."""
    programs = [path for path in map(shutil.which, ("git", "sqlite3", "rsync", "tar")) if path]
    for path in programs:
        name = os.path.basename(path)
        # The VM's own tar is busybox'.
        tar.add(os.path.realpath(path), "bin/" + {"tar": "gtar"}.get(name, name))
    link = tarfile.TarInfo("bin/git-upload-pack")
    link.type, link.linkname = tarfile.SYMTYPE, "git"
    tar.addfile(link)
    for path in vm_image.libraries(programs):
        tar.add(os.path.realpath(path), path.lstrip("/"))
    if shutil.which("git"):
        with tempfile.TemporaryDirectory() as folder:
            tar.add(_make_repository(folder), "run/repository.git",
                    filter=lambda entry: entry.replace(uid=1000, gid=1000, uname="", gname="",
                                                        deep=False))
