"""Name services of a head's own, which a case writes."""

import contextlib
import os
import shutil

CLIENT = "10.0.0.200"
HOST = "client1.example.test"
USER = 4200
FIRST_GROUP, GROUPS = 5000, 40


@contextlib.contextmanager
def name_services(bench):
    """Name services of the head's own: files in the folder that it yields, as /etc."""
    etc = os.path.join(bench.lab.directory, "etc")
    shutil.rmtree(etc, ignore_errors=True)
    shutil.copytree("/etc", etc, symlinks=True, ignore_dangling_symlinks=True)
    write(etc, "nsswitch.conf", "passwd: files", "group: files", "hosts: files", "netgroup: files")
    write(etc, "hosts", "127.0.0.1 localhost", f"{CLIENT} {HOST}", "10.0.0.77 other.example.test")
    write(etc, "netgroup", f"friends ({HOST},,)", "others (other.example.test,,)")
    add(etc, "passwd", f"symnas-user:x:{USER}:{USER}::/:/bin/sh")
    add(etc, "group", *(f"symnas{number}:x:{number}:symnas-user" for number in
                        range(FIRST_GROUP, FIRST_GROUP + GROUPS)))
    try:
        restart(bench, [(etc, "/etc")])
        yield etc
    finally:
        restart(bench, [])
        shutil.rmtree(etc)


def write(folder, name, *lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))


def add(folder, name, *lines):
    with open(os.path.join(folder, name), "a", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))


def restart(bench, binds):
    bench.kill_process("vnfsd.c1n1")
    bench.lab.start_vnfsd("c1n1", binds=binds)
    bench.service.wait_serving()  # the agent has found it again
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])
