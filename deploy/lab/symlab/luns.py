"""LUN files of a lab: fully written with data, never sparse and never only allocated.

The content is a mark that a test can search for: a client that ever reads STALE_MARK was shown old
content of the disk (INV-5). Writes bypass the page cache, which is small compared with a lab.
"""

import contextlib
import mmap
import os
import re
import subprocess

from .errors import LabError

STALE_MARK = b"symnas-lab-stale-block "
CHUNK_BYTES = 4 << 20
# The files themselves; loop devices on them; files served with faults (fuse_luns.py); or these with
# persistent reservations, by which heads fence each other (reservations.py).
KINDS = ("file", "loop", "fuse", "reserved")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_size(text):
    """The bytes of "512M", "2G", "4096". LabError: anything else, or not a multiple of 1 MiB."""
    match = re.fullmatch(r"(\d+)([KMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if not match:
        raise LabError(f"size {text!r}: a number with K, M, G or T is wanted")
    size = int(match.group(1)) * _UNITS[match.group(2).upper()]
    if size == 0 or size % (1 << 20):
        raise LabError(f"size {text!r} is not a positive multiple of 1 MiB")
    return size


def create_file(path, size):
    """Writes `size` bytes of marks to a new file, to the disk."""
    pattern = mmap.mmap(-1, CHUNK_BYTES)  # page aligned, for O_DIRECT
    line = STALE_MARK.ljust(64, b".")
    pattern.write(line * (CHUNK_BYTES // len(line)))
    view = memoryview(pattern)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        fd = os.open(path, flags | os.O_DIRECT, 0o600)
    except FileExistsError as error:
        raise LabError(f"LUN file {path} exists and is not this lab's") from error
    except OSError:  # a file system without O_DIRECT (tmpfs)
        fd = os.open(path, flags, 0o600)
    try:
        offset = 0
        while offset < size:
            offset += os.pwrite(fd, view[:min(CHUNK_BYTES, size - offset)], offset)
        os.fsync(fd)
    except OSError as error:
        raise LabError(f"LUN file {path}: {error.strerror}") from error
    finally:
        os.close(fd)


def attach_loop(path, *words):
    """Attaches a loop device with direct I/O and 512-byte blocks; returns its name. words: further
    ones for losetup, as which part of the file."""
    result = subprocess.run(["losetup", "--find", "--show", "--direct-io=on", *words, path],
                            capture_output=True, text=True)
    if result.returncode != 0:
        raise LabError(f"losetup {path}: {result.stderr.strip()}")
    return result.stdout.strip()


def loops_of(path):
    """The loop devices attached to a file, including those that were not recorded."""
    result = subprocess.run(["losetup", "--associated", path, "--output", "NAME", "--noheadings"],
                            capture_output=True, text=True)
    return result.stdout.split()


def detach_loop(device):
    result = subprocess.run(["losetup", "--detach", device], capture_output=True, text=True)
    if result.returncode != 0:
        raise LabError(f"losetup --detach {device}: {result.stderr.strip()}")


def remove(path):
    """Detaches the file's loop devices and deletes it; succeeds when it is gone."""
    if not os.path.exists(path):
        return
    for device in loops_of(path):
        detach_loop(device)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
