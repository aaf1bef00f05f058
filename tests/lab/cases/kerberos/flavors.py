"""Linux clients with Kerberos: every flavor over every version, and who callers are then."""

import contextlib

from lab_case import check, lab_test
from steps.kerberos import FLAVORS, USER, VERSIONS, give_keytab, kdc_of, kerberos_client, secured
from symlab.service import EXPORT, VIP, VNFS

WRITE_AND_READ = """
set -e
cd {point}
dd if=/dev/urandom of=/tmp/data bs=100000 count=7 2>/dev/null
cp /tmp/data {name} && sync
echo 3 > /proc/sys/vm/drop_caches
cmp /tmp/data {name}
mkdir {name}.d && mv {name} {name}.d/moved && ln {name}.d/moved {name} && ls -l {name}.d >/dev/null
[ "$(guest_file try {name})" = granted ]
stat -c '%u' {name}
rm -r {name} {name}.d
"""


@contextlib.contextmanager
def served_with(bench, flavors):
    kdc = kdc_of(bench)
    give_keytab(bench, kdc, VNFS)
    with secured(bench, EXPORT, flavors), kerberos_client(bench, kdc) as client:
        yield client


@lab_test("operations/kerberos.md")
def kerberos_over_every_version(bench):
    """krb5, krb5i and krb5p over NFSv3, v4.1 and v4.2: mount, I/O, names, locks; sys is refused."""
    with served_with(bench, "krb5p,krb5i,krb5") as client:
        for version in VERSIONS:
            for flavor in FLAVORS:
                point = client.mount_with(flavor, version, VIP, EXPORT)
                output = client.run(WRITE_AND_READ.format(point=point, name=f"{version}{flavor}"))
                check(output.endswith("0"), f"{version} {flavor}: the owner is {output}")
                shown = client.run(f"grep ' {point} ' /proc/mounts")
                check(f"sec={flavor}," in shown, f"{version} {flavor} is mounted as {shown}")
        for options in ("vers=3,sec=sys", "vers=4.1,sec=sys"):
            client.refused_mount(options, VIP, EXPORT, 60.0)
        client.umount()


@lab_test("operations/kerberos.md")
def rules_say_who_needs_kerberos(bench):
    """A client whose rule has krb5i cannot do with less; one without that rule uses sys."""
    with served_with(bench, "sys") as client:
        bench.symnas("export", "set", EXPORT, "--client",
                     "10.0.0.206:sec=krb5i:krb5p,no_root_squash")
        try:
            for flavor in ("sys", "krb5"):
                client.refused_mount(f"vers=4.2,sec={flavor}", VIP, EXPORT, 60.0)
            for flavor in ("krb5i", "krb5p"):
                client.mount_with(flavor, "v42", VIP, EXPORT)
            with bench.shell() as shell:
                shell.expect("NFS3_OK", "create", "by_sys")
                shell.expect("NFS3_OK", "remove", "by_sys")
            client.umount()
        finally:
            bench.symnas("export", "set", EXPORT, "--client", "")


@lab_test("operations/kerberos.md")
def principals_are_users_of_the_head(bench):
    """A user's ticket makes files of that user; without one nothing is allowed."""
    with served_with(bench, "krb5") as client:
        points = {version: client.mount_with("krb5", version, VIP, EXPORT) for version in VERSIONS}
        first = next(iter(points.values()))
        client.run(f"mkdir {first}/home && chmod 777 {first}/home")
        for version, point in points.items():
            without = client.told(client.as_user(f"touch {point}/home/{version}"))
            check(without != "", f"{version}: a user without a ticket may write")
        client.become()
        for version, point in points.items():
            file = f"{point}/home/{version}"
            client.run(client.as_user(f"echo {version} > {file}; cat {file} >/dev/null"))
            seen = client.run(f"stat -c %u:%g {file}")
            check(seen == f"{USER[1]}:{USER[1]}", f"{version}: the file of {USER[0]} is {seen}")
        client.run(f"rm -r {first}/home")
        client.umount()
