"""What a user may do with files that are open, whatever their mode has become."""

import json
import os
import subprocess
import sys

import nfs_wire
from lab_case import check, lab_test

RIGHTS = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs4_rights")
ACCESS, EXIST, SHARE_DENIED, NO_GRACE, OPENMODE = 13, 17, 10015, 10033, 10038  # NFS4ERR_...
OWN_OPENS = {"deny what one does oneself": SHARE_DENIED, "write alone": 0,
             "claim what is open": NO_GRACE, "give up reading": 0}
BEFORE = {"write what was created read-only": 0, "read it": 0, "open it for writing": ACCESS,
          "text": "hi", "cut it": 0, "write no more, after chmod 0": 0,
          "write nevertheless": OPENMODE, "empty what one may only read": ACCESS,
          "text of it": "theirs", "empty what one may only write": 0,
          "read what was created exclusively": 0, "with another verifier": EXIST,
          "read what is kept": 0}
AFTER = {"restarted": True, "text": "kept", "write": 0, "read": 0, "cut": 0}


def differences(seen, wanted):
    return {what: seen.get(what) for what in wanted if seen.get(what) != wanted[what]}


def rights_of_open_files(bench, minor, wanted):
    client = bench.lab.popen_in(
        "client", [sys.executable, RIGHTS, "--url", f"{bench.service.url}/rights{minor}",
                   "--minor", str(minor)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        wrong = differences(json.loads(client.stdout.readline()), wanted)
        check(not wrong, f"v4.{minor}: {wrong}")
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        client.stdin.write("\n")
        client.stdin.flush()
        wrong = differences(json.loads(client.stdout.readline()), AFTER)
        check(not wrong, f"v4.{minor}, after a restart: {wrong}")
    finally:
        client.kill()
        client.communicate()


@lab_test("INV-4", "architecture/shares.md")
def v40_open_checks_what_is_asked_for(bench):
    """NFSv4.0: an open that adds something is checked for that alone, a downgrade for nothing; an
    owner's own open counts for what it adds."""
    rights_of_open_files(bench, 0, BEFORE | OWN_OPENS)


@lab_test("INV-4", "architecture/shares.md")
def v41_open_checks_what_is_asked_for(bench):
    """NFSv4.1: an open that adds something is checked for that alone, a downgrade for nothing."""
    rights_of_open_files(bench, 1, BEFORE)
