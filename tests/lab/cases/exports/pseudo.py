"""The root of NFSv4, and what leads from there to the exports."""

from lab_case import check, lab_test
from steps.exit_status import CONFLICT
from steps.exports import CLIENTS, ELSEWHERE, another_export, walker
from symlab.service import EXPORT, VIP, VNFS

NOENT, ROFS = 2, 30


def inodes(client):
    return {path + name: inode for path in ("/", "/db/") for name, inode in
            client.names(path).items()}


def restart(bench):
    before = bench.kill_instance()
    bench.service.wait_serving(other_than=before["pid"])


@lab_test("architecture/plugin.md")
def pseudo_inodes_follow_the_path(bench):
    """Inode numbers and the order of READDIR stay while exports go, and after a restart."""
    with another_export(bench, "first", "--pseudo", "/aside/first"), \
            another_export(bench, "one", "--pseudo", "/db/one"), \
            another_export(bench, "two", "--pseudo", "/db/two"):
        with walker(bench) as client:
            before = inodes(client)
            check(len({inode for inode, _ in before.values()} | {0}) > 3, f"inodes: {before}")
        bench.symnas("export", "rm", "first", "--yes")
        bench.symnas("export", "rm", "one", "--yes")
        restart(bench)
        with walker(bench) as client:
            after = inodes(client)
            gone = {"/aside", "/db/one"}
            check(after == {path: inode for path, inode in before.items() if path not in gone},
                  f"inodes were {before}, are {after}")
            kept = [path for path in before if path not in gone]
            check(list(after) == kept, f"the order was {kept}, is {list(after)}")


@lab_test("architecture/plugin.md")
def what_leads_to_no_export_is_hidden(bench):
    """A directory that leads only to exports which a client may not use is not there for it."""
    with another_export(bench, "secret", "--pseudo", "/customers/smith", clients=ELSEWHERE), \
            walker(bench) as client:
        check("customers" not in client.names("/"), "the directory is listed")
        client.expect(NOENT, "list", "/customers")
        client.expect(NOENT, "list", "/customers/smith")
        with another_export(bench, "open", "--pseudo", "/customers/miller"):
            check(list(client.names("/customers")) == ["miller"], "the other export is listed")
        client.expect(NOENT, "list", "/customers")
        bench.symnas("export", "set", "secret", "--clients", CLIENTS)
        check(list(client.names("/customers")) == ["smith"], "the export is not listed")
        client.expect(0, "list", "/customers/smith")


def inner_rules_hold(client):
    client.expect(ROFS, "open", "file", f"/{EXPORT}/ours/file")
    for path in (f"/{EXPORT}/file", "/other/ours/file"):
        client.expect(0, "open", "file", path)
        client.expect(0, "close", "file")
        client.expect(0, "remove", path)
    check("ours" in client.names(f"/{EXPORT}"), "the inner one is not listed")


@lab_test("architecture/export_edits.md")
def nested_exports_have_their_own_rules(bench):
    """An export inside another one of the same filesystem, over NFSv3 and NFSv4."""
    with walker(bench) as client:
        client.expect(0, "mkdir", f"/{EXPORT}/ours", "777")
    with another_export(bench, "other", "--squash", "none"), \
            another_export(bench, "inner", "--path", "/ours", "--access", "ro", "--pseudo",
                           f"/{EXPORT}/ours"):
        with walker(bench) as client:
            inner_rules_hold(client)
            with bench.shell(url=f"nfs://{VIP}/{EXPORT}/ours") as inner, bench.shell() as outer:
                inner.expect("NFS3ERR_ROFS", "create", "file")
                outer.expect("NFS3_OK", "create", "file")
                outer.expect("NFS3_OK", "remove", "file")
            for words in (("rm", EXPORT, "--vnfs", VNFS), ("set", EXPORT, "--pseudo", "/else")):
                told = bench.refused(CONFLICT, "export", *words)
                check("inner" in told, told)
            bench.refused(CONFLICT, "export", "set", "inner", "--pseudo", f"/{EXPORT}/elsewhere")
        restart(bench)
        with walker(bench) as client:
            inner_rules_hold(client)
    with walker(bench) as client:
        client.expect(0, "open", "file", f"/{EXPORT}/ours/file")
        client.expect(0, "close", "file")
        client.expect(0, "remove", f"/{EXPORT}/ours/file")
        client.expect(0, "remove", f"/{EXPORT}/ours")
