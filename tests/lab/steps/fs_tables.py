"""The tables of the filesystem u04 in etcd, and what `fs check` finds in them."""

import json
import struct

from lab_case import check
from steps.exit_status import FINDINGS
from symlab import product

FILESYSTEM = "u04"
GROUP_BLOCKS = 4096  # of a volume of 2 GiB (format_group_blocks)


def prefix(bench, table):
    """Of one table of u04's keys (docs/formats/keys.md)."""
    for filesystem in bench.symnas.json("fs", "ls")["filesystems"]:
        if filesystem["name"] == FILESYSTEM:
            return b"f/" + struct.pack(">I", filesystem["fsid"]) + table
    raise AssertionError(f"there is no filesystem {FILESYSTEM}")


def findings(bench):
    try:
        return json.loads(bench.symnas("fs", "check", FILESYSTEM, "-o", "json"))["findings"]
    except product.CommandFailed as failed:
        check(failed.status == FINDINGS, f"fs check ended with {failed.status}: {failed.output}")
        return json.loads(failed.output)["findings"]
