"""Two client VMs beside a lab of several heads: the real Linux NFS client on one filesystem.

The VMs boot with the first case that needs them and stay until the lab is taken down, which every
failure does. A case mounts what it needs, works in a folder of its own, and leaves neither.

Thread class: confined to one thread.
"""

import contextlib
import os
import shutil

from lab_case import Skip, check
from qemu_vm import QemuVm
from symlab import client_networks
from symlab.cluster import NFS_BRIDGE
from symlab.wait import SLOWER

NAMES = ("vm1", "vm2")
FIRST_ADDRESS = 202  # in 10.0.0.0/24
TIMEOUT_S = 120.0
MOUNT_S = 60.0
# Of the two kinds the one whose kernel can trace (ftrace): locks/waiting and torture read that.
Vm = QemuVm
UNCACHED = "actimeo=0"

# The mount is tried again: a lazily ended job may hold it for a moment.
UMOUNT = """
cd /
for point in $(cut -d' ' -f2 /proc/mounts | grep ^/mnt/); do
  for try in 1 2 3 4 5; do umount $point 2>/dev/null && continue 2; sleep 1; done
  echo "$point is in use"; exit 1
done
rm -rf /tmp/*
"""


class Client:
    """A running client VM; `folder` is where the case works, below each of its mounts."""

    def __init__(self, vm, folder):
        self.vm = vm
        self.folder = folder

    def mount(self, name, service, options, vip=None):
        """Mounts what the service exports; returns the path of the case's folder there."""
        vip = vip or service.vip
        server = f"[{vip}]" if ":" in vip else vip
        self.run(f"mkdir -p /mnt/{name}; nfsmount -o {options} "
                 f"{server}:/{service.filesystem} /mnt/{name}", MOUNT_S)
        return f"/mnt/{name}/{self.folder}"

    def run(self, script, timeout_s=TIMEOUT_S):
        """Runs a script, which must end well; returns its output, stripped."""
        result = self.vm.run(script, timeout_s * SLOWER)
        check(result.status == 0, f"{self.vm.name}: ended with {result.status}: {result.output}\n"
                                  f"of {script.strip()}")
        return result.output.strip()

    def start(self, script):
        """Starts a script beside others, for finish()."""
        return self.vm.start_job(script)

    def umount(self):
        self.run(UMOUNT)


def output_of(job):
    return job.output.decode(errors="replace").strip()


def finish(jobs, timeout_s=TIMEOUT_S):
    """Waits for {what: job}, all of which must end well; returns {what: output}."""
    try:
        for what, job in jobs.items():
            status = job.wait(timeout_s * SLOWER)
            check(status == 0, f"{what} ended with {status}: {output_of(job)}")
    finally:
        for job in jobs.values():
            job.kill()
    return {what: output_of(job) for what, job in jobs.items()}


def boot(bench, name, address, disks=()):
    """Starts a client VM of the lab, which its `down` ends too."""
    if not shutil.which("qemu-system-x86_64"):
        raise Skip("this machine has no qemu-system-x86_64")
    vm = Vm(name, bench.lab.vm_root())
    if not vm.running():
        addresses = [f"{client_networks.address(1, address)}/24"]
        routers = []
        if bench.lab.state.data["networks"] > 1:
            addresses.append(f"{client_networks.address6(1, address)}/64")
            routers = [client_networks.address(1, client_networks.ROUTER_HOST),
                       client_networks.address6(1, client_networks.ROUTER_HOST)]
        vm.start(addresses, NFS_BRIDGE, bench.lab.hub_netns, routers, disks,
                 cgroup=bench.lab.cgroup())
    return vm


@contextlib.contextmanager
def kernel_clients(bench, folder):
    """Yields two clients in an empty folder; what they hold and the folder are gone after it."""
    clients = [Client(boot(bench, name, FIRST_ADDRESS + at), folder)
               for at, name in enumerate(NAMES)]
    first = clients[0]
    for client in clients:
        client.umount()
    first.run(f"mkdir {first.mount('folder', bench.services[0], 'vers=3')}")
    yield clients
    first.run(f"rm -rf {os.path.join('/mnt/folder', folder)}")
    for client in clients:
        client.umount()
