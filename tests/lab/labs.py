"""The labs that cases run on. Cases of one kind share a running lab; each leaves it healthy."""

import dataclasses

from symlab.service import NetworksService

HEADS = 4


@dataclasses.dataclass(frozen=True)
class LabKind:
    """What a lab must be. luns: of symlab.luns.KINDS ("fuse": LUNs with faults). With several heads
    each serves a VNFS of its own (bench.services), with a filesystem of its own or, shared, all of
    them the same one. backups: each VNFS may move to every other head; a case leaves each at its
    `home`. networks: so many, and four VIPs in them for each VNFS (which share a filesystem)."""

    name: str
    luns: str = "file"
    heads: int = 1
    shared: bool = False
    backups: bool = False
    networks: int = 1
    served: bool = True  # else the case makes its lab itself

    @property
    def several_heads(self):
        return self.heads > 1


OWN_LAB = LabKind("a lab of its own", served=False)
ONE_HEAD = LabKind("one head")
FAULTY_LUNS = LabKind("one head, LUNs with faults", "fuse")
OWN_LAB_OF_SEVERAL = LabKind("several heads of its own", heads=3, served=False)
OWN_FILESYSTEMS = LabKind("four heads, a filesystem each", "fuse", HEADS)
ONE_FILESYSTEM = LabKind("four heads, one filesystem", "fuse", HEADS, shared=True)
BACKUPS = LabKind("four heads that back each other up", "fuse", HEADS, shared=True, backups=True)
THREE_HEADS = LabKind("three heads that back each other up", "fuse", 3, shared=True, backups=True)
NETWORKS = LabKind("three heads on several networks", "fuse", 3, backups=True,
                   networks=NetworksService.NETWORKS)
RESERVATIONS = LabKind("three heads, LUNs with reservations", "reserved", 3, shared=True,
                       backups=True)

# The order in which `run` takes them. Those of a lab of their own come first: then no other is up.
ORDER = (OWN_LAB, ONE_HEAD, FAULTY_LUNS, OWN_LAB_OF_SEVERAL, OWN_FILESYSTEMS, ONE_FILESYSTEM,
         BACKUPS, THREE_HEADS, NETWORKS, RESERVATIONS)
