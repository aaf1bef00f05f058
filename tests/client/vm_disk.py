"""A tar as a disk of a client VM: how programs come into it. Pure but for the file it writes."""

import os
import tarfile

from uml_vm import BLOCK_BYTES


def disk_of(folder, name, add):
    """A tar as a disk of whole blocks, to which add(tar) has added its files; returns its path."""
    path = os.path.join(folder, name)
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        add(tar)
    size = os.path.getsize(path)
    os.truncate(path, size + -size % BLOCK_BYTES)
    return path
