"""Which LUNs may be imported, and what is refused with which exit status."""

import os
import shutil
import subprocess

from lab_case import Skip, check, lab_test
from steps.exit_status import EXISTS, NOT_FOUND, NOT_PERMITTED, USAGE
from symlab import luns
from symlab.cluster import Lab


@lab_test("operations/commands.md", "formats/lun_label.md")
def bad_luns_are_refused(bench):
    """A LUN that is too small, missing, in use or carries a filesystem is not imported."""
    bench.refused(NOT_FOUND, "lun", "import", "NONE=/nonexistent/lun.img")
    small = bench.lab.add_lun("small", "1M")
    message = bench.refused(USAGE, "lun", "import", f"SMALL={small}")
    check("small" in message.lower(), f"the message does not say that it is too small: {message}")
    bench.refused(EXISTS, "lun", "release", "LUN0")
    first = bench.lab.state.data["luns"][0]
    bench.refused(EXISTS, "lun", "import", f"AGAIN={first['path']}")
    mke2fs = shutil.which("mke2fs", path="/sbin:/usr/sbin")
    if mke2fs is None:
        raise Skip("no mke2fs on this machine")
    occupied = bench.lab.add_lun("ext4", "64M")
    subprocess.run([mke2fs, "-q", "-F", "-t", "ext4", occupied], check=True)
    message = bench.refused(NOT_PERMITTED, "lun", "import", f"OCCUPIED={occupied}")
    check("ext4" in message, f"the message does not name the filesystem: {message}")


@lab_test("operations/commands.md", "formats/lun_label.md")
def foreign_lun_is_refused(bench):
    """A LUN that belongs to another cluster is refused, unless it is named with --force."""
    other = Lab(bench.prefix[:6] + "b")
    other.down()
    try:
        other.up(1, 1, "64M")
        lun = other.state.data["luns"][0]["path"]
        other.symnas()("lun", "import", f"THEIRS={lun}")
        bench.refused(NOT_PERMITTED, "lun", "import", f"MINE={lun}")
    finally:
        other.down()


@lab_test("operations/commands.md", "formats/lun_label.md")
def two_devices_with_one_label_are_refused(bench):
    """A copy of an imported LUN is no second LUN."""
    original = bench.lab.add_lun("orig", "64M")
    bench.symnas("lun", "import", f"ORIG={original}")
    copy = bench.lab.add_lun("copy", "64M")
    shutil.copyfile(original, copy)
    try:
        bench.refused(EXISTS, "lun", "import", f"COPY={copy}")
    finally:
        luns.remove(copy)
    link = os.path.join(os.path.dirname(original), f"{bench.prefix}-lun-alias.img")
    os.symlink(original, link)
    try:
        bench.refused(EXISTS, "lun", "import", f"ALIAS={link}")
    finally:
        os.unlink(link)
    bench.symnas("lun", "release", "ORIG")
