"""Who a caller is to an export, in a COMPOUND of several exports."""

import nfs4_attributes as attr
import nfs4_ops as ops
from lab_case import check, lab_test
from nfs4_results import Connection
from steps.exports import another_export
from steps.nfs4 import expect, root_of
from steps.rpc import from_client
from symlab.service import VIP


@lab_test("architecture/plugin.md")
def a_restored_handle_has_its_own_squash(bench):
    """RESTOREFH into an export that squashes root, from one that does not (patch 0170): root is
    squashed there; the other way he is not."""
    with another_export(bench, "squashed", "--squash", "root"), from_client(bench):
        root = Connection(VIP)
        plain = root_of(root)
        squashed = root_of(root, "squashed")
        made = root.compound(0, ops.putfh(plain),
                             ops.create(ops.DIR, "folder", {attr.MODE: 0o700}))
        check(made.status == "OK", f"a folder of root: {made}")
        for first, second, wanted in ((squashed, plain, "ACCESS"), (plain, squashed, "OK")):
            seen = root.compound(0, ops.putfh(first), ops.lookup("folder"), ops.savefh(),
                                 ops.putfh(second), ops.restorefh(), ops.create(ops.DIR, "inside"))
            expect(seen.status, wanted, f"CREATE where the first is {first.hex()}")
        root.compound(0, ops.putfh(plain), ops.lookup("folder"), ops.remove("inside"))
        root.compound(0, ops.putfh(plain), ops.remove("folder"))
