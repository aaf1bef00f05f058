"""The state file of a lab: everything that was made, noted before it is made.

When a program dies between the note and the action, it leaves at most a note without an object,
which every removal accepts. One writer at a time (a lock).
"""

import contextlib
import fcntl
import json
import os

from .errors import LabError

FILE_NAME = "lab.json"
LOCK_DIR = "/run/lock"  # namespaces are the machine's, so the lock is too


def root_dir():
    return os.environ.get("SYMNAS_LAB", "/var/lib/symnas-lab")


def lab_dir(prefix):
    return os.path.join(root_dir(), prefix)


class LabState:
    """A dictionary in a file; save() replaces it atomically."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.directory = lab_dir(prefix)
        self.path = os.path.join(self.directory, FILE_NAME)
        self.data = None

    def load(self):
        """Reads the file; returns False when this lab does not exist."""
        try:
            with open(self.path, encoding="utf-8") as file:
                self.data = json.load(file)
            return True
        except FileNotFoundError:
            self.data = None
            return False

    def create(self, **fields):
        os.makedirs(self.directory, mode=0o755, exist_ok=True)
        if os.path.exists(self.path):
            raise LabError(f"lab {self.prefix} exists in {self.directory}: `lab down` first")
        self.data = {"prefix": self.prefix, "namespaces": [], "processes": {}, "files": [],
                     "loops": [], "mounts": [], "run_dirs": [], "heads": [],
                     "witnesses": [], "luns": [], "cgroup": None, "complete": False}
        self.data.update(fields)
        self.save()

    def remove_unborn(self):
        """Removes what an interrupted create() had made; returns False when there was nothing."""
        with self.locked():
            if self.load() or not os.path.isdir(self.directory):
                return False
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path + ".new")
            with contextlib.suppress(OSError):  # not ours: it contains something else
                os.rmdir(self.directory)
                return True
        return False

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.rename(self.path + ".new", self.path)

    def note(self, kind, value):
        """Adds a value to one of the lists; it is on disk when this returns."""
        if value not in self.data[kind]:
            self.data[kind].append(value)
            self.save()

    def note_process(self, name, record):
        self.data["processes"][name] = record
        self.save()

    @contextlib.contextmanager
    def locked(self):
        """Excludes other programs that change a lab of this prefix, wherever that is kept."""
        os.makedirs(LOCK_DIR, exist_ok=True)
        with open(os.path.join(LOCK_DIR, f"symnas-lab-{self.prefix}.lock"), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise LabError(f"lab {self.prefix} is being changed by another program") from error
            yield
