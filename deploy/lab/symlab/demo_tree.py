"""The demo's first part: a source tree through two heads, and a server that is killed under writes.

Thread class: confined to one thread.
"""

import contextlib
import signal
import time

from .demo_cluster import GAP_NOTED_MS, VM_TIMEOUT_S, LinuxGaps
from .demo_report import gaps, seconds
from .errors import LabError
from .processes import send_signal, start_time
from .service import finish_tool, last_json, wait_for_line
from .source_tree import FOLDERS, SourceTree

LOAD_BEFORE_KILL_S = 2.0  # the load is the point, not a wait
LOAD_AFTER_KILL_S = 1.0
VM_FILE_MIB = 256
REFUSED_WAITS_MS = 3000.0  # before Linux tries again

MANIFEST = "tr -d '\\0' < /dev/vdb > /tmp/manifest"


def unpack(mount, directory):
    """A script that unpacks the tree, with one tar for each of its folders, all in parallel."""
    return f"""
mkdir -p {mount}/{directory} && cd {mount}/{directory} || exit 1
for folder in {" ".join(FOLDERS)}; do tar xomf /dev/vda $folder & pids="$pids $!"; done
for pid in $pids; do wait $pid || exit 1; done
sync -f . 2>/dev/null || sync
"""


def compare(mount, directory):
    """A script that compares every file's SHA-256 and the number of files, and prints that
    number."""
    return f"""
echo 3 > /proc/sys/vm/drop_caches
cd {mount}/{directory} || exit 1
sha256sum -c /tmp/manifest > /tmp/result 2>&1 || {{ grep -v ': OK$' /tmp/result | head; exit 1; }}
found=$(find . -type f | wc -l)
wanted=$(wc -l < /tmp/manifest)
[ $found = $wanted ] || {{ echo "$found files, $wanted are expected"; exit 1; }}
echo $found
"""


