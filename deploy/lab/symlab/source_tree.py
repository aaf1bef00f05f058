"""A real source tree for clients to unpack: most of symnas' own."""

import hashlib
import os
import tarfile

from . import product

FOLDERS = ("common", "cvm", "deploy", "docs", "fsal_cluster", "ha")
BLOCK_BYTES = 512


class SourceTree:
    """A tarball of the tree and, for the comparison, the list of its contents."""

    def __init__(self, directory):
        """Writes tree.tar and manifest.sha256 into `directory`, which can be the disks of a client
        VM: both end with zeros up to a whole block."""
        self.tar_path = os.path.join(directory, "tree.tar")
        self.manifest_path = os.path.join(directory, "manifest.sha256")
        self.file_count = 0
        self.total_bytes = 0
        with (tarfile.open(self.tar_path, "w", format=tarfile.GNU_FORMAT) as tar,
              open(self.manifest_path, "w", encoding="utf-8") as manifest):
            for folder in FOLDERS:
                self._append(tar, manifest, folder)
            manifest.write("\0" * (-manifest.tell() % BLOCK_BYTES))

    def _append(self, tar, manifest, folder):
        for path, folders, names in os.walk(os.path.join(product.REPO, folder)):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            tar.add(path, os.path.relpath(path, product.REPO), recursive=False)
            for name in sorted(names):
                file = os.path.join(path, name)
                short = os.path.relpath(file, product.REPO)
                tar.add(file, short)
                with open(file, "rb") as opened:
                    data = opened.read()
                manifest.write(f"{hashlib.sha256(data).hexdigest()}  {short}\n")
                self.file_count += 1
                self.total_bytes += len(data)
