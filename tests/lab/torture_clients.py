"""What runs while torture breaks things: verified load, kernel clients, holders of locks, judges.

Everything is a context manager that begins a load and, when its body ends well, checks what it saw.
"""

import contextlib
import os
import subprocess
import sys

import nfs_wire
from arbiter import arbiter_at
from kernel_clients import FIRST_ADDRESS, NAMES, Client, boot, output_of
from lab_case import check
from symlab.cluster import CLIENT_ADDRESS
from symlab.errors import LabError
from symlab.service import EXPORT, finish_tool, wait_for_line
from symlab.wait import eventually

PROGRAMS = 4  # each has a connection of every worker to every VNFS
WORKERS = "2"
NOTED_MS = 50
CONSOLE_TAIL = 4000  # what the kernels had to say
BOOT_S = 60.0
MOUNT_S = 300.0  # faults go on meanwhile
STOP_S = 300.0
RECORDED_S = 30.0  # a fault may have the records out of reach
SLOT_BYTES = 4096  # guest_slots.h
TRACED = ("nfs4_xdr_status nfs4_state_mgr nfs4_state_mgr_failed nfs4_open_reclaim "
          "nfs4_open_expired nfs4_get_lock nfs4_set_lock nfs4_unlock nfs4_state_lock_reclaim "
          "nfs4_test_lock_stateid nfs4_test_open_stateid nfs4_exchange_id nfs4_create_session "
          "nfs4_reclaim_complete nfs4_setclientid nfs4_setclientid_confirm")
LOCKERS = "2"  # processes of a mount
LOCKING = ("vers=3,lock", "vers=4.0", "vers=4.1", "vers=4.2")
# What guest_ranges does in a mount: v3 has no CLOSE.
RANGES = {"vers=3,lock": ("files", "process"), "vers=4.0": ("files", "turns"),
          "vers=4.1": ("files", "process", "turns"), "vers=4.2": ("process", "turns")}
NFS4_HOLDERS = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs4_holders")
NATIVE = ("denies0", "denies1", "reopens1")  # its clients
# A file for each: where more open fewer files, those that deny nothing leave the others no turn.
DENIERS = 2
# Two leases after every VNFS has served (docs/architecture/shares.md), and a while for the turn of
# one that is not refused.
DENYING_S = 2 * 20.0 + 35.0
# What a run without any of it has not judged.
JUDGED = ("ranges", "owners", "beside others", "given back in parts", "opens that deny",
          "other opens", "beside")

# What the NFS client does with its state, and every error it is answered; a holder whose lock is
# lost stops it (guest_locks). The buffer is of each processor.
TRACE = f"""
cd /sys/kernel/tracing 2>/dev/null && [ -e trace ] || {{
  mount -t tracefs none /sys/kernel/tracing && cd /sys/kernel/tracing; }} || exit 0
echo 8192 > buffer_size_kb
for event in {TRACED}; do
  [ ! -e events/nfs4/$event/enable ] || echo 1 > events/nfs4/$event/enable
done
echo 1 > tracing_on
"""

# Whether a rename or removal that is sent again finds nothing any more says nothing; what is there
# afterwards does.
KERNEL_LOAD = """
fail() { echo "after $i rounds: $*"; exit 1; }
i=0
while [ ! -e /tmp/stop ]; do
  i=$((i + 1)); f=k$((i % 8))
  dd if=/dev/urandom of=/tmp/k bs=4k count=$((i % 16 + 1)) 2>/dev/null
  dd if=/tmp/k of=/mnt/a/vm/$f conv=fsync 2>/dev/null || fail "write"
  cmp /tmp/k /mnt/b/vm/$f || fail "$f differs"
  echo "$i" >> /mnt/a/vm/log || fail "append"
  [ "$(tail -n 1 /mnt/b/vm/log)" = "$i" ] || fail "the log ends with $(tail -n 1 /mnt/b/vm/log)"
  mv /mnt/b/vm/$f /mnt/b/vm/$f.moved 2>/dev/null
  [ ! -e /mnt/a/vm/$f ] || fail "$f is still there"
  cmp /tmp/k /mnt/a/vm/$f.moved || fail "$f.moved differs"
  rm -f /mnt/a/vm/$f.moved
  [ ! -e /mnt/b/vm/$f.moved ] || fail "$f.moved is still there"
done
[ "$(wc -l < /mnt/b/vm/log)" = "$i" ] || fail "$(wc -l < /mnt/b/vm/log) lines"
rm -rf /mnt/a/vm
echo "$i"
"""