class TreeDemo:
    """Uses a DemoCluster whose client boots with disks()."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.report = cluster.report
        self.tree = SourceTree(cluster.lab.directory)
        self.report.fact(f"a disk for the client has {self.tree.file_count} files of symnas' own "
                         f"source tree, {self.tree.total_bytes / (1 << 20):.1f} MiB")

    def disks(self):
        return [self.tree.tar_path, self.tree.manifest_path]

    def both_ways(self):
        fact, in_vm = self.report.fact, self.cluster.in_vm
        first, second = self.cluster.moving.home, self.cluster.other.home
        files = self.tree.file_count
        in_vm(MANIFEST)
        in_vm(unpack("/mnt/v41", "tree"))
        fact(f"{files} files unpacked over NFSv4.1 through head {first}")
        count = int(in_vm(compare("/mnt/other3", "tree")))
        fact(f"{count} files read over NFSv3 through head {second}: every SHA-256 is right")
        in_vm(unpack("/mnt/other3", "other"))
        fact(f"{files} files unpacked over NFSv3 through head {second}")
        again = int(in_vm(compare("/mnt/v41", "other")))
        fact(f"{again} files read over NFSv4.1 through head {first}: every SHA-256 is right")
        self.report.proved(
            "Two heads serve one filesystem, coherently, over NFSv3 and v4.1",
            f"{count + again} files written through one head and read through the other, both "
            "ways: no difference",
            "active/passive pair: one head at a time serves a filesystem")

    def kill_under_load(self):
        service = self.cluster.moving
        before = service.serving()
        with contextlib.ExitStack() as stack:
            linux = stack.enter_context(LinuxGaps(self.cluster))
            job = self.cluster.vm.start_job(unpack("/mnt/v41", "again"))
            stack.callback(job.kill)
            native = self._start(stack, "nfs_io", "gaps", "--kinds", "read,write,create")
            writers = self._start(stack, "nfs_crash", "--workers", "2", "--pause-us", "2000")
            time.sleep(LOAD_BEFORE_KILL_S)
            self.report.fact(f"load runs through {service.name}: Linux unpacks the tree again, "
                             "native programs note what is acknowledged")
            linux.longest()
            killed = {"pid": before["pid"], "start_time": start_time(before["pid"])}
            if not send_signal(killed, signal.SIGKILL):
                raise LabError(f"instance {before['pid']} was gone before it was killed")
            after = service.wait_serving(other_than=before["pid"])
            self.report.fact(f"SIGKILL for the server of {service.name}: process {before['pid']} "
                             f"ended, process {after['pid']} serves")
            saw = linux.longest()
            time.sleep(LOAD_AFTER_KILL_S)
            native_ms, operations = self._finish(native, writers)
            if job.wait(VM_TIMEOUT_S) != 0:
                raise LabError(f"unpacking in the client ended with {job.status}: "
                               + job.output.decode(errors="replace")[-1500:])
            self.report.fact(f"{operations} acknowledged operations verified; Linux unpacked the "
                             "tree to its end")
        self._compare_again(saw, native_ms, operations)

    def _start(self, stack, *words):
        """A tool that runs until it is told to end, and has begun."""
        tool = self.cluster.moving.start_tool(*words, "--seconds", "600")
        stack.callback(tool.wait)
        stack.callback(tool.kill)
        wait_for_line(tool, "running")
        return tool

    @staticmethod
    def _finish(native, writers):
        """Ends the load; returns the longest gap in ms, and how many operations were verified."""
        for tool in (native, writers):
            tool.send_signal(signal.SIGTERM)
        seen = last_json(finish_tool(native, 60.0))
        crash = last_json(finish_tool(writers, 120.0))
        if not all(kind["reconnects"] for kind in seen.values()) or crash["reconnects"] == 0:
            raise LabError("the clients did not notice the kill: was it the right process?")
        return max(kind["longest_gap_ms"] for kind in seen.values()), crash["operations"]

    def _compare_again(self, saw, native_ms, operations):
        count = sum(int(self.cluster.in_vm(compare(mount, directory)))
                    for mount, directory in (("/mnt/v3", "tree"), ("/mnt/other41", "again")))
        self.report.fact(f"{count} files compared, of before the kill and of then: every SHA-256 "
                         "is right")
        waited = max(saw.values()) >= REFUSED_WAITS_MS
        self.report.proved(
            "A server killed under writes loses nothing that was acknowledged",
            f"{operations} operations verified, {count} files compared. Longest gap: native v3 "
            f"{seconds(native_ms)}; Linux {gaps(saw, GAP_NOTED_MS)}"
            + (" (it waits 3 s when a connection is refused)" if waited else ""),
            "none measured")

    def throughput(self):
        service = self.cluster.moving
        rates = last_json(service.run_tool("nfs_io", "throughput", "--size", "1G"))
        native = f"write {rates['write_mib_s']:.0f}, read {rates['read_mib_s']:.0f} MiB/s"
        self.report.fact(f"1 GiB in sequence, a program with libnfs: {native}")
        a, b, c, d = map(float, self.cluster.in_vm(f"""
now() {{ cut -d' ' -f1 /proc/uptime; }}
a=$(now)
dd if=/dev/zero of=/mnt/v41/big bs=1M count={VM_FILE_MIB} conv=fsync 2>/dev/null || exit 1
b=$(now); echo 3 > /proc/sys/vm/drop_caches; c=$(now)
dd if=/mnt/v41/big of=/dev/null bs=1M 2>/dev/null || exit 1
d=$(now); rm /mnt/v41/big; echo $a $b $c $d""").split())
        linux = f"write {VM_FILE_MIB / (b - a):.0f}, read {VM_FILE_MIB / (d - c):.0f} MiB/s"
        self.report.fact(f"{VM_FILE_MIB} MiB in sequence, Linux over NFSv4.1: {linux}")
        self.report.proved(
            "Speed of one head, in sequence",
            f"a program with libnfs: {native}; Linux in its small machine: {linux}",
            "ganesha on ext4, in turns with symnas: 0.78 of its speed, 0.70 to 0.99 with one "
            "stream [1]")
