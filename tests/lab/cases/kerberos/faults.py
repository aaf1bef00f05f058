"""Kerberos faults: KDC away, keys that do not fit, clocks that differ, tickets that end."""

import contextlib
import os

from lab_case import check, eventually, lab_test
from steps.clocks import clocks
from steps.kerberos import USER, give_keytab, kdc_of, kerberos_client, secured
from steps.name_services import name_services
from symlab.kdc import host_name
from symlab.service import EXPORT, VIP, VNFS

# gssd gives up on a KDC that does not answer after some tries, and asks again for each mount.
REFUSED_S = 120.0
LINE_S = 10.0
KDC_OFF_S = 60.0
# Far more than a request is kept (1.5 s): the client has been told to come again by then.
UNKNOWN_S = 8.0
KNOWN_S = 75.0


@contextlib.contextmanager
def beside(bench, client, *points):
    """Work on these mounts, and of a client without Kerberos, goes on until the body ends."""
    job = client.start("while [ ! -e /tmp/end ]; do for point in " + " ".join(points) + "; do "
                       "date > $point/beside || exit 1; cat $point/beside >/dev/null || exit 1; "
                       "done; done")
    with bench.load("nfs_io", "gaps", "--kinds", "read,write") as load:
        yield load
    client.run("touch /tmp/end")
    status = job.wait(60.0)
    check(status == 0, f"work beside the fault ended with {status}: {job.output}")
    client.run("rm /tmp/end")


def lines_of(bench, word):
    path = os.path.join(bench.lab.state.data["heads"][0]["log_dir"], f"{VNFS}.log")
    with open(path, encoding="utf-8", errors="replace") as file:
        return [line.strip() for line in file if word in line]


@contextlib.contextmanager
def kerberos_mounts(bench, *flavors):
    kdc = kdc_of(bench)
    give_keytab(bench, kdc, VNFS)
    with secured(bench, EXPORT, "krb5p,krb5,sys"), kerberos_client(bench, kdc) as client:
        points = [client.mount_with(flavor, "v42", VIP, EXPORT) for flavor in flavors]
        yield kdc, client, points
        client.umount()


@lab_test("operations/kerberos.md", soak=True)
def kdc_that_is_off_for_a_minute(bench):
    """Mounts go on with their tickets; a new client is refused in time, and works afterwards."""
    with kerberos_mounts(bench, "krb5") as (kdc, client, points):
        with beside(bench, client, *points):
            kdc.stop()
            bench.let_run(KDC_OFF_S)
            # Another process that has no ticket for the server.
            client.run("rm -f /tmp/krb5cc*")
            said = client.told(client.as_user(f"touch {points[0]}/nobody"))
            check(said != "", "a user without a ticket may write")
            kdc.start()
        client.restart_gssd()
        client.mount_with("krb5p", "v41", VIP, EXPORT)


@lab_test("operations/kerberos.md")
def key_that_the_keytab_lacks(bench):
    """The realm has other keys than the keytab: refused in time, one line; others are served."""
    with kerberos_mounts(bench, "krb5") as (kdc, client, points):
        before = len(lines_of(bench, "Kerberos: client"))
        # Keys that nobody gives to the VNFS: what a keytab of another machine looks like to it.
        path = kdc.keytab("newer.keytab", f"nfs/{host_name(VNFS)}")
        try:
            with beside(bench, client, *points):
                client.run("rm -f /tmp/krb5cc*; kill $(pidof rpc.gssd); sleep 0.3; rpc.gssd -p "
                           "/run/rpc_pipefs")
                client.refused_mount("vers=4.1,sec=krb5p", VIP, EXPORT, REFUSED_S)
                lines = eventually(LINE_S, "a line says why",
                                   lambda: lines_of(bench, "Kerberos: client")[before:])
                check(len(lines) == 1 and "keytab" in lines[0], f"the lines are {lines}")
        finally:
            bench.symnas("vnfs", "keytab", "set", VNFS, "--file", path)
        client.restart_gssd()
        client.mount_with("krb5p", "v3", VIP, EXPORT)


