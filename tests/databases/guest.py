"""The client VM with the databases: a root of Debian 12 on a read-only disk, NFS mounts below it.

Programs run in that root, as the user `database`; what is to outlive no run (sockets, server logs,
notes of what was acknowledged) lies in the VM's memory, never on NFS.

Thread class: confined to one thread.
"""

import contextlib
import json
import os
import re
import time

from kernel_clients import Client, output_of
from lab_case import Skip, check
from symlab.cluster import NFS_BRIDGE
from symlab.wait import SLOWER
from uml_vm import UmlVm
from vm_disk import disk_of
from vm_image import cache_dir

HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESS = "10.0.0.208/24"
USER = "1000:1000"
NOTES = "/run/notes"      # in the root of the databases
PROGRAMS = "/run/inside"  # tests/databases/inside
# How databases mount; what each adds is its own.
MOUNT = "hard"
MOUNT_MAX_S = 60.0
FIRST_LINE_S = 60.0

SET_UP = f"""
set -e
mkdir /db
mount -t ext4 -o ro /dev/vda /db
for folder in proc sys dev; do mount --bind /$folder /db/$folder; done
chmod 1777 /dev/shm
for folder in run tmp mnt; do mount -t tmpfs -o mode=1777 tmpfs /db/$folder; done
mkdir -p /db{PROGRAMS} /db{NOTES}
tar xf /dev/vdb -C /db{PROGRAMS}
chown {USER} /db{NOTES}
cat > /bin/as_database <<'END'
#!/bin/sh
exec chroot /db /usr/sbin/chroot --userspec={USER} / /usr/bin/env -i LC_ALL=C.UTF-8 HOME=/tmp \\
  PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin:{PROGRAMS} "$@"
END
chmod 755 /bin/as_database
guest_statd
"""
# As SIGKILL of a server does: all of its processes end at once.
KILL = """
for process in /proc/[0-9]*; do
  case $(readlink $process/exe) in */{program}) kill -9 ${{process#/proc/}} ;; esac
done
"""


class DatabaseGuest(Client):
    def __init__(self, bench):
        super().__init__(UmlVm("databases", bench.lab.vm_root()), "")
        self.bench = bench

    def start(self):
        image = os.path.join(cache_dir(), "databases", "root.img")
        if not os.path.exists(image):
            raise Skip(f"no {image}: run `deploy/setup/setup machines databases` first")
        lab = self.bench.lab
        inside = os.path.join(HERE, "inside")
        programs = disk_of(lab.directory, "databases.tar", lambda tar: tar.add(inside, "."))
        self.vm.stop()
        self.vm.start(ADDRESS, NFS_BRIDGE, lab.hub_netns, cgroup=lab.cgroup(),
                      disks=[image, programs])
        self.run(SET_UP)

    def has(self, path):
        """Whether the root of the databases has such a file."""
        return self.vm.run(f"test -e /db{path}", 10.0).status == 0

    def mount_at(self, name, service, options):
        """Mounts a VNFS at /mnt/NAME of the root, for the user; returns that path."""
        here = f"/mnt/{name}"
        self.run(f"mkdir -p /db{here} && nfsmount -o {MOUNT},{options} "
                 f"{service.vip}:/{service.filesystem} /db{here}", MOUNT_MAX_S)
        return here

    def empty_folder(self, path):
        """An empty folder of the user; returns its path."""
        self.run(f"rm -rf /db{path} && mkdir -p /db{path} && chown {USER} /db{path} "
                 f"&& chmod 700 /db{path}")
        return path

    def unmount_all(self):
        """Removes what the cases have left, and the mounts."""
        self.run("""
for point in $(cut -d' ' -f2 /proc/mounts | grep ^/db/mnt/); do
  rm -rf $point/*
  umount $point || exit 1
done
rm -rf /db/tmp/* /db/run/notes/*""")

    # --- programs of the root

    def as_database(self, words, timeout_s=120.0):
        """Runs words of a shell as the user; they must end well. Returns the output."""
        return self.run(f"as_database {words}", timeout_s)

    @contextlib.contextmanager
    def beside(self, words, what, first_line=None):
        """Runs words as the user beside the body; yields a Beside."""
        beside = Beside(self.vm.start_job(f"exec as_database {words}"), what)
        try:
            if first_line:
                beside.wait_for(first_line)
            yield beside
        finally:
            beside.job.kill()

    def kill_server(self, program):
        self.run(KILL.format(program=program))

    def found_in(self, log, pattern, but=None):
        """Lines of a log that match, except those that match `but`."""
        text = self.run(f"cat /db{log}")
        return [line for line in text.splitlines()
                if re.search(pattern, line) and not (but and re.search(but, line))]

    # --- rows that were acknowledged (inside/acked)

    def write_rows(self, engine, target, log, seconds, first=0, step=1):
        return self.beside(f"acked write {engine} {target} {NOTES}/{log} --first {first} "
                           f"--step {step} --seconds {seconds}", f"the writer of {engine}",
                           "writes")

    def stop_rows(self, log):
        """Ends the writer with that log."""
        self.run(f"touch /db{NOTES}/{log}.stop")

    def check_rows(self, engine, target, *logs):
        """All that was acknowledged is there, with its value; returns the number of rows."""
        paths = " ".join(f"{NOTES}/{log}" for log in logs)
        result = self.vm.run(f"as_database acked check {engine} {target} {paths}", 120.0 * SLOWER)
        check(result.status == 0, f"rows of {engine}: {result.output.strip()}")
        return json.loads(result.output.strip().splitlines()[-1])["acknowledged"]

    def gaps(self, log, spans):
        """{what: the longest time without an acknowledgement while it went on, in seconds}."""
        times = [float(line.split()[2]) for line in self.run(f"cat /db{NOTES}/{log}").splitlines()
                 if line.startswith("ack ")]
        gaps = {}
        for span in spans:
            over = [after - before for before, after in zip(times, times[1:], strict=False)
                    if after > span.began and before < span.ended + 2.0]
            gaps[span.what] = max(over, default=0.0)
        return gaps


class Beside:
    """A program that runs in the VM beside others."""

    def __init__(self, job, what):
        self.job = job
        self.what = what

    def wait_for(self, line):
        end = time.monotonic() + FIRST_LINE_S * SLOWER
        while time.monotonic() < end:
            self.job.poll(0.1)
            if any(one == line for one in output_of(self.job).splitlines()):
                return
            check(self.job.status is None, f"{self.what} has ended: {output_of(self.job)}")
        raise AssertionError(f"{self.what} has not said {line!r} in time")

    def let_run(self, seconds):
        """Lets it go on for a while; it must not end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.job.poll(0.1)
            check(self.job.status is None,
                  f"{self.what} has ended early, with {self.job.status}: {output_of(self.job)}")

    def end(self, timeout_s=120.0):
        """Waits for its end, which must be well; returns its output."""
        status = self.job.wait(timeout_s * SLOWER)
        check(status == 0, f"{self.what} ended with {status}: {output_of(self.job)}")
        return output_of(self.job)
