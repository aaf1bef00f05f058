"""Several exports of one filesystem on one VNFS."""

from kernel_clients import TIMEOUT_S
from lab_case import check, lab_test
from steps.exports import CLIENTS, another_export, walker
from steps.nfs4_locks import locks
from symlab.cluster import NFS_BRIDGE
from symlab.service import EXPORT, VIP
from symlab.wait import SLOWER
from uml_vm import UmlVm

SECOND = "second"
ROFS, BAD_STATEID = 30, 10025
BOTH = """
set -e
mkdir -p /mnt/one /mnt/two
nfsmount -o vers={version},actimeo=0 {vip}:/u04 /mnt/one
nfsmount -o vers={version},actimeo=0 {vip}:/second /mnt/two
echo first > /mnt/one/both
exec 3<>/mnt/one/both
read text <&3; [ "$text" = first ]
exec 4<>/mnt/two/both
read text <&4; [ "$text" = first ]
echo more >> /mnt/two/both
exec 3>&-
echo again >&4
exec 4>&-
[ "$(wc -l < /mnt/one/both)" = 2 ]
[ "$(guest_file try /mnt/one/both)" = granted ]
[ "$(guest_file try /mnt/two/both)" = granted ]
rm /mnt/two/both
umount /mnt/one /mnt/two
"""


@lab_test("architecture/plugin.md")
def file_is_open_through_two_exports(bench):
    """One open owner opens a file through two exports: two stateids, each closed by itself; locks
    through both are the owner's; each export's rules hold."""
    with another_export(bench, SECOND, "--squash", "none"), walker(bench) as client:
        client.expect(0, "open", "one", f"/{EXPORT}/both")
        client.expect(0, "write", "one", "text")
        client.expect(0, "open", "two", f"/{SECOND}/both")
        client.expect(0, "read", "two", told="text")
        client.expect(BAD_STATEID, "read-by", "one", "two")
        client.expect(0, "lock", "one", 0, 10)
        client.expect(0, "lock", "two", 5, 10)  # it is its own
        client.expect(0, "lock", "one", 20, 5)
        with locks(bench, "both") as other:
            other.expect("denied", "hold", 0, 1)
            other.expect("denied", "hold", 14, 1)
            client.expect(0, "unlock", "two", 0, 15)
            other.expect("granted", "hold", 0, 15)
            other.expect("denied", "hold", 20, 1)
            client.expect(0, "unlock", "one", 20, 5)
            other.expect("granted", "hold", 20, 1)
            # What is held would be the lock of a dead client, of a file that is removed below.
            other.expect("done", "release", 0, 15)
            other.expect("done", "release", 20, 1)
        client.expect(0, "close", "one")
        client.expect(0, "write", "two", "more")
        bench.symnas("export", "set", SECOND, "--access", "ro")
        client.expect(ROFS, "write", "two", "none")
        client.expect(0, "read", "two", told="more")
        client.expect(0, "open", "one", f"/{EXPORT}/both")
        client.expect(0, "write", "one", "last")
        client.expect(0, "close", "one")
        client.expect(0, "read", "two", told="last")
        client.expect(0, "close", "two")
        client.expect(0, "remove", f"/{EXPORT}/both")


@lab_test("architecture/plugin.md")
def kernel_opens_a_file_through_two_exports(bench):
    """Linux with two exports of one filesystem mounted: a file open through both, every version."""
    vm = UmlVm("vm1", bench.lab.vm_root())
    vm.stop()
    with another_export(bench, SECOND, "--squash", "none", clients=CLIENTS):
        vm.start(["10.0.0.202/24"], NFS_BRIDGE, bench.lab.hub_netns, cgroup=bench.lab.cgroup())
        try:
            for version in ("3", "4.0", "4.1", "4.2"):
                script = BOTH.format(version=version, vip=VIP)
                result = vm.run(script, TIMEOUT_S * SLOWER)
                check(result.status == 0, f"{version} ended with {result.status}: {result.output}")
        finally:
            vm.stop()