@contextlib.contextmanager
def shared_load(bench, seed):
    """nfs_shared through every VNFS; yields what will hold the programs' findings."""
    urls = ",".join(service.url for service in bench.services)
    seen = []
    with contextlib.ExitStack() as stack:
        loads = [stack.enter_context(bench.load(
            "nfs_shared", "--urls", urls, "--workers", WORKERS, "--stable", "1",
            "--seed", str(seed * 100 + number))) for number in range(PROGRAMS)]
        yield seen
    for load in loads:
        check(load.seen["violations"] == 0, f"incoherent: {load.seen}")
        seen.append(load.seen)


@contextlib.contextmanager
def own_files(bench):
    """Per VNFS a client with files of its own, read and written in place; yields {name: seen}."""
    seen = {}
    with contextlib.ExitStack() as stack:
        loads = {service.name: stack.enter_context(bench.load(
            "nfs_io", "gaps", "--kinds", "read,write", "--pause-us", "5000",
            "--noted-ms", str(NOTED_MS), service=service)) for service in bench.services}
        yield seen
    for name, load in loads.items():
        for kind in ("read", "write"):
            check(load.seen[kind]["errors"] == 0, f"{name}: {kind} failed: {load.seen[kind]}")
        seen[name] = load.seen


@contextlib.contextmanager
def kernel_vms(bench):
    """Two Linux clients without mounts, for the body."""
    clients = [Client(boot(bench, name, FIRST_ADDRESS + at), "") for at, name in enumerate(NAMES)]
    for client in clients:
        client.run("rm -f /tmp/stop; guest_statd", BOOT_S)
        client.run(TRACE, BOOT_S)
    try:
        yield clients
    except (LabError, AssertionError):
        for client in clients:
            keep_trace(bench, client)
            print(f"--- console of {client.vm.name}\n{client.vm.console()[-CONSOLE_TAIL:]}",
                  file=sys.stderr)
        raise
    finally:
        for client in clients:
            client.vm.stop()


def keep_trace(bench, client):
    """Leaves what the kernel traced where keep_logs() finds it."""
    with contextlib.suppress(LabError, AssertionError):
        trace = client.run("cat /sys/kernel/tracing/trace", STOP_S)
        path = os.path.join(bench.lab.directory, "heads", f"{client.vm.name}.trace.log")
        with open(path, "w", encoding="utf-8") as file:
            file.write(trace)


def stop(client, job, what):
    """Has a job that looks for /tmp/stop end; returns its output."""
    client.run("touch /tmp/stop", STOP_S)
    status = job.wait(STOP_S)
    text = job.output.decode(errors="replace").strip()
    check(status == 0, f"{what} ended with {status}: {text}")
    return text


@contextlib.contextmanager
def kernel_load(bench, client):
    """Linux reads through one VNFS what it wrote through another."""
    for name, service in zip(("a", "b"), bench.services[:2], strict=True):
        client.mount(name, service, "vers=3,nolock,actimeo=0,lookupcache=none")
    client.run("mkdir -p /mnt/a/vm; : > /mnt/a/vm/log", MOUNT_S)
    job = client.start(KERNEL_LOAD)
    yield
    print(f"{stop(client, job, 'the kernel client')} rounds of the kernel client", flush=True)


@contextlib.contextmanager
def lock_holders(bench, clients, folder):
    """Owners of locks and opens: processes of both clients, over every version and several VNFSs,
    and native clients of every VNFS; yields their arbiter."""
    services = bench.services

    def kept(client, held):
        return is_recorded(bench, client, folder, held)

    with arbiter_at(bench.lab.client_netns, CLIENT_ADDRESS, kept) as (arbiter, port), \
            contextlib.ExitStack() as stack:
        jobs = [(client, start_holders(client, at, services, folder, port))
                for at, client in enumerate(clients)]
        native = [stack.enter_context(native_holders(bench, service, folder, port))
                  for service in services]
        eventually(BOOT_S, "locks are held", lambda: arbiter.granted > len(jobs))
        eventually(DENYING_S, "opens deny something", lambda: arbiter.denying() > 1)
        yield arbiter
        for process in native:
            process.terminate()
        # All at once: a v4.0 client asks every 30 s for what others take turns at meanwhile.
        for client in clients:
            client.run("touch /tmp/stop", STOP_S)
        outputs = [finish_holders(client, job) for client, job in jobs]
        outputs += [finish_native(process) for process in native]
        judge(arbiter, outputs,
              [name for client in clients for name in names_of(client)]
              + [f"{service.name}.{kind}" for service in services for kind in NATIVE])
        clients[0].run(f"rm -rf /mnt/l0/{folder}", STOP_S)


