"""What a lab test is made of: the decorator, the bench it works on, checks.

A test is a function in cases/SUBJECT/ with @lab_test; its name is the function's, its summary the
first line of its text. Tests of one kind of lab (labs.py) share one as long as they leave it
healthy, in whatever order; a failure discards it, so that the next test begins with a new one.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

import api_client
import labs
from reports import Reports
from symlab import processes, product
from symlab.cluster import Lab
from symlab.service import (VNFS, HeadService, NetworksService, Service, SharedService,
                            create_head_services, finish_tool, last_json, wait_for_line)
from symlab.wait import eventually

LUN_COUNT = 4
LUN_SIZE = "512M"
LOG_TAIL_BYTES = 2500
STOP_DEADLINE_S = 150.0
CHECK_DEADLINE_S = 120.0

_tests = []


class Skip(Exception):
    """The machine cannot give what the test needs; the text says what."""


class LabTest:
    def __init__(self, function, shows, kind, soak=False, ends_lab=False):
        self.function = function
        self.name = function.__name__
        self.summary = (function.__doc__ or "").strip().splitlines()[0]
        self.shows = shows
        self.kind = kind
        self.soak = soak
        self.ends_lab = ends_lab
        # "locks/waiting" of cases.locks.waiting
        self.place = "/".join(function.__module__.split(".")[1:])
        self.subject = self.place.split("/", maxsplit=1)[0]


def lab_test(*shows, lab=labs.ONE_HEAD, soak=False, ends_lab=False):
    """Marks a test. shows: what holds if it passes: invariants ("INV-7") and files below docs/ that
    promise it. lab: what it runs on. soak: only with `run --soak`. ends_lab: it takes the lab down,
    so it comes last of those that share it.
    """
    def mark(function):
        _tests.append(LabTest(function, shows, lab, soak, ends_lab))
        return function
    return mark


def all_tests():
    return list(_tests)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


class Bench:
    """The shared lab, its service, and what tests do with them."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.lab = Lab(prefix)
        self.service = Service(self.lab)
        self.reports = Reports(product.report_folder())
        self.services = []  # of a lab with several heads, one each
        self.made = None  # or the LabKind that is up
        self.lab.down()  # what an interrupted run has left

    def prepare(self, kind):
        """Has a lab of that kind up and serving."""
        if not kind.served:
            return
        if kind.luns in ("fuse", "reserved") and not os.path.exists("/dev/fuse"):
            raise Skip("this machine has no /dev/fuse")
        if self.made and self.made != kind:
            self.discard()
        if not self.made:
            self.lab.up(kind.heads, max(LUN_COUNT, kind.heads), LUN_SIZE, kind=kind.luns,
                        networks=kind.networks)
            self.made = kind
            if not kind.several_heads:
                self.service.create()
            else:
                service = SharedService if kind.shared else HeadService
                if kind.networks > 1:
                    service = NetworksService
                self.services = create_head_services(self.lab, service, kind.backups)
        if kind.several_heads:
            self.lab.wait_members()
        for service in self.services or [self.service]:
            service.wait_serving()

    def check_filesystems(self):
        """Every test ends with it: nothing is inconsistent, lost or left behind."""
        if not self.made:
            return
        for filesystem in self.symnas.json("fs", "ls")["filesystems"]:
            try:
                self.symnas("fs", "check", filesystem["name"], timeout_s=CHECK_DEADLINE_S)
            except product.CommandFailed as failed:
                raise AssertionError(f"`symnas fs check {filesystem['name']}` after the test "
                                     f"(status {failed.status}):\n{failed.output}") from failed
        # Nor does any head say what is not in the API's document.
        api_client.Api(self.symnas.socket_path).check_documents()

    def new_reports(self):
        """What a sanitizer had to say since the last call (sanitizer/README.md)."""
        found = self.reports.new(self.logs())
        return f"sanitizer reports:\n{found}" if found else ""

    def discard(self):
        self.lab.down()
        self.services = []
        self.made = None

    @property
    def symnas(self):
        return self.lab.symnas()

    def refused(self, code, *args):
        """The CLI call must end with exit status `code` and one line that explains why."""
        try:
            output = self.symnas(*args)
        except product.CommandFailed as failed:
            lines = failed.output.strip().splitlines()
            check(failed.status == code,
                  f"`symnas {' '.join(args)}` ended with {failed.status}, {code} is expected: "
                  + failed.output)
            check(len(lines) == 1 and lines[0].startswith("symnas: "),
                  f"`symnas {' '.join(args)}`: not one line of explanation: {failed.output}")
            return lines[0]
        raise AssertionError(f"`symnas {' '.join(args)}` was accepted: {output}")

    # --- load

    @contextlib.contextmanager
    def load(self, tool, *args, service=None, **where):
        """Runs a client program in the background until the body ends; yields a Load. where: url,
        where (Service.start_tool)."""
        process = (service or self.service).start_tool(tool, *args, "--seconds", "600", **where)
        with load_of(process) as load:
            yield load

    @contextlib.contextmanager
    def load_on_every_head(self, tool, *args):
        """The same client program against every head; yields {head: Load}."""
        with contextlib.ExitStack() as stack:
            yield {service.head: stack.enter_context(self.load(tool, *args, service=service))
                   for service in self.services}

    def let_run(self, seconds):
        """Leaves the load alone for a while: how long a fault lasts is part of the test."""
        time.sleep(seconds)

    @contextlib.contextmanager
    def shell(self, service=None, folder="", url=None):
        """A client that makes one call per line (tests/client/nfs_shell.cc), in `folder`."""
        shell = Shell(service or self.service, folder, url)
        try:
            yield shell
        finally:
            shell.close()

    # --- LUNs (labs.FAULTY_LUNS)

    @contextlib.contextmanager
    def broken_luns(self):
        """Whatever the body breaks is mended afterwards."""
        try:
            yield self.lab.fault
        finally:
            self.lab.fault("heal", "all")

    def lose_power(self, *seed):
        """LUNs, agent and instance lose their power at once; a seed keeps a part of the caches."""
        before = self.service.serving()
        self.lab.fault("power-off", "all")
        self.kill_process("vnfsd.c1n1")
        self.kill_recorded(before)
        self.lab.fault("power-on", "all", *seed)
        self.lab.start_vnfsd("c1n1")
        self.service.wait_serving(other_than=before["pid"])

    def lun_stats(self):
        return [json.loads(line) for line in self.lab.fault("stats", "all").splitlines()]

    # --- processes

    def kill_instance(self):
        """SIGKILLs the serving instance; returns what `symnas status` said of it before."""
        instance = self.service.serving()
        self.kill_recorded(instance)
        return instance

    @staticmethod
    def kill_recorded(instance):
        record = {"pid": instance["pid"], "start_time": processes.start_time(instance["pid"])}
        check(processes.send_signal(record, signal.SIGKILL), "the instance was gone already")

    def last_instance(self, vnfs=VNFS):
        """What the agent recorded of its instance (state.json); works without an agent."""
        head = self.lab.state.data["heads"][0]
        path = os.path.join(head["run_dir"], "vnfs", vnfs, "state.json")
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def signal_process(self, name, number):
        check(processes.send_signal(self.lab.process(name), number), f"{name} is not running")

    def kill_process(self, name):
        self.signal_process(name, signal.SIGKILL)
        check(processes.wait_gone(self.lab.process(name), 10.0), f"{name} survives SIGKILL")

    def logs(self):
        """The logs of our programs."""
        return [os.path.join(directory, name)
                for directory, _, names in os.walk(os.path.join(self.lab.directory, "heads"))
                for name in sorted(names)
                if name.endswith(".log") and not name.startswith("etcd")]

    def keep_logs(self):
        """Copies them, whole, to the build directory; returns where."""
        folder = os.path.join(product.build_dir(), "kept_logs", self.prefix)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for path in self.logs():
            shutil.copy(path, os.path.join(folder, os.path.relpath(path, self.lab.directory)
                                           .replace(os.sep, ".")))
        return folder

    def show_logs(self):
        for path in self.logs():
            with open(path, "rb") as file:
                file.seek(max(0, os.path.getsize(path) - LOG_TAIL_BYTES))
                print(f"--- {os.path.basename(path)}\n{file.read().decode(errors='replace')}",
                      file=sys.stderr)


