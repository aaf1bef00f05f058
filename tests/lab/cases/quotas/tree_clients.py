"""Limits of trees and filesystems as a Linux client shows them: df, mv, ln."""

from lab_case import check, lab_test
from steps.quota_trees import Folders, add_tree, trees
from steps.rpc import from_client
from steps.user_quotas import COUNTED_S, counted
from symlab.service import EXPORT, VIP
from symlab.wait import eventually
from uml_client import VERSIONS, uml_client

MIB = 1 << 20
LIMIT_BYTES, LIMIT_INODES = 16 * MIB, 100


def shown(client, path):
    """What df has of it: bytes, free and available ones, files and free ones."""
    unit, total, free, available, files, free_files = (
        int(word) for word in client.run(f"stat -f -c '%S %b %f %a %c %d' {path}").split())
    return [unit * total, unit * free, unit * available, files, free_files]


def check_df(client, version):
    """Of a mount of the tree's root, which holds a file of 1 MiB."""
    client.run(f"mkdir -p /mnt/tree && nfsmount -o {VERSIONS[version]} {VIP}:/{EXPORT}/limited "
               "/mnt/tree")
    found = shown(client, "/mnt/tree")
    client.run("umount /mnt/tree")
    wanted = [LIMIT_BYTES, LIMIT_BYTES - MIB, LIMIT_BYTES - MIB, LIMIT_INODES, LIMIT_INODES - 2]
    check(found == wanted, f"df of the tree over {version}: {found}, not {wanted}")


def check_mv(client, place):
    """A directory leaves the tree by mv, which copies when it is told EXDEV."""
    told = client.told(f"ln {place}/limited/file {place}/linked 2>&1 || echo refused")
    check("ross-device" in told and told.endswith("refused"), f"ln out of a tree: {told}")
    client.run(f"mkdir {place}/limited/below && cp {place}/limited/file {place}/limited/below/two")
    client.run(f"mv {place}/limited/below {place}/moved && cmp {place}/limited/file "
               f"{place}/moved/two && rm -r {place}/moved && ! test -e {place}/limited/below")


@lab_test("operations/quotas.md")
def a_tree_as_a_client_sees_it(bench):
    """df of a tree and of a limited filesystem over NFSv3 and 4; mv out of a tree copies."""
    bench.service.wait_serving()
    with counted(bench), uml_client(bench) as client:
        with from_client(bench):
            one = Folders(bench.service)
        root = one.mkdir("limited")
        one.ok(one.nfs.write(one.create("file", root), bytes(MIB)))
        add_tree(bench, "/limited")
        bench.symnas("quota", "set", EXPORT, "--tree", "/limited", "--bytes", "16M",
                     "--inodes", str(LIMIT_INODES))
        whole = one.ok(one.nfs.fsstat(one.root)).value
        stat = eventually(COUNTED_S, "FSSTAT shows the limit", lambda: limited(one, root))
        check((stat.fbytes, stat.abytes) == (15 * MIB, 15 * MIB), f"{stat}")
        check((stat.tfiles, stat.ffiles, stat.afiles) == (100, 98, 98), f"{stat}")
        check(whole.tbytes > LIMIT_BYTES, f"outside of the tree: {whole}")
        places = client.mount_all()
        for version, place in places.items():
            check_df(client, version)
            check(shown(client, place)[0] > LIMIT_BYTES, f"df outside of the tree over {version}")
            check_mv(client, place)
            eventually(COUNTED_S, "what has left the tree is not counted for it",
                       lambda: trees(bench)["/limited"]["used_inodes"] == 2)
        bench.symnas("quota", "set", EXPORT, "--filesystem", "--bytes", "32M", "--inodes",
                     str(LIMIT_INODES))
        for place in places.values():
            eventually(COUNTED_S, "df shows the limit of the filesystem",
                       lambda place=place: shown(client, place)[0] == 32 * MIB)
        bench.symnas("quota", "rm", EXPORT, "--filesystem")
        one.remove_directory(one.root, b"limited")


def limited(one, root):
    stat = one.ok(one.nfs.fsstat(root)).value
    return stat if stat.tbytes == LIMIT_BYTES else None