def is_recorded(bench, client, folder, held):
    """Whether the cluster has the locks of what is held, for the machine of that client.
    Asked for NFSv4.0 where processes open the same file: what Linux gives up then by itself is in
    guest_slots.h."""
    machine, kind, version = client.split(".", 2)
    if kind not in ("locks", "turns") or not version.startswith("vers=4.0"):
        return False

    def covers(record, one):
        return record["client"].startswith("Linux NFSv4.0") and machine in record["client"] and any(
            (span["type"] == "write" or not one.exclusive)
            and span["start"] <= one.first * SLOT_BYTES
            and one.end * SLOT_BYTES <= span["start"] + span.get("length", 1 << 63)
            for span in record["ranges"])

    def recorded():
        return [bench.lab.running_symnas().json("lock", "ls", "--fs", EXPORT, "--path",
                                                f"/{folder}/{one.file}")["locks"] for one in held]

    try:
        found = eventually(RECORDED_S, "the records of locks", recorded)
    except LabError:
        return False
    return all(any(covers(record, one) for record in records)
               for one, records in zip(held, found, strict=True))


def holders_name(client, options, kind="locks"):
    return f"{client.vm.name}.{kind}.{options}"


def names_of(client):
    """Of all holders of a client."""
    return [holders_name(client, options, kind)
            for options in LOCKING for kind in ("locks", *RANGES[options])]


def start_holders(client, at, services, folder, port):
    """One job: holders in a mount of every version, each of another VNFS."""
    lines = ["pids="]
    for number, options in enumerate(LOCKING):
        name = f"l{number}"
        client.mount(name, services[(at * 2 + number) % len(services)], options)
        client.run(f"mkdir -p /mnt/{name}/{folder}", MOUNT_S)
        where = f"/mnt/{name}/{folder} {CLIENT_ADDRESS} {port}"
        lines.append(f"guest_locks {where} {holders_name(client, options)} {LOCKERS} /tmp/stop & "
                     "pids=\"$pids $!\"")
        lines += [f"guest_ranges {where} {holders_name(client, options, kind)} /tmp/stop {kind} & "
                  "pids=\"$pids $!\"" for kind in RANGES[options]]
    lines.append("worst=0; for pid in $pids; do wait $pid || worst=1; done; exit $worst")
    return client.start("\n".join(lines))


def finish_holders(client, job):
    """Their output, also when one of them has failed: the arbiter knows why."""
    status = job.wait(STOP_S)
    return status, f"{client.vm.name}: {output_of(job)}"


@contextlib.contextmanager
def native_holders(bench, service, folder, port):
    """Clients of a VNFS that deny others something, and close beside what they open; yields their
    process."""
    process = bench.lab.popen_in(
        "client", [sys.executable, NFS4_HOLDERS, "--url", f"{service.url}/{folder}", "--arbiter",
                   f"{CLIENT_ADDRESS}:{port}", "--name", service.name,
                   "--files", str(DENIERS * len(bench.services))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_line(process, "running")
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def finish_native(process):
    """As finish_holders."""
    try:
        return 0, finish_tool(process, STOP_S)
    except LabError as error:
        return 1, str(error)


def judge(arbiter, outputs, names):
    """names: of holders, each of which is to have had locks or opens."""
    line, fine, wrong = arbiter.verdict()
    seen = arbiter.seen()
    print(f"{seen['ranges']} ranges of {seen['owners']} owners, {told(seen)}; {line}", flush=True)
    check(fine and not any(status for status, _ in outputs),
          "\n".join([line, *wrong[:20], *(text for _, text in outputs)]))
    idle = [name for name in names if not arbiter.granted_to(name)]
    check(not idle, f"nothing was granted to {idle}")
    missing = [what for what in JUDGED if not seen[what]]
    check(not missing, f"nothing was judged of: {', '.join(missing)}")


def told(seen):
    """What an Arbiter has seen, beside ranges and owners."""
    return (f"{seen['beside others']} of them beside others of their owner, "
            f"{seen['given back in parts']} given back in parts, {seen['opens that deny']} opens "
            f"that deny something, {seen['other opens']} others, {seen['reclaimed']} "
            f"reclaims, {seen['beside']} CLOSEs beside OPENs, {seen['given up by Linux']} locks of "
            "NFSv4.0 that only Linux gave up")