class Shell:
    """A running nfs_shell. send() and answer() in pairs: a call may be left waiting meanwhile."""

    def __init__(self, service, folder="", url=None):
        url = url or (f"{service.url}/{folder}" if folder else service.url)
        self.process = service.lab.popen_in(
            "client", [product.program("nfs_shell"), "--url", url], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def send(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def answered(self, within_s=0.0):
        """Whether an answer is there."""
        return bool(select.select([self.process.stdout], [], [], within_s)[0])

    def answer(self, within_s=60.0):
        """The next answer; fails when there is none in time."""
        check(self.answered(within_s), f"no answer within {within_s:g} s")
        line = self.process.stdout.readline().strip()
        check(line, "nfs_shell has ended")
        return line

    def __call__(self, *words, within_s=60.0):
        self.send(*words)
        return self.answer(within_s)

    def expect(self, status, *words, within_s=60.0):
        """The call is answered so; returns the whole answer."""
        answer = self(*words, within_s=within_s)
        check(answer.startswith(status + " ") and "differs" not in answer,
              f"`{' '.join(map(str, words))}` is answered {answer}, should be {status}")
        return answer

    def close(self):
        self.process.kill()
        self.process.wait()


class Load:
    """A running client program; `seen` is its JSON line after finish()."""

    def __init__(self, process):
        self.process = process
        self.seen = None

    def finish(self):
        if self.seen is None:
            self.process.send_signal(signal.SIGTERM)
            self.seen = last_json(finish_tool(self.process, STOP_DEADLINE_S))
        return self.seen


@contextlib.contextmanager
def load_of(process):
    """A started client program until the body ends; yields its Load."""
    load = Load(process)
    try:
        wait_for_line(process, "running")
        yield load
        load.finish()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


__all__ = ["Bench", "Load", "Shell", "Skip", "all_tests", "check", "eventually", "lab_test",
           "load_of"]
