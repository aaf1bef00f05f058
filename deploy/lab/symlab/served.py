"""What `lab up` makes of an empty lab: a filesystem on all its LUNs, served by two VNFSs (by one if
there is one head), made with `symnas quickstart` as on any other cluster.
"""

from .product import COMMAND_TIMEOUT_S
from .service import EXPORT

VNFS_MAX = 2
NETWORK = "nfs0=eth1"


def vips_of(lab):
    return [f"10.0.0.{101 + index}"
            for index in range(min(VNFS_MAX, len(lab.state.data["heads"])))]


def quickstart_words(lab):
    """The command's words. The devices are named: the LUN files of a lab hold marks (luns.py), and
    loop devices of others may be beside them."""
    words = ["quickstart", *(lun["path"] for lun in lab.state.data["luns"])]
    for vip in vips_of(lab):
        words += ["--vip", f"{vip}/24"]
    # The clients of a lab are root and own what they make.
    return [*words, "--network", NETWORK, "--name", EXPORT, "--squash", "none"]


def create_service(lab, tell):
    """Makes the service; returns its VIPs. tell: called with each line of what is done."""
    words = quickstart_words(lab)
    tell("symnas " + " ".join([*words, "--commit"]))
    for line in lab.symnas()(*words, "--commit", timeout_s=4 * COMMAND_TIMEOUT_S).splitlines():
        tell("  " + line)
    return vips_of(lab)


def mount_command(vip):
    return f"mount -o vers=4.1 {vip}:/{EXPORT} /mnt"
