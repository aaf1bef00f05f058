"""How the heads of a lab become members of its cluster, by the product's commands, and their
vnfsd.toml."""

import os
import re

from . import client_networks, product
from .state import root_dir
from .wait import eventually

FENCE_AGENT = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))),
                           "fence_agent")
FENCE_RESERVATIONS = os.path.join(os.path.dirname(FENCE_AGENT), "fence_reservations")
CLUSTER_NAME = "lab"
WITNESS = "witness"
MEMBERS_READY_S = 60.0


def init(lab, head):
    """Makes the cluster, with this head as its first."""
    quota = lab.state.data.get("etcd_quota_bytes")
    product.run([product.program("symnas"), "cluster", "init", "--name", CLUSTER_NAME,
                 "--head", head["name"], "--address", head["mgmt"],
                 "--etcd-dir", head["etcd_dir"], *_options(lab, head),
                 *(["--etcd-quota-bytes", str(quota)] if quota else [])])


def join(lab, head, etcd_member):
    bundle = os.path.join(head["dir"], "invite.bundle")
    words = ["head", "invite", head["name"], "--address", head["mgmt"], "--out", bundle]
    # etcd adds a member only after the others have been connected for five seconds.
    eventually(MEMBERS_READY_S, f"{head['name']} is invited", lambda: [
        lab.symnas()(*words, *(["--etcd-member"] if etcd_member else []))])
    product.run([product.program("symnas"), "head", "join", "--bundle", bundle,
                 "--etcd-dir", head["etcd_dir"], *_options(lab, head)])
    os.unlink(bundle)


def _options(lab, head):
    """The options of `cluster init` and `head join` for this head's vnfsd.toml."""
    options = ["--config-dir", head["config_dir"], "--run-dir", head["run_dir"],
               "--log-dir", head["log_dir"], "--plugin-dir", product.plugin_dir(),
               "--ganesha-prefix", product.ganesha_prefix()]
    options += ["--fence-when-asked"]
    if lab.state.data.get("reserved"):
        options += ["--fence-reservations"]
    else:
        options += ["--fence-agent", FENCE_AGENT, "--fence-option", f"prefix={lab.prefix}",
                    "--fence-option", f"lab_root={root_dir()}"]
    if head["name"] != WITNESS:  # the witness is on the management network only
        host = int(head["name"].removeprefix("c1n"))
        for number in range(1, lab.state.data["networks"] + 1):
            options += ["--probe-address", client_networks.address(number, host)]
    for pattern in lab.state.data["lun_paths"]:
        options += ["--lun-path", os.path.join(head["dir"], pattern)]  # absolute ones stay
    return options


def set_in_config(head, settings):
    """Changes vnfsd.toml; returns whether its content has changed."""
    path = os.path.join(head["config_dir"], "vnfsd.toml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    changed = text
    for setting, value in settings.items():
        changed = re.sub(rf"(?m)^{setting} = .*$", f"{setting} = {value}", changed)
    if changed == text:
        return False
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)
    return True
