"""Times and counts as a Linux client shows them."""

import time

from lab_case import check, eventually, lab_test
from symlab.etcd_keys import EtcdKeys
from symlab.service import EXPORT, VIP, VNFS
from symlab.wait import SLOWER
from uml_client import uml_client

RECORDED_S = 10.0 + 2.0 * SLOWER  # kAccessRoundMs
READS, TRANSACTIONS_MAX = 1000, 150  # the heartbeats of a mount and an agent are among these
MOUNT = f"mkdir -p /mnt/at; nfsmount -o vers=4.1,actimeo=0 {VIP}:/{EXPORT} /mnt/at"
FILES = 50
COUNTED_S = 20.0
# The first and the last second that symnas stores, and what of them NFSv3 can say (32 bits).
FIRST, LAST = -9223372036, 9223372035
FAR = {"1600-01-01 00:00": FIRST, "3000-01-01 00:00": LAST}


@lab_test("operations/errors.md")
def times_out_of_range_are_clamped(bench):
    """A file's time before 1678 or after 2262 becomes the nearest one, over every NFSv4."""
    with uml_client(bench) as client:
        for version, place in client.mount_all(("v40", "v41", "v42")).items():
            for wanted, second in FAR.items():
                client.run(f"touch {place}/f && touch -d '{wanted}' {place}/f")
                seen = client.run(f"stat -c '%X %Y' {place}/f")
                check(seen == f"{second} {second}", f"{version}: {wanted} became {seen}")
                client.run(f"rm {place}/f")


@lab_test("architecture/space.md")
def inodes_are_counted(bench):
    """df -i of a Linux client follows what is made and removed; more fit than there are."""
    with uml_client(bench) as client:
        def used(place):
            total, free = map(int, client.run(f"stat -f -c '%c %d' {place}").split())
            check(free > 0, f"{free} of {total} files are free")
            return total - free

        def wait_used(place, count):
            eventually(COUNTED_S, f"{count} files are counted", lambda: used(place) == count)

        for place in client.mount_all(("v3", "v41")).values():
            before = used(place)
            client.run(f"mkdir {place}/many; for i in $(seq {FILES}); do : > {place}/many/$i; done")
            wait_used(place, before + FILES + 1)
            client.run(f"rm -r {place}/many")
            wait_used(place, before)


ATIME = "stat -c %X /mnt/at/read"


def atime_after_a_read(client):
    """The access time after a read over a fresh mount, when it was recorded."""
    client.run(f"umount /mnt/at; {MOUNT}; cat /mnt/at/read > /dev/null")
    time.sleep(RECORDED_S)
    return int(client.run(ATIME))


@lab_test("operations/commands.md", soak=True)
def access_times_follow_relatime(bench):
    """A Linux client reads a file: once after a change its access time moves, and nothing else of
    it; off: not at all. 1000 READs cost etcd hardly a transaction."""
    keys, member = EtcdKeys(bench.lab), bench.lab.state.data["heads"][0]["mgmt"]
    with uml_client(bench) as client:
        client.run(f"{MOUNT}; echo text > /mnt/at/read; sleep 2")
        made, changed = int(client.run(ATIME)), client.run("stat -c %Z.%z /mnt/at/read")
        first = atime_after_a_read(client)
        check(first > made, f"made at {made}, read later: {first}")
        check(client.run("stat -c %Z.%z /mnt/at/read") == changed, "ctime has moved")
        check(atime_after_a_read(client) == first, "a second read has moved it")
        before = keys.requests_served([member])
        client.run(f"for i in $(seq {READS}); do dd if=/mnt/at/read iflag=direct bs=4096 "
                   "status=none; done > /dev/null")
        served = keys.requests_served([member]) - before
        print(f"     {served} requests to etcd beside {READS} READs")
        client.run("echo more >> /mnt/at/read")
        bench.symnas("fs", "set", EXPORT, "--atime", "off")
        bench.symnas("vnfs", "restart", VNFS)
        try:
            check(atime_after_a_read(client) == first, "it is off, and has moved it")
        finally:
            bench.symnas("fs", "set", EXPORT, "--atime", "relatime")
            bench.symnas("vnfs", "restart", VNFS)
        client.run("rm /mnt/at/read; umount /mnt/at")
        check(served < TRANSACTIONS_MAX, f"{served} requests to etcd")
