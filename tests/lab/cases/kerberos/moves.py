"""Kerberos mounts over moves and crashes: contexts are lost, and nobody who works notices it."""

import contextlib

import labs
from lab_case import check, eventually, lab_test
from steps.kerberos import FLAVORS, VERSIONS, give_keytab, kdc_of, kerberos_client, secured
from symlab.service import EXPORT

# Each writes, makes and removes names all the time: a name that is there after its removal, or not
# after it was made, shows a request that was carried out twice. Where answers are lost with the
# instance (docs/limits.md), a change may say that it was done before: what is there counts.
WORK = """
once() {{ "$@" || {lost}; }}
cd {point} || exit 1
at=0
while [ ! -e /tmp/end ]; do
  at=$((at + 1))
  echo $at > {name}.$at || exit 1
  once mv {name}.$at {name}.moved || exit 1
  [ "$(cat {name}.moved)" = $at ] || exit 1
  once mkdir {name}.d && [ -d {name}.d ] || exit 1
  once rmdir {name}.d && [ ! -d {name}.d ] || exit 1
  once rm {name}.moved && [ ! -e {name}.moved ] || exit 1
done
echo $at
"""
HOLD = "guest_file hold {point}/{name}.lock /tmp/end locked"
MOVED_S = 30.0


def service_of(bench):
    return bench.services[0]


def begin(client, what, script):
    """Starts it in the VM, beside others; ended() tells how it ended."""
    client.run(f"({script}\n) >/tmp/{what}.out 2>&1 && echo done >/tmp/{what}.end || "
               f"echo failed >/tmp/{what}.end &")


def ended(client, what):
    """Its output, once it has ended well."""
    client.run(f"for i in $(seq 90); do [ -e /tmp/{what}.end ] && break; sleep 1; done")
    seen = client.run(f"cat /tmp/{what}.out; echo; cat /tmp/{what}.end || echo runs")
    check(seen.endswith("done"), f"{what} ended so: {seen}")
    return seen.removesuffix("done").strip()


@contextlib.contextmanager
def working(bench, versions, flavors, answers_lost=False):
    """Mounts of all these, each with work and a held lock, until the body ends: no error, but for
    changes whose answer is lost with an instance, if that is so."""
    kdc = kdc_of(bench)
    service = service_of(bench)
    for one in bench.services:  # all of them serve the export
        give_keytab(bench, kdc, one.name)
    with secured(bench, EXPORT, "krb5p,krb5i,krb5"), kerberos_client(bench, kdc) as client:
        names = []
        for version in versions:
            for flavor in flavors:
                point = client.mount_with(flavor, version, service.vip, EXPORT)
                name = f"{version}{flavor}"
                names.append(name)
                client.run(f"echo zero > {point}/{name}.lock")
                words = {"point": point, "name": name, "lost": str(answers_lost).lower()}
                begin(client, f"lock_{name}", HOLD.format(**words))
                begin(client, f"work_{name}", WORK.format(**words))
        bench.let_run(3.0)
        yield client
        bench.let_run(3.0)
        client.run("touch /tmp/end")
        for name in names:
            locked = ended(client, f"lock_{name}")
            check("one" in locked and "two" in locked, f"the holder of {name} says {locked}")
            rounds = ended(client, f"work_{name}")
            check(int(rounds.split()[-1]) > 5, f"{name} has done {rounds} rounds")
        client.run("cd /; rm -f /mnt/*/*.lock")
        client.umount()


def held(bench, service, count):
    rows = bench.symnas.json("lock", "ls", "--vnfs", service.name)["locks"]
    check(len(rows) == count, f"{count} locks are expected: {rows}")


@lab_test("INV-7", "operations/kerberos.md", lab=labs.BACKUPS)
def kerberos_survives_moves(bench):
    """krb5 over v3, v4.1 and v4.2: I/O and locks over two moves, without an error."""
    service = service_of(bench)
    with working(bench, VERSIONS, ("krb5",)):
        for head in ("c1n2", service.home):
            service.rehost(head)
            eventually(MOVED_S, "it serves", service.serving)
            held(bench, service, len(VERSIONS))
            bench.let_run(3.0)


@lab_test("INV-7", "operations/kerberos.md", lab=labs.BACKUPS, soak=True)
def kerberos_survives_crashes(bench):
    """krb5, krb5i and krb5p over v4.2: the instance is killed twice, no error."""
    service = service_of(bench)
    with working(bench, ("v42",), FLAVORS, answers_lost=True):
        for _ in range(2):
            before = service.serving()
            bench.kill_recorded(before)
            service.wait_serving(other_than=before["pid"])
            held(bench, service, len(FLAVORS))
            bench.let_run(3.0)


@lab_test("INV-7", "operations/kerberos.md", lab=labs.BACKUPS, soak=True)
def nfs3_with_privacy_survives(bench):
    """krb5i and krb5p over v3: a crash and a move; what is sent again is not carried out twice."""
    service = service_of(bench)
    with working(bench, ("v3",), ("krb5i", "krb5p")):
        before = service.serving()
        bench.kill_recorded(before)
        service.wait_serving(other_than=before["pid"])
        bench.let_run(3.0)
        for head in ("c1n3", service.home):
            service.rehost(head)
            eventually(MOVED_S, "it serves", service.serving)
            bench.let_run(3.0)
