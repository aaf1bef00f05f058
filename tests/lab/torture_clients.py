"""What runs while torture breaks things: verified load, kernel clients, holders of locks, judges.

Everything is a context manager that begins a load and, when its body ends well, checks what it saw.
"""

import contextlib
import os
import sys

from arbiter import arbiter_at
from kernel_clients import FIRST_ADDRESS, NAMES, Client, boot, output_of
from lab_case import check
from symlab.cluster import CLIENT_ADDRESS
from symlab.errors import LabError
from symlab.wait import eventually

PROGRAMS = 4  # each has a connection of every worker to every VNFS
WORKERS = "2"
NOTED_MS = 50
CONSOLE_TAIL = 4000  # what the kernels had to say
BOOT_S = 60.0
MOUNT_S = 300.0  # faults go on meanwhile
STOP_S = 300.0
TRACED = ("nfs4_xdr_status nfs4_state_mgr nfs4_state_mgr_failed nfs4_open_reclaim "
          "nfs4_open_expired nfs4_get_lock nfs4_set_lock nfs4_unlock nfs4_state_lock_reclaim "
          "nfs4_test_lock_stateid nfs4_test_open_stateid nfs4_exchange_id nfs4_create_session "
          "nfs4_reclaim_complete nfs4_setclientid nfs4_setclientid_confirm")
LOCKERS = "2"  # processes of a mount
LOCKING = ("vers=3,lock", "vers=4.0", "vers=4.1", "vers=4.2")

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
    for name, service in zip(("a", "b"), bench.services):
        client.mount(name, service, "vers=3,nolock,actimeo=0,lookupcache=none")
    client.run("mkdir -p /mnt/a/vm; : > /mnt/a/vm/log", MOUNT_S)
    job = client.start(KERNEL_LOAD)
    yield
    print(f"{stop(client, job, 'the kernel client')} rounds of the kernel client", flush=True)


@contextlib.contextmanager
def lock_holders(bench, clients, folder):
    """Processes of both clients, over every version and several VNFSs; yields their arbiter."""
    services = bench.services
    with arbiter_at(bench.lab.client_netns, CLIENT_ADDRESS) as (arbiter, port):
        jobs = [(client, start_holders(client, at, services, folder, port))
                for at, client in enumerate(clients)]
        eventually(BOOT_S, "locks are held", lambda: arbiter.granted > len(jobs))
        yield arbiter
        # All at once: a v4.0 client asks every 30 s for what others take turns at meanwhile.
        for client in clients:
            client.run("touch /tmp/stop", STOP_S)
        judge(arbiter, [finish_holders(client, job) for client, job in jobs],
              [holders_name(client, options) for client in clients for options in LOCKING])
        clients[0].run(f"rm -rf /mnt/l0/{folder}", STOP_S)


def holders_name(client, options):
    return f"{client.vm.name}.{options}"


def start_holders(client, at, services, folder, port):
    """One job: holders in a mount of every version, each of another VNFS."""
    lines = ["pids="]
    for number, options in enumerate(LOCKING):
        name = f"l{number}"
        client.mount(name, services[(at * 2 + number) % len(services)], options)
        client.run(f"mkdir -p /mnt/{name}/{folder}", MOUNT_S)
        lines.append(f"guest_locks /mnt/{name}/{folder} {CLIENT_ADDRESS} {port} "
                     f"{holders_name(client, options)} {LOCKERS} /tmp/stop & pids=\"$pids $!\"")
    lines.append("worst=0; for pid in $pids; do wait $pid || worst=1; done; exit $worst")
    return client.start("\n".join(lines))


def finish_holders(client, job):
    """Their output, also when one of them has failed: the arbiter knows why."""
    status = job.wait(STOP_S)
    return status, f"{client.vm.name}: {output_of(job)}"


def judge(arbiter, outputs, names):
    """names: of mounts, each of which is to have had locks."""
    line, fine, wrong = arbiter.verdict()
    idle = [name for name in names if not arbiter.granted_to(name)]
    check(not idle, f"no lock was granted to {idle}")
    print(f"{arbiter.granted} locks granted; {line}", flush=True)
    check(fine and not any(status for status, _ in outputs),
          "\n".join([line, *wrong[:20], *(text for _, text in outputs)]))
