"""Requests that come again after a crash are answered as at first, and carried out once."""

import contextlib
import os
import subprocess
import sys

import labs
import nfs_wire
from kernel_clients import finish, kernel_clients
from lab_case import eventually, lab_test
from steps.cluster import fence_state, heads_from, owner, victim
from steps.deadlines import TAKEN_OVER_S
from symlab.service import EXPORT, VIP, finish_tool, wait_for_line

RESEND = os.path.join(os.path.dirname(nfs_wire.__file__), "nfs_resend")
DONE_S = 120.0
KILLS = 5
BETWEEN_KILLS_S = 3.0
# Whatever is carried out twice fails the second time. Several at once: a kill shall meet some of
# them between commit and reply.
CHANGES = """
cd {folder}
changes() {{
  mkdir w$1 && cd w$1 && n=0
  while [ ! -e ../stop ]; do
    n=$((n+1))
    mkdir d && mv d e && : > f && ln f g && mv f h && ln -s h s && mkfifo p && rmdir e &&
      rm g h s p || {{ echo "worker $1: round $n failed"; touch ../failed; return; }}
  done
  echo $n
}}
for worker in 1 2 3 4 5 6; do changes $worker & done
wait
[ ! -e failed ]
"""


def answered_for_former(bench):
    """How many answers the instances have given from the records of former ones."""
    count = 0
    for path in bench.logs():
        with open(path, encoding="utf-8", errors="replace") as file:
            count += file.read().count("was carried out by a former instance")
    return count


@contextlib.contextmanager
def answered_requests(bench, folder, address, beside=""):
    """The body is a crash: before it every request is answered, after it all are sent again."""
    process = bench.lab.popen_in(
        "client", [sys.executable, RESEND, "--address", address, "--export", EXPORT,
                   "--folder", folder, "--beside", beside],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_line(process, "answered")
        yield
        process.stdin.write("again\n")
        process.stdin.flush()
        print(f"     {finish_tool(process, DONE_S).strip().splitlines()[-1]}")
    finally:
        process.kill()
        process.wait()


@lab_test("INV-2", "decisions/0009-answers-are-recorded-with-the-change.md")
def requests_sent_again_after_a_kill(bench):
    """After kill -9 the next instance gives the first answers and changes nothing again."""
    with answered_requests(bench, "killed", VIP):
        before = bench.kill_instance()
        bench.service.wait_serving(other_than=before["pid"])


@lab_test("INV-2", "decisions/0009-answers-are-recorded-with-the-change.md")
def requests_sent_again_after_two_kills(bench):
    """The next instance is killed too, before anybody has asked it."""
    with answered_requests(bench, "killed-twice", VIP):
        for _ in range(2):
            before = bench.kill_instance()
            bench.service.wait_serving(other_than=before["pid"])


@lab_test("INV-2", "decisions/0009-answers-are-recorded-with-the-change.md", lab=labs.THREE_HEADS)
def requests_sent_again_to_another_head(bench):
    """A head is fenced; its backup answers as it did, while others change the same names."""
    service = victim(bench)
    home = service.head
    beside = next(s for s in bench.services if s is not service)
    with answered_requests(bench, "fenced", service.vip, beside.vip):
        bench.lab.fence(home, "power")
        service.head = eventually(
            TAKEN_OVER_S, f"another head serves {service.name}",
            lambda: owner(bench, service) not in (None, home) and owner(bench, service))
        service.wait_serving()
    print(f"     from {home} to {service.head}")
    bench.lab.unfence(home)
    eventually(TAKEN_OVER_S, f"{home} is back", lambda: fence_state(bench, home) is None)
    service.rehost(home)
    bench.lab.wait_members()


@lab_test("INV-2", "decisions/0009-answers-are-recorded-with-the-change.md", lab=labs.THREE_HEADS)
def requests_sent_again_after_a_move(bench):
    """A client that repeats an answered request after a move gets the same answer."""
    service = victim(bench)
    with answered_requests(bench, "moved", service.vip, bench.services[0].vip):
        service.rehost(heads_from(service)[0])
    service.rehost(service.home)


@lab_test("INV-2", "decisions/0009-answers-are-recorded-with-the-change.md", lab=labs.THREE_HEADS)
def kernel_changes_survive_kills(bench):
    """Linux clients make, rename and remove names while the instance dies: no call fails."""
    service = victim(bench)
    with kernel_clients(bench, "replies") as clients:
        jobs, folders, known = {}, {}, answered_for_former(bench)
        for client, version in zip(clients, ("vers=3,nolock", "vers=4.0"), strict=True):
            name = version[5:6]
            folders[client] = f"{client.mount(name, service, version)}/{name}"
            client.run(f"mkdir -p {folders[client]}")
            jobs[version] = client.start(CHANGES.format(folder=folders[client]))
        for _ in range(KILLS):
            bench.let_run(BETWEEN_KILLS_S)
            before = service.serving()
            bench.kill_recorded(before)
            service.wait_serving(other_than=before["pid"])
        bench.let_run(BETWEEN_KILLS_S)
        for client, folder in folders.items():
            client.run(f"touch {folder}/stop")
        for version, output in finish(jobs).items():
            print(f"     {version}: rounds " + " ".join(output.split()))
        print(f"     {answered_for_former(bench) - known} answers of former instances")
