"""Access control lists: one of each file, by NFSv3 and NFSv4, on all heads."""

import json
import os
import subprocess
import sys

import labs
import nfs_wire
from lab_case import check, lab_test

VIEWS = os.path.join(os.path.dirname(nfs_wire.__file__), "acl_views")
ACCESS, INVAL, FBIG, ATTRNOTSUPP, BADOWNER = 13, 22, 27, 10032, 10039
READ_WRITE = 7  # READ_DATA, WRITE_DATA and APPEND_DATA
NFS3 = {"plain": True, "before": [ACCESS, ACCESS], "set by v3": 0, "read by v3": True,
        "mode": "0o660", "after": [0, ACCESS], "chmod": 0, "after chmod": ACCESS,
        "no posix acl": INVAL, "default": 0, "only access": 0, "default is kept": True,
        "create": [0, ACCESS], "handed on": True, "search": ACCESS}
NFS4 = {"mode by v4": "0o660", "friend by v4": READ_WRITE, "friend after chmod": 1, "set by v4": 0,
        "mode of it": "0o766", "by v3": [4], "after v4": [ACCESS, 0], "unknown name": BADOWNER,
        "empty name": BADOWNER, "audit": ATTRNOTSUPP, "too large": FBIG, "largest": 0,
        "inherited by v4": True, "inherited": READ_WRITE, "inherited mode": "0o660"}


def views(bench, url, *options):
    client = bench.lab.popen_in("client", [sys.executable, VIEWS, "--url", url, *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, errors = client.communicate(timeout=120.0)
    check(client.returncode == 0, f"acl_views: {errors}")
    return json.loads(output)


def compare(seen, wanted):
    wrong = {what: seen.get(what) for what in wanted if seen.get(what) != wanted[what]}
    check(not wrong, f"{wrong}")


@lab_test("decisions/0017-one-acl-and-the-mode.md")
def acl_over_nfsv3(bench):
    """POSIX ACLs by NFSACL: set, shown, obeyed, inherited, and in step with chmod."""
    compare(views(bench, bench.service.url), NFS3)


@lab_test("decisions/0017-one-acl-and-the-mode.md")
def acl_over_nfsv4(bench):
    """The same ACLs by NFSv4.0, 4.1 and 4.2; what cannot be kept is refused as RFC 8881 has it."""
    for minor in "012":
        compare(views(bench, bench.service.url, "--minor", minor), NFS4)


@lab_test("architecture/plugin.md")
def nfsacl_garbage_is_refused(bench):
    """SETACLs that lie about their length harm nobody."""
    before = bench.service.serving()["pid"]
    compare(views(bench, bench.service.url), {"garbage": "refused"})
    check(bench.service.serving()["pid"] == before, "the instance has crashed")


@lab_test("INV-4", "decisions/0017-one-acl-and-the-mode.md", lab=labs.ONE_FILESYSTEM)
def acl_is_enforced_on_all_heads(bench):
    """What is set through one head holds at once through another one."""
    first, second = bench.services[:2]
    seen = views(bench, first.url, "--other", second.vip)
    compare(seen, NFS3)
    compare(seen, NFS4)