@lab_test("operations/kerberos.md")
def clock_of_a_head_that_is_off(bench):
    """Ten minutes: new clients are refused with a line that names the clock; sys is served."""
    with clocks(bench, {"c1n1": bench.service}) as made, \
            kerberos_mounts(bench) as (_, client, _):
        made["c1n1"].set(600)
        client.refused_mount("vers=4.2,sec=krb5", VIP, EXPORT, REFUSED_S)
        lines = eventually(LINE_S, "a line says why", lambda: lines_of(bench, "Clock skew"))
        check(len(lines) == 1, f"the lines are {lines}")
        with bench.shell() as shell:
            shell.expect("NFS3_OK", "create", "in_time")
            shell.expect("NFS3_OK", "remove", "in_time")
        made["c1n1"].set(0)
        client.restart_gssd()
        client.mount_with("krb5", "v42", VIP, EXPORT)


@lab_test("operations/kerberos.md", soak=True)
def tickets_that_end_under_load(bench):
    """A user's ticket ends: that user gets an error; a new one works again, others never notice."""
    with kerberos_mounts(bench, "krb5", "krb5p") as (_, client, points):
        client.run(f"mkdir -p {points[0]}/ended && chmod 777 {points[0]}/ended")
        file = f"{points[0]}/ended/file"
        with beside(bench, client, *points):
            client.become("-l 30s")
            client.run(client.as_user(f"echo good > {file}"))
            client.run("rm /tmp/krb5cc_1")
            bench.let_run(40.0)
            said = client.told(client.as_user(f"echo bad > {file} && echo written"))
            check("written" not in said and said != "", f"with an ended ticket: {said}")
            client.become()
            client.run(client.as_user(f"echo again > {file}"))
            seen = client.run(f"cat {file}; stat -c %u {file}").split()
            check(seen == ["again", str(USER[1])], f"the file is {seen}")
        client.run(f"rm -r {points[0]}/ended")


@contextlib.contextmanager
def hanging_users(etc):
    """Nobody can look up a user meanwhile: the file is a FIFO without a writer."""
    passwd = os.path.join(etc, "passwd")
    with open(passwd, "rb") as file:
        users = file.read()
    os.rename(passwd, passwd + ".kept")
    os.mkfifo(passwd)
    writer = os.open(passwd, os.O_RDWR | os.O_NONBLOCK)
    try:
        yield
    finally:
        os.rename(passwd + ".kept", passwd)
        os.write(writer, users)  # who waits in it reads them, and then an end
        os.close(writer)


@lab_test("operations/kerberos.md", "architecture/names.md", soak=True)
def name_service_that_hangs(bench):
    """A user whom nobody can look up waits, and is nobody else; others go on meanwhile."""
    with name_services(bench) as etc, kerberos_mounts(bench, "krb5") as (_, client, points):
        folder = f"{points[0]}/hanging"
        client.run(f"mkdir {folder} && chmod 777 {folder}")
        folders = {"v42": folder, "v3": client.mount_with("krb5", "v3", VIP, EXPORT) + "/hanging"}
        with beside(bench, client, *points):
            with hanging_users(etc):
                client.become()
                jobs = {name: client.start(client.as_user(f"echo new > {path}/{name}"))
                        for name, path in folders.items()}
                bench.let_run(UNKNOWN_S)
                seen = client.run(f"ls {folder}")
                check(seen == "", f"a user whom nobody can look up has made {seen}")
            for name, job in jobs.items():
                status = job.wait(KNOWN_S)
                check(status == 0, f"{name}: later the write ended with {status}: {job.output}")
                seen = client.run(f"stat -c %u {folder}/{name}")
                check(seen == str(USER[1]), f"{name}: the user's file is of {seen}")
        client.run(f"rm -r {folder}")
