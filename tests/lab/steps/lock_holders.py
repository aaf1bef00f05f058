"""Processes of kernel clients that hold a file or a lock, and others that want it."""

import contextlib

from kernel_clients import finish, kernel_clients, output_of
from lab_case import check, eventually
from steps.cluster import victim

VERSIONS = {"v3": "vers=3", "v41": "vers=4.1"}
SITTING = "cd {folder} && touch f && guest_file hold f go {how}"
SECOND = "guest_file try {folder}/f"


def is_holding(job):
    check(job.poll(0.1) is None, f"ended with {job.status}: {output_of(job)}")
    return "holding" in output_of(job)


LOCKING = "vers=3,lock"
# A waiter is called, also by the next instance; by itself it would ask again after 30 s.
GRANTED_S = 15.0
SEES_IT_S = 20.0
WAITING = "guest_file wait {folder}/f"
# As at boot: the number of a new life, told to every monitored server. The kernel, which has not
# booted, does not say again whom it has statd monitor.
REBOOT = """
cp -a /var/lib/nfs/sm /tmp/monitored && sm-notify -f -d && cp -a /tmp/monitored/. /var/lib/nfs/sm/
"""


class Holder:
    """A process of a client that holds a lock until it is told to end."""

    def __init__(self, client, folder):
        client.run(f"mkdir -p {folder}")
        self.client = client
        self.folder = folder
        self.job = client.start(SITTING.format(folder=folder, how="locked"))
        eventually(SEES_IT_S, "the shell holds its lock", lambda: is_holding(self.job))

    def release(self):
        self.client.run(f"touch {self.folder}/go")
        output = finish({"the holder": self.job})["the holder"]
        check(output == f"holding\none two {self.folder}", f"the holder said {output!r}")


@contextlib.contextmanager
def locking_clients(bench, folder):
    """Yields two clients whose NFSv3 mounts lock, and their folder in the victim's VNFS."""
    with kernel_clients(bench, folder) as clients:
        for client in clients:
            client.run("guest_statd")
        yield clients, [client.mount("v3", victim(bench), LOCKING) for client in clients]


def check_refused(client, folders, when):
    for folder in folders:
        seen = client.run(SECOND.format(folder=folder))
        check(seen == "refused", f"{folder}: a lock of another client was {seen} {when}")


def check_granted(client, folder, when):
    def granted():
        return client.run(SECOND.format(folder=folder)) == "granted"
    eventually(SEES_IT_S, f"{folder}: the lock is free {when}", granted)
