"""Which files the tree has, and in which language they are: for the checks."""

import os
import subprocess

REPO = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Folders of what is shipped; the rest tests or describes it.
PRODUCT = ("common", "cvm", "fsal_cluster", "ha", "vnfsd", "deploy")
# The exit status of a check whose tool is not there; its last line says which.
SKIPPED = 77
ENDINGS = {".cc": "c++", ".h": "c++", ".c": "c++", ".py": "python", ".sh": "shell"}


def listed(root):
    """Tracked and new files that exist and are not ignored, sorted."""
    names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"],
                           check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted(path for path in set(names.split("\0"))
                  if path and os.path.isfile(os.path.join(root, path)))


def language(path, first_line):
    """"c++" (C, too), "python", "shell" or None. first_line: of the file, as text."""
    by_ending = ENDINGS.get(os.path.splitext(path)[1])
    if by_ending or not first_line.startswith("#!"):
        return by_ending
    if "python" in first_line:
        return "python"
    return "shell" if first_line.rstrip().endswith("sh") else None


def first_line(root, path):
    with open(os.path.join(root, path), "rb") as file:
        return file.readline(200).decode("utf-8", errors="replace")


def of_language(root, *languages):
    """Paths of the listed files in one of these languages."""
    return [path for path in listed(root) if language(path, first_line(root, path)) in languages]


def in_product(path):
    return path.startswith(tuple(folder + "/" for folder in PRODUCT))
