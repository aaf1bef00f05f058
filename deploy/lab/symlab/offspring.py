"""Ends what the recorded processes of a lab have started, when the lab is taken down."""

import contextlib
import glob
import json
import os

from . import netns, processes
from .wait import eventually

GONE_S = 20.0


def stop_vms(root):
    """Ends client VMs by their records (tests/client/client_vm.py); their taps go with them, or
    with the namespace of the bridge."""
    for name in os.listdir(root) if os.path.isdir(root) else []:
        with (contextlib.suppress(FileNotFoundError),
              open(os.path.join(root, name, "vm.json"), encoding="utf-8") as file):
            processes.stop(json.load(file), 0)


def stop_instances(directory):
    """Ends instances found by their state.json (docs/operations/configuration.md)."""
    for path in glob.glob(os.path.join(directory, "heads", "*", "run", "vnfs", "*", "state.json")):
        with contextlib.suppress(OSError, ValueError, KeyError):
            with open(path, encoding="utf-8") as file:
                state = json.load(file)
            processes.stop({"pid": state["pid"], "start_time": state["start_ticks"],
                            "argv": [path]}, 0)


def kill(prefix, cgroup, namespaces):
    """Ends the offspring of the lab's processes, found by its cgroup and its namespaces."""
    def none_left():
        pids = set(processes.cgroup_members(cgroup))
        pids |= set(netns.processes_inside(namespaces))
        pids.discard(os.getpid())
        processes.kill_pids(sorted(pids))
        return not pids
    eventually(GONE_S, f"the last processes of lab {prefix} end", none_left)
