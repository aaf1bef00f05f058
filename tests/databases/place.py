"""Where the databases run: a lab of three heads, each with a VNFS on LUNs of its own, and what
happens to these VNFSs in the middle of a run.

Thread class: confined to one thread.
"""

import contextlib
import dataclasses
import time

from lab_case import Bench, check, eventually
from labs import LabKind
from steps.cluster import fence_state, owner
from steps.faults import wait_networks_well
from symlab.faults import Faults

KIND = LabKind("three heads, a filesystem each", heads=3, backups=True)
TAKEN_OVER_S = 60.0
BACK_S = 60.0


@dataclasses.dataclass
class Span:
    """When something happened, on the clock that the client VM has, too."""

    what: str
    began: float
    ended: float


class Place:
    def __init__(self, prefix):
        self.bench = Bench(prefix)
        self.spans = []
        self.dead = None
        self.was_cut = False
        self.grown = 0

    @property
    def services(self):
        return self.bench.services

    def prepare(self):
        """Has the lab up, its VNFSs at home, and heads that are fenced when they are silent."""
        made = self.bench.made
        self.bench.prepare(KIND)
        if not made:
            self.bench.lab.set_fence_kind("power")
            self.bench.lab.set_fencing(automatic=True, cuts="power")
            for service in self.services:
                service.wait_serving()
        self.spans = []

    def heads(self):
        return [head["name"] for head in self.bench.lab.state.data["heads"]]

    def move(self, service, head):
        began = time.time()
        service.rehost(head)
        self.spans.append(Span(f"move of {service.name}", began, time.time()))

    def crash(self, head):
        """The head loses its power; returns when backups serve what it has served."""
        hit = [service for service in self.services if service.head == head]
        check(hit and not self.dead, f"nothing is served by {head}")
        began = time.time()
        Faults(self.bench.lab).kill(head)
        self.dead = head
        asked = next(name for name in self.heads() if name != head)
        for service in hit:
            service.head = asked
            service.head = eventually(
                TAKEN_OVER_S, f"a backup serves {service.name}",
                lambda service=service: self._owner_but(service, head))
            service.wait_serving()
        self.spans.append(Span(f"crash of {head}", began, time.time()))

    def _owner_but(self, service, head):
        for vnfs in self.bench.lab.symnas(service.head).json("vnfs", "ls")["vnfs"]:
            if vnfs["name"] == service.name and vnfs["owner"] != head:
                return vnfs["owner"]
        return None

    @contextlib.contextmanager
    def unreachable(self):
        """No packet passes between the heads and the network of their VIPs."""
        faults = Faults(self.bench.lab)
        self.was_cut = True
        began = time.time()
        try:
            for head in self.heads():
                faults.partition(head, "clients")
            yield
        finally:
            for head in self.heads():
                faults.heal(head)
            self.spans.append(Span("all VIPs away", began, time.time()))

    def grow(self, service, size):
        """Appends a LUN to the volume of the service's filesystem."""
        self.grown += 1
        name = f"MORE{self.grown}"
        path = self.bench.lab.add_lun(name.lower(), size)
        self.bench.symnas("lun", "import", f"{name}={path}")
        self.bench.symnas("volume", "grow", f"v{service.number}", "--luns", name)

    def heal(self):
        """The crashed head is back; all VNFSs are at home."""
        if self.dead:
            self.bench.lab.unfence(self.dead)
            eventually(BACK_S, f"{self.dead} is back",
                       lambda: fence_state(self.bench, self.dead) is None)
            self.bench.lab.wait_members()
            self.dead = None
        if self.was_cut:  # no VNFS is moved to a head whose network has just been bad
            wait_networks_well(self.bench)
            self.was_cut = False
        for service in self.services:
            if owner(self.bench, service) != service.home:
                service.head = owner(self.bench, service)
                service.rehost(service.home)

    def check(self):
        """Nothing is inconsistent or left behind in the filesystems."""
        self.bench.check_filesystems()

    def down(self):
        self.bench.discard()
        self.dead = None
        self.was_cut = False
