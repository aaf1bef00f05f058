"""Keytabs of VNFSs: what is refused, and keys that change under load."""

import os

from lab_case import check, lab_test
from steps.kerberos import give_keytab, kdc_of, kerberos_client, keytab_of, secured
from symlab import product
from symlab.kdc import REALM, host_name
from symlab.service import EXPORT, VIP, VNFS

KEY = b"k" * 32


def refused(bench, path, data):
    with open(path, "wb") as file:
        file.write(data)
    return bench.refused(2, "vnfs", "keytab", "set", VNFS, "--file", path)


def keytabs_of(bench):
    return {row["name"]: row["keytab"] for row in bench.symnas.json("vnfs", "ls")["vnfs"]}


@lab_test("operations/kerberos.md")
def unusable_keytabs_are_refused(bench):
    """No keytab, a damaged one, one of another name, of DES or RC4 only: each says what to do."""
    kdc = kdc_of(bench)
    give_keytab(bench, kdc, VNFS)
    before = keytabs_of(bench)
    path = kdc.path("unusable")
    ours = f"nfs/{host_name(VNFS)}"
    good = keytab_of((ours, REALM, 3, 18, KEY))
    for data, said in ((b"", "is none"), (b"garbage", "is none"), (good[:-5], "cut off"),
                       (keytab_of(), "no keys"),
                       (keytab_of(("nfs/other.symnas.lab", REALM, 3, 18, KEY)), "nfs/other"),
                       (keytab_of(("host/vnfs1", REALM, 3, 18, KEY)), "host/vnfs1"),
                       (keytab_of((ours, REALM, 3, 23, KEY), (ours, REALM, 3, 3, KEY[:8])), "RC4"),
                       (keytab_of((ours, REALM, 2, 18, KEY), (ours, REALM, 3, 23, KEY)), "RC4"),
                       (keytab_of((ours, REALM, 3, 18, KEY), (ours, "OTHER", 3, 18, KEY)),
                        "OTHER")):
        line = refused(bench, path, data)
        check(said in line, f"{said!r} is expected: {line}")
    os.remove(path)
    check(keytabs_of(bench) == before, "a refused keytab has changed something")


@lab_test("operations/kerberos.md")
def keys_change_while_clients_work(bench):
    """The next kvno: who has a ticket of the former goes on; no key is shown or logged."""
    kdc = kdc_of(bench)
    give_keytab(bench, kdc, VNFS)
    principal = f"nfs/{host_name(VNFS)}"
    with secured(bench, EXPORT, "krb5p,krb5"), kerberos_client(bench, kdc) as client:
        point = client.mount_with("krb5p", "v42", VIP, EXPORT)
        instance = bench.service.serving()
        work = client.start(f"cd {point}; while [ ! -e /tmp/end ]; do date > now && cat now "
                            ">/dev/null || exit 1; done")
        path = kdc.keytab("next.keytab", principal)
        bench.symnas("vnfs", "keytab", "set", VNFS, "--file", path)
        kvnos = {key["kvno"] for key in vnfs_row(bench)["keytab"]}
        check(len(kvnos) == 2, f"the keytab has kvnos {kvnos}, not the former and the new one")
        # With the former ticket, which gssd still has, and then with a new one.
        client.mount_with("krb5", "v3", VIP, EXPORT)
        client.restart_gssd()
        client.mount_with("krb5", "v41", VIP, EXPORT)
        client.run("touch /tmp/end")
        check(work.wait(60.0) == 0, f"the work has ended: {work.output}")
        check(bench.service.serving()["pid"] == instance["pid"], "the instance was replaced")
        client.umount()
    check_keys_stay_secret(bench, path)


def vnfs_row(bench):
    return next(row for row in bench.symnas.json("vnfs", "ls")["vnfs"] if row["name"] == VNFS)


def check_keys_stay_secret(bench, keytab):
    """No 16 bytes of the file's keys stand in a log, in hex, base64 or as they are; the instance's
    copy is for root alone."""
    with open(keytab, "rb") as file:
        secret = file.read()[-36:-4]
    forms = {secret, secret.hex().encode(), secret.hex().upper().encode()}
    for path in bench.logs():
        with open(path, "rb") as file:
            text = file.read()
        check(not any(form in text for form in forms), f"{path} has a key")
    shown = bench.symnas("vnfs", "keytab", "show", VNFS) + str(bench.symnas.json("vnfs", "ls"))
    check(secret.hex() not in shown, "a key is shown")
    run_dir = bench.lab.state.data["heads"][0]["run_dir"]
    copy = os.path.join(run_dir, "vnfs", VNFS, "krb5.keytab")
    check(os.stat(copy).st_mode & 0o777 == 0o600, f"{copy} may be read by others")


@lab_test("operations/kerberos.md")
def a_keytab_goes_when_nobody_needs_it(bench):
    """rm is refused while an export needs Kerberos; then it takes the keys off the head, too."""
    kdc = kdc_of(bench)
    give_keytab(bench, kdc, VNFS)
    run_dir = bench.lab.state.data["heads"][0]["run_dir"]
    copy = os.path.join(run_dir, "vnfs", VNFS, "krb5.keytab")
    with secured(bench, EXPORT, "krb5"):
        line = bench.refused(4, "vnfs", "keytab", "rm", VNFS)
        check(EXPORT in line, f"the export is not named: {line}")
    check(os.path.exists(copy), "the instance has no keytab")
    bench.symnas("vnfs", "keytab", "rm", VNFS)
    check(not os.path.exists(copy), "the instance still has its keytab")
    line = bench.refused(3, "vnfs", "keytab", "rm", VNFS)
    check("keytab set" in line, f"what to do is not said: {line}")
    try:
        bench.symnas("vnfs", "keytab", "set", "nosuch", "--file", kdc.path(f"{VNFS}.keytab"))
        raise AssertionError("a keytab was given to a VNFS that does not exist")
    except product.CommandFailed:
        pass
    # As it was: other cases use it.
    bench.symnas("vnfs", "keytab", "set", VNFS, "--file",
                 kdc.keytab(f"{VNFS}.keytab", f"nfs/{host_name(VNFS)}", new_keys=False))
