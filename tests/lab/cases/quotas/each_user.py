"""Quotas: the limit of each user and each group."""

import labs
from lab_case import Shell, check, lab_test
from steps.user_quotas import counted, file_of
from symlab.service import EXPORT

MIB = 1 << 20
ANN, BOB, LATE = 1011, 1012, 1013
DENIED = "nfsstat3 69"  # NFS3ERR_DQUOT


def fills(shell, name, uid, mib):
    """The user's new file holds as much, and not one block more."""
    file_of(shell, name, uid)
    shell.expect("NFS3_OK", "write", name, 0, mib * MIB, "a", "stable")
    answer = shell("write", name, mib * MIB, 4096, "b", "stable")
    shell.expect("NFS3_OK", "as", 0)
    check(answer.startswith(DENIED), f"user {uid} with {mib} MiB writes another block: {answer}")


def rows(bench, verb):
    return {(row["kind"], row["id"]): row
            for row in bench.symnas.json("quota", verb, EXPORT)["quotas"]}


@lab_test("operations/quotas.md", lab=labs.THREE_HEADS)
def each_user_has_a_limit(bench):
    """It holds on every head for whoever has no limit of his own, not for others, not for root."""
    first, second = Shell(bench.services[0]), Shell(bench.services[1])
    with counted(bench):
        bench.symnas("quota", "set", EXPORT, "--each-user", "--bytes", "2M")
        bench.symnas("quota", "set", EXPORT, "--user", str(BOB), "--bytes", "1M")
        fills(first, "ann", ANN, 2)
        fills(second, "bob", BOB, 1)
        fills(second, "late", LATE, 2)
        first.expect("NFS3_OK", "create", "root")
        first.expect("NFS3_OK", "write", "root", 0, 3 * MIB, "c", "stable")
        listed, reported = rows(bench, "ls"), rows(bench, "report")
        check(("each_user", 0) in listed and ("user", ANN) not in listed, f"ls shows {listed}")
        check(reported[("user", ANN)].get("limit_of_each") is True, f"{reported}")
        check("limit_of_each" not in reported[("user", BOB)], f"{reported}")
        # An own limit of nothing lifts it.
        bench.symnas("quota", "set", EXPORT, "--user", str(LATE), "--bytes", "0")
        second.expect("NFS3_OK", "as", LATE)
        second.expect("NFS3_OK", "write", "late", 2 * MIB, MIB, "d", "stable")
        second.expect("NFS3_OK", "as", 0)
        bench.symnas("quota", "rm", EXPORT, "--each-user")
        first.expect("NFS3_OK", "as", ANN)
        first.expect("NFS3_OK", "write", "ann", 2 * MIB, MIB, "e", "stable")
        first.expect("NFS3_OK", "as", 0)
        for uid in (BOB, LATE):
            bench.symnas("quota", "rm", EXPORT, "--user", str(uid))
        bench.symnas("fs", "check", EXPORT, timeout_s=120.0)
        for name in ("ann", "bob", "late", "root"):
            first.expect("NFS3_OK", "remove", name)
    for shell in (first, second):
        shell.close()
