"""The client VM: its programs, its mounts, and a second NFS client in it.

The second client is a network namespace with an address and a host name of its own: to servers it
is another machine, and cases reach both from one process.

Thread class: confined to one thread.
"""

import io
import os
import shlex

import programs
import vm_image
from symlab import product
from symlab.cluster import NFS_BRIDGE
from symlab.errors import LabError
from symlab.wait import SLOWER
from uml_vm import UmlVm
from vm_disk import disk_of

ADDRESS = "10.0.0.206/24"
SECOND_ADDRESS = "10.0.0.207/24"
PROGRAM = "guest_conformance"
OPTIONS = {"v3": "vers=3,lock", "v4.0": "vers=4.0", "v4.1": "vers=4.1", "v4.2": "vers=4.2"}
UNCACHED = "actimeo=0,lookupcache=none"  # the second client shows what the server says now
SCRIPT_MAX_S = 60.0
REMOVAL_MAX_S = 300.0
# All but the directory of 100,000 names, which would take longer than the cases.
REMOVAL = r"find /mnt/{version} -mindepth 1 -maxdepth 1 ! -name many -exec rm -rf {{}} \;"

UNPACK_PROGRAMS = "tar xf {device} -C /"
UNPACK = "cd /run && tar xf /dev/vda && guest_statd"
SECOND_CLIENT = """
insmod /run/macvlan.ko && ip link add link eth0 name second type macvlan || exit 1
unshare -n -u sleep 86400 &
pid=$!
echo $pid > /run/second.pid
sleep 1
ip link set second netns $pid || exit 1
nsenter -t $pid -n -u sh -ec '
  hostname second
  ip link set lo up
  ip addr add {address} dev second
  ip link set second up'
"""
IN_SECOND = "nsenter -t $(cat /run/second.pid) -n -u"
CASES = "cd / && /run/{program} {version} {here} {words}"
UMOUNT = """
for point in $(cut -d' ' -f2 /proc/mounts | grep ^/mnt/); do umount $point || exit 1; done
"""


class Guest:
    def __init__(self, site, two_clients, secured=None):
        """secured: a secured.Secured, for mounts with Kerberos."""
        self.site = site
        self.secured = secured
        self.two_clients = two_clients
        self.has_programs = two_clients or bool(secured)
        self.mounted = set()
        self.vm = UmlVm("guest", site.lab.vm_root())
        self.vm.start(ADDRESS, NFS_BRIDGE, site.lab.hub_netns, cgroup=site.lab.cgroup(),
                      disks=self._disks(site.lab.directory))
        if secured:
            self.run(secured.start_script("/dev/vdb"))
        self.run(UNPACK)
        if self.has_programs:  # on the last disk
            self.run(UNPACK_PROGRAMS.format(device="/dev/vdc" if secured else "/dev/vdb"))
        if two_clients:
            self.run(SECOND_CLIENT.format(address=SECOND_ADDRESS))

    def _disks(self, folder):
        files = [product.program(PROGRAM)]
        if self.two_clients:
            modules = vm_image.uml_kernel().modules_dir
            files += vm_image.modules_in_order(modules, ["macvlan"])

        def add(tar):
            for file in files:
                tar.add(file, os.path.basename(file))
        disks = [disk_of(folder, "guest.tar", add)]
        if self.secured:
            disks.append(self.secured.disk(ADDRESS.split("/", maxsplit=1)[0]))
        if self.has_programs:
            disks.append(disk_of(folder, "programs.tar", lambda tar: programs.add_programs(
                tar, compilers=self.two_clients)))
        return disks

    def run(self, script):
        """Runs a script, which must end well."""
        result = self.vm.run(script, SCRIPT_MAX_S * SLOWER)
        if result.status != 0:
            raise LabError(f"guest: ended with {result.status}: {result.output}of {script}")
        return result.output

    def mount(self, version):
        """Mounts it, once; returns the directory for the cases of a version at either client."""
        source = f"{self.site.server}:{self.site.path(version)}"
        here, there = f"/mnt/{version}", f"/mnt/{version}-second"
        places = f"{here}/{version}", f"{there}/{version}"
        if version in self.mounted:
            return places
        self.mounted.add(version)
        more = f",sec={self.secured.flavor}" if self.secured else ""
        self.run(f"mkdir -p {here} && nfsmount -o {OPTIONS[version]}{more} {source} {here}")
        if self.two_clients:
            options = OPTIONS[version].replace(",lock", "")
            self.run(f"mkdir -p {there} && {IN_SECOND} nfsmount -o {options},{UNCACHED} "
                     f"{source} {there}")
        return places

    def cases(self, version, words, timeout_s):
        """Yields the lines of the cases of a version."""
        here, there = self.mount(version)
        if self.two_clients:
            words = ["--there", there, *words]
        self.run(f"mkdir -p {here}")
        job = self.vm.start_job(CASES.format(program=PROGRAM, version=version, here=here,
                                             words=shlex.join(words)))
        ended = yield from self._lines_of(job, timeout_s)
        if not ended:
            yield f"not ok {PROGRAM}: ended with {job.status}"

    def _lines_of(self, job, timeout_s):
        """Yields the lines of a job; returns whether it said that it had come to its end."""
        told = 0
        waited_s = 0
        while job.status is None and waited_s < timeout_s:
            before = len(job.output)
            job.poll(1.0)
            waited_s += len(job.output) == before
            lines = io.BytesIO(job.output[told:])
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                told += len(line)
                text = line.decode(errors="replace").rstrip()
                if text.startswith("end "):
                    return True
                yield text
        job.kill()
        return False

    def clear(self):
        """Removes what the cases have left; the line of a verdict."""
        for version in self.mounted:
            result = self.vm.run(REMOVAL.format(version=version), REMOVAL_MAX_S * SLOWER)
            if result.status != 0:
                return f"not ok rm_of_all: {' '.join(result.output.split())}"
        return "ok rm_of_all"

    def umount(self):
        self.run(UMOUNT)

    def stop(self):
        self.vm.stop()
