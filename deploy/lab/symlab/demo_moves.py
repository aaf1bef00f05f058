"""The demo's second part: three heads serve one filesystem through two VNFSs. One VNFS moves, then
loses its head, under verified load, while shells of a Linux client work in it with locked files.

Thread class: confined to one thread.
"""

import contextlib
import signal
import time

from .cluster import NFS_BRIDGE
from .errors import LabError
from .faults import Faults
from .service import SharedService, finish_tool, last_json, wait_for_line
from .wait import eventually

HEADS = 3
LUN_COUNT = 2
LUN_SIZE = "1536M"
VM_ADDRESS = "10.0.0.202/24"
VM_TIMEOUT_S = 400.0
HEARD_S = 4.0  # heads that have heard each other for this time notice a silence
LOAD_S = 2.0
FAILOVER_S = 60.0
END_S = 120.0
VERSIONS = {"v3": "vers=3,lock", "v41": "vers=4.1"}


class MovingDemo:
    """`step` and `results` are those of the demo; `vm`: a client VM that is not running yet."""

    def __init__(self, lab, vm, step, results):
        self.lab = lab
        self.vm = vm
        self.step = step
        self.results = results
        self.moving, self.other = (SharedService(lab, n, backups=True) for n in (1, 2))

    def run(self):
        self.make_cluster()
        self.boot_client()
        with self.sitting() as jobs, self.load() as tools:
            time.sleep(HEARD_S)
            self.rehost()
            self.crash()
            self.judge(jobs, tools)

    def make_cluster(self):
        with self.step(f"lab: {HEADS} heads, two VNFSs of one filesystem, automatic fencing"):
            self.lab.up(HEADS, LUN_COUNT, LUN_SIZE)
            self.lab.set_fence_kind("power")
            self.lab.set_fencing(automatic=True, cuts="power")
            names = [f"{lun['name']}={lun['path']}" for lun in self.lab.state.data["luns"]]
            self.lab.symnas()("network", "create", "nfs0", "--device", "eth1")
            self.lab.symnas()("lun", "import", *names)
            for service in (self.moving, self.other):
                service.create()
                service.wait_serving()
        print(self.lab.symnas()("vnfs", "status"), end="")

    def in_vm(self, script):
        result = self.vm.run(script, VM_TIMEOUT_S)
        if result.status != 0:
            raise LabError(f"client VM: ended with {result.status}: {result.output[-1500:]}\n"
                           f"of {script}")
        return result.output.strip()

    def boot_client(self):
        with self.step("client VM: the VNFS mounted over vers=3 and vers=4.1, with locks"):
            self.vm.start(VM_ADDRESS, NFS_BRIDGE, self.lab.hub_netns, cgroup=self.lab.cgroup())
            self.in_vm("guest_statd")
            for name, options in VERSIONS.items():
                self.in_vm(f"mkdir -p /mnt/{name} && nfsmount -o {options} "
                           f"{self.moving.vip}:/{self.moving.filesystem} /mnt/{name} "
                           f"&& mkdir /mnt/{name}/{name}")
            self.in_vm(f"mkdir -p /mnt/other && nfsmount -o vers=4.1 "
                       f"{self.other.vip}:/{self.other.filesystem} /mnt/other")

    @contextlib.contextmanager
    def sitting(self):
        """Keeps shells in the mounts, each with an open and locked file."""
        jobs = {}
        try:
            with self.step("two shells sit in the mounts, each with a locked file") as note:
                for name in VERSIONS:
                    jobs[name] = self.vm.start_job(
                        f"cd /mnt/{name}/{name} && touch f && guest_file hold f go locked")
                for name, job in jobs.items():
                    eventually(END_S, f"the {name} shell holds its lock",
                               lambda j=job: j.poll(0.1) is None and b"holding" in j.output)
                self.pids = self.holders()
                note(f"pids {self.pids}")
                self.check_locks()
            yield jobs
        finally:
            for job in jobs.values():
                job.kill()

    def holders(self):
        return " ".join(sorted(self.in_vm("pidof guest_file").split()))

    def check_locks(self):
        """Checks that others are refused, through another VNFS on another head."""
        for name in VERSIONS:
            seen = self.in_vm(f"guest_file try /mnt/other/{name}/f")
            if seen != "refused":
                raise LabError(f"the lock of the {name} shell was {seen} to another")

    @contextlib.contextmanager
    def load(self):
        """Runs verified load through both VNFSs, and records what a client of each sees."""
        tools = {}
        urls = ",".join(service.url for service in (self.moving, self.other))
        try:
            tools["shared"] = self.moving.start_tool("nfs_shared", "--urls", urls, "--workers", "2",
                                                     "--stable", "1", "--seconds", "600")
            for service in (self.moving, self.other):
                tools[service.name] = service.start_tool(
                    "nfs_io", "gaps", "--seconds", "600", "--pause-us", "10000",
                    "--kinds", "read,write")
            for tool in tools.values():
                wait_for_line(tool, "running")
            yield tools
        finally:
            for tool in tools.values():
                tool.kill()
                tool.wait()

    def history(self):
        return self.lab.symnas(self.other.head)("vnfs", "history", self.moving.name, "--steps")

    def show_last(self, what):
        table = self.history()
        last = "WHEN" + table.rsplit("WHEN", 1)[1]
        print(last, end="")
        blackout = last.splitlines()[1].split()[-1]
        self.results.append(f"{what}: {blackout} s without an answer")

    def rehost(self):
        to = self.lab.state.data["heads"][2]["name"]
        with self.step(f"symnas vnfs rehost {self.moving.name} {to}"):
            self.moving.rehost(to)
            time.sleep(LOAD_S)
            self.check_locks()
        self.show_last("planned move")

    def crash(self):
        gone = self.moving.head
        home = self.lab.state.data["heads"][0]["name"]
        with self.step(f"all processes of {gone} are killed: it is missed and fenced") as note:
            Faults(self.lab).kill(gone)
            self.moving.head = home
            eventually(FAILOVER_S, f"{home} serves {self.moving.name}", self.moving.serving)
            note(f"served by {home}")
            time.sleep(LOAD_S)
            self.check_locks()
        self.show_last("head crash")

    def judge(self, jobs, tools):
        with self.step("the shells go on, with their files, folders and locks") as note:
            if self.holders() != self.pids:
                raise LabError(f"pids {self.pids} have become {self.holders()}")
            for name, job in jobs.items():
                self.in_vm(f"touch /mnt/{name}/{name}/go")
                if job.wait(END_S) != 0:
                    raise LabError(f"the {name} shell: {job.output.decode(errors='replace')}")
                said = job.output.decode().split("\n")[1:2]
                if said != [f"one two /mnt/{name}/{name}"]:
                    raise LabError(f"the {name} shell said {said}")
            note("pids, working directories, open files and locks survived both")
        with self.step("what the load saw") as note:
            for tool in tools.values():
                tool.send_signal(signal.SIGTERM)
            seen = {name: last_json(finish_tool(tool, END_S)) for name, tool in tools.items()}
            if seen["shared"]["violations"]:
                raise LabError(f"incoherent: {seen['shared']}")
            note(f"{seen['shared']['operations']} operations verified")
            for service in (self.moving, self.other):
                kinds = seen[service.name]
                if any(kind["errors"] for kind in kinds.values()):
                    raise LabError(f"{service.name}: errors: {kinds}")
                self.results.append(f"{service.name}: longest gap " + ", ".join(
                    f"{kind} {kinds[kind]['longest_gap_ms']:.0f} ms" for kind in kinds))
