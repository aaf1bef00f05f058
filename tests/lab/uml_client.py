"""A client VM of User Mode Linux beside a lab of one head: the real Linux NFS client, up in some
seconds, for as long as the body runs. Thread class: confined to one thread."""

import contextlib

from kernel_clients import Client
from symlab.cluster import NFS_BRIDGE
from symlab.service import EXPORT, VIP
from uml_vm import UmlVm

ADDRESS = "10.0.0.205"
VERSIONS = {"v3": "vers=3", "v40": "vers=4.0", "v41": "vers=4.1", "v42": "vers=4.2"}
# Each mount shows what the server says now.
UNCACHED = "actimeo=0,lookupcache=none"


class UmlClient(Client):
    def mount_all(self, versions=tuple(VERSIONS), more=""):
        """{version: path of the mount}"""
        places = {}
        for version in versions:
            places[version] = f"/mnt/{version}"
            self.run(f"mkdir -p /mnt/{version} && nfsmount -o {VERSIONS[version]},{UNCACHED}{more} "
                     f"{VIP}:/{EXPORT} /mnt/{version}")
        return places

    def told(self, script):
        """The script's output, whether it ends well or not."""
        return self.vm.run(script, 60.0).output.strip()


@contextlib.contextmanager
def uml_client(bench):
    vm = UmlVm("uml1", bench.lab.vm_root())
    vm.stop()
    vm.start(f"{ADDRESS}/24", NFS_BRIDGE, bench.lab.hub_netns, cgroup=bench.lab.cgroup())
    try:
        yield UmlClient(vm, "")
    finally:
        vm.stop()
