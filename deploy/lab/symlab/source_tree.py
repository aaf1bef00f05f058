"""A real source tree for clients to unpack: ganesha and ntirpc sources, several times over.

The pinned tarballs are kept in the cache; a run that finds them there needs no network.
"""

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile

from . import product
from .errors import LabError

# ganesha's 951 files in each, ntirpc's 256 in the first: 5,011 files.
COPIES = ("copy1", "copy2", "copy3", "copy4", "copy5")
BLOCK_BYTES = 512
# These words come from deploy/setup: what is fetched, from where, and its checksums are written
# only there.
_FETCH = """
set -euo pipefail
die() { echo "$*" >&2; exit 1; }
. "$1/pins.sh"
. "$1/apt.sh"
cd "$2"
private_apt_init "$PWD/apt" "$pinned_suite"
private_apt_get -q source --download-only --tar-only "$ganesha_source" "$ntirpc_source"
verify_sha256 "$ganesha_tarball" "$ganesha_sha256"
verify_sha256 "$ntirpc_tarball" "$ntirpc_sha256"
"""


def tarballs():
    """Paths of the source tarballs, which are fetched into the cache when they are not there."""
    directory = os.path.join(product.cache_dir(), "sources")
    found = _tarballs_in(directory)
    if len(found) < 2:
        os.makedirs(directory, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory) as work:
            setup = os.path.join(product.REPO, "deploy", "setup")
            result = subprocess.run(["bash", "-c", _FETCH, "fetch", setup, work],
                                    capture_output=True, text=True)
            if result.returncode != 0:
                raise LabError(f"source tarballs: {result.stderr.strip()}")
            for path in _tarballs_in(work):
                shutil.move(path, directory)
        found = _tarballs_in(directory)
    return found


def _tarballs_in(directory):
    if not os.path.isdir(directory):
        return []
    return sorted(os.path.join(directory, name) for name in os.listdir(directory)
                  if name.endswith(".orig.tar.gz"))


class SourceTree:
    """An uncompressed tarball of the tree and, for the comparison, the list of its contents."""

    def __init__(self, directory):
        """Writes tree.tar and manifest.sha256 into `directory`, which can be the disks of a client
        VM: the manifest ends with zeros up to a whole block."""
        self.tar_path = os.path.join(directory, "tree.tar")
        self.manifest_path = os.path.join(directory, "manifest.sha256")
        self.file_count = 0
        self.total_bytes = 0
        lines = []
        links = []
        with tarfile.open(self.tar_path, "w", format=tarfile.GNU_FORMAT) as target:
            for copy in COPIES:
                directory = tarfile.TarInfo(copy)  # so that a copy can be unpacked by its name
                directory.type = tarfile.DIRTYPE
                directory.mode = 0o755
                target.addfile(directory)
                for path in tarballs()[:None if copy == COPIES[0] else 1]:
                    self._append(target, path, copy, lines, links)
        self.symlinks = sorted(links)
        with open(self.manifest_path, "w", encoding="utf-8") as file:
            file.writelines(sorted(lines, key=lambda line: line[66:]))
            file.write("\0" * (-file.tell() % BLOCK_BYTES))

    def _append(self, target, path, copy, lines, links):
        with tarfile.open(path) as source:
            for member in source:
                data = source.extractfile(member).read() if member.isreg() else None
                member.name = f"{copy}/{member.name}"
                if member.islnk():
                    member.linkname = f"{copy}/{member.linkname}"
                if member.issym():
                    links.append((member.name, member.linkname))
                if data is None:
                    target.addfile(member)
                    continue
                target.addfile(member, io.BytesIO(data))
                self.file_count += 1
                self.total_bytes += len(data)
                lines.append(f"{hashlib.sha256(data).hexdigest()}  {member.name}\n")
