"""The Linux NFS client, in a VM, with every version of NFS."""

from lab_case import check, lab_test
from qemu_vm import QemuVm
from symlab.cluster import NFS_BRIDGE
from symlab.service import VIP

TIMEOUT_S = 120.0
# Without the client's attribute and name caches each mount shows what the server says now.
MOUNT = f"""
uncached=actimeo=0,lookupcache=none
mkdir -p /mnt/v3 /mnt/v40 /mnt/v41 /mnt/v42
mkdir -p /mnt/plain && guest_statd && mount.nfs {VIP}:/u04 /mnt/plain -o vers=3 || exit 1
umount /mnt/plain
nfsmount -o vers=3,$uncached {VIP}:/u04 /mnt/v3 || exit 1
nfsmount -o vers=4.0,$uncached {VIP}:/u04 /mnt/v40 || exit 1
nfsmount -o vers=4.1,$uncached {VIP}:/u04 /mnt/v41 || exit 1
nfsmount -o vers=4.2,$uncached {VIP}:/u04 /mnt/v42 || exit 1
"""
# Each version writes, the next one reads; names, links, modes and sizes are compared.
CROSS = """
set -e
fail() { echo "$*"; exit 1; }
rm -rf /mnt/v3/vm; mkdir /mnt/v3/vm
for from in v3 v40 v41 v42; do
  d=/mnt/$from/vm/$from; mkdir $d
  dd if=/dev/urandom of=$d/data bs=1000 count=700 2>/dev/null
  ln $d/data $d/hard; ln -s data $d/soft; chmod 640 $d/data; mkfifo $d/fifo
  for i in $(seq 1 200); do : > $d/n$i; done
  sync
  for to in v3 v40 v41 v42; do
    t=/mnt/$to/vm/$from
    cmp $d/data $t/hard || fail "$from -> $to: data"
    [ "$(readlink $t/soft)" = data ] || fail "$from -> $to: symlink"
    [ "$(stat -c %a:%h:%s $t/data)" = 640:2:700000 ] || fail "$from -> $to: $(stat $t/data)"
    [ -p $t/fifo ] || fail "$from -> $to: fifo"
    [ "$(ls $t | wc -l)" = 204 ] || fail "$from -> $to: $(ls $t | wc -l) names"
  done
  mv $d/data $d/moved; rm $d/n1; truncate -s 10 $d/moved
done
[ "$(stat -c %s /mnt/v3/vm/v41/moved)" = 10 ] || fail "truncate"
rm -rf /mnt/v41/vm
[ ! -e /mnt/v3/vm ] || fail "rm -rf left something"
"""
WRITER = """
for i in $(seq 1 60); do
  dd if=/dev/zero bs=64k count=4 conv=fsync of=$1/survive.$i 2>/dev/null || exit 1
  echo $i
done
"""


@lab_test("architecture/plugin.md")
def kernel_client_all_versions(bench):
    """Linux mounts v3 to v4.2; each sees what the others did; writes survive a kill."""
    vm = QemuVm("vm1", bench.lab.vm_root())
    vm.stop()
    vm.start("10.0.0.202/24", NFS_BRIDGE, bench.lab.hub_netns, cgroup=bench.lab.cgroup())
    try:
        for script, what in ((MOUNT, "mounting"), (CROSS, "comparing")):
            result = vm.run(script, TIMEOUT_S)
            check(result.status == 0, f"{what} ended with {result.status}: {result.output}")
        jobs = [vm.start_job(f"set -- /mnt/{version}; mkdir -p $1/w; set -- $1/w" + WRITER)
                for version in ("v3", "v41", "v42")]
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])
        for job in jobs:
            check(job.wait(TIMEOUT_S) == 0, f"a writer ended with {job.status}: {job.output}")
        result = vm.run("ls -l /mnt/v41/w | grep -c ' 262144 '; rm -rf /mnt/v3/w", TIMEOUT_S)
        check(result.output.strip() == "60", f"files written over the kill: {result.output}")
    finally:
        vm.stop()
