"""Who a caller is to the server: squash, anonymous ids, owners by name."""

from lab_case import check, lab_test
from steps.exports import another_export, walker
from symlab.service import EXPORT

SECOND = "squashed"
FILE = f"/{SECOND}/owned"
BAD_OWNER = 10039  # NFS4ERR_BADOWNER
# (anonymous ids, what they are)
ANONYMOUS = ((None, "65534 65534"), ("70:80", "70 80"), ("0:99", "0 99"), ("", "65534 65534"))
# {squash: {caller: owner and group of what it makes}}; @ stands for the anonymous id.
SQUASHED = {
    "root": {"0 0": "@ @", "0 50": "@ 50", "60 0": "60 @", "60 50": "60 50"},
    "none": {"0 0": "0 0", "0 50": "0 50", "60 0": "60 0", "60 50": "60 50"},
    "all": {"0 0": "@ @", "0 50": "@ @", "60 0": "@ @", "60 50": "@ @"},
}
NO_OWNERS = ("alice@example.org", "@", "nobody", "root", "-1", "+5", "0x10", "007", "1e3",
             "4294967295", "4294967296", "18446744073709551617", "12@example.org", "5" * 2000)


@lab_test("operations/commands.md")
def squash_is_as_in_exports_5(bench):
    """Squashed callers are 65534:65534 or --anon; root squashes uid 0 and gid 0, and no more."""
    with another_export(bench, SECOND, "--squash", "none"), walker(bench) as client:
        client("mkdir", f"/{EXPORT}/ours", "777")
        folder = f"/{SECOND}/ours"
        client.expect(0, "access", folder)
        for anonymous, ids in ANONYMOUS:
            if anonymous is not None:
                bench.symnas("export", "set", SECOND, "--anon", anonymous)
            uid, gid = ids.split()
            for squash, callers in SQUASHED.items():
                bench.symnas("export", "set", SECOND, "--squash", squash)
                for caller, owner in callers.items():
                    client.expect(0, "as", *caller.split())
                    client.expect(0, "open", "it", f"{folder}/it")
                    client.expect(0, "close", "it")
                    user, group = owner.split()
                    wanted = f"{uid if user == '@' else user} {gid if group == '@' else group}"
                    seen = client.expect(0, "owner", f"{folder}/it").split()
                    check(" ".join(seen[:2]) == wanted, f"{caller} with squash {squash} and ids "
                                                        f"{ids} makes files of {seen}")
                    client.expect(0, "remove", f"{folder}/it")
        client.expect(0, "as", 0, 0)
        client.expect(0, "remove", f"/{EXPORT}/ours")


@lab_test("architecture/plugin.md")
def owners_by_name_are_bad(bench):
    """An owner or a group that is no number is BADOWNER, and nothing changes; numbers work."""
    file = f"/{EXPORT}/owned"
    with walker(bench) as client:
        client.expect(0, "open", "owned", file)
        client.expect(0, "close", "owned")
        client.expect(0, "chown", file, 12, 4294967294)
        before = client.expect(0, "owner", file)
        check(before.startswith("12 4294967294 "), f"the owner is {before}")
        for name in NO_OWNERS:
            client.expect(BAD_OWNER, "chown", file, name, "-")
            client.expect(BAD_OWNER, "chown", file, "-", name)
            client.expect(0, "owner", file, told=before)
        client.expect(0, "chown", file, 0, 0)
        client.expect(0, "remove", file)
