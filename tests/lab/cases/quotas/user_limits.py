"""Quotas of users: what heads that write at once use of one limit; what a refusal leaves."""

import threading

import labs
from lab_case import Shell, check, lab_test
from steps.user_quotas import COUNTED_S, counted, file_of, used
from symlab.service import EXPORT
from symlab.wait import eventually

MIB = 1 << 20
GIB = 1 << 30
STEP_BYTES = 4 * MIB
ANN, BOB, CAT = 1001, 1002, 1003
DENIED = "nfsstat3 69"  # NFS3ERR_DQUOT


def window_bytes(limit):
    """As docs/operations/quotas.md says."""
    return min(max(limit // 64, MIB), 64 * MIB)


def write_until_refused(shell, name, most, outcome):
    at = 0
    while at < most:
        answer = shell("write", name, at, STEP_BYTES, "a", "unstable")
        if not answer.startswith("NFS3_OK"):
            outcome[name] = answer
            break
        at += STEP_BYTES
    shell.expect("NFS3_OK", "commit", name)


@lab_test("operations/quotas.md", lab=labs.THREE_HEADS)
def three_heads_write_up_to_one_limit(bench):
    """A limit of 1 GiB, written at from three heads at once: how far over it they come."""
    shells = [Shell(service) for service in bench.services]
    names = [f"quota{n}" for n in range(len(shells))]
    with counted(bench):
        bench.symnas("quota", "set", EXPORT, "--user", str(ANN), "--bytes", "1G")
        for shell, name in zip(shells, names, strict=True):
            file_of(shell, name, ANN)
        outcome = {}
        writers = [threading.Thread(target=write_until_refused, args=(shell, name, GIB, outcome))
                   for shell, name in zip(shells, names, strict=True)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        refused = [name for name in names if outcome.get(name, "").startswith(DENIED)]
        check(len(refused) == len(names), f"not every head refuses: {outcome}")
        over = used(bench, ANN)["used_bytes"] - GIB
        most = (len(shells) - 1) * window_bytes(GIB)
        print(f"     1 GiB from {len(shells)} heads at once: {over / MIB:+.1f} MiB, "
              f"documented: at most {most / MIB:+.1f} MiB")
        check(over <= most, f"{over} bytes over the limit, {most} are documented")
        # What is there may be changed, another user is not concerned, and a removal makes room.
        shells[0].expect("NFS3_OK", "write", names[0], 0, STEP_BYTES, "b", "stable")
        shells[0].expect("NFS3_OK", "as", 0)
        file_of(shells[0], "other", BOB)
        shells[0].expect("NFS3_OK", "write", "other", 0, MIB, "c", "stable")
        shells[0].expect("NFS3_OK", "as", 0)
        shells[0].expect("NFS3_OK", "remove", names[0])
        late = ("write", names[1], GIB, MIB, "d", "stable")
        eventually(COUNTED_S, "the removal has made room",
                   lambda: shells[1](*late).startswith("NFS3_OK"))
        for name in (*names[1:], "other"):
            shells[0].expect("NFS3_OK", "remove", name)
        eventually(COUNTED_S, "nothing is used any more",
                   lambda: used(bench, ANN)["used_bytes"] == 0)
        bench.symnas("quota", "rm", EXPORT, "--user", str(ANN))
    for shell in shells:
        shell.close()


def refusals_logged(bench, uid):
    count = 0
    for path in bench.logs():
        with open(path, encoding="utf-8", errors="replace") as file:
            count += sum(f"quota: user {uid} uses" in line for line in file)
    return count


@lab_test("operations/quotas.md", lab=labs.THREE_HEADS)
def a_refused_write_leaves_nothing(bench):
    """A stable WRITE that does not fit changes neither size nor usage; the head serves on."""
    shell = Shell(bench.services[0])
    with counted(bench):
        bench.symnas("quota", "set", EXPORT, "--user", str(CAT), "--bytes", "1M", "--inodes", "10")
        file_of(shell, "small", CAT)
        shell.expect("NFS3_OK", "write", "small", 0, MIB - 65536, "a", "stable")
        answer = shell("write", "small", MIB - 65536, 131072, "b", "stable")
        check(answer.startswith(DENIED), f"a write over the limit: {answer}")
        shell.expect(f"NFS3_OK size={MIB - 65536}", "getattr", "small")
        check(used(bench, CAT)["used_bytes"] == MIB - 65536, f"{used(bench, CAT)}")
        for _ in range(5):
            answer = shell("write", "small", MIB, 131072, "b", "stable")
            check(answer.startswith(DENIED), f"a write over the limit: {answer}")
        lines = refusals_logged(bench, CAT)
        check(lines == 1, f"{lines} lines in the log about one user's refusals")
        shell.expect("NFS3_OK", "write", "small", MIB - 65536, 65536, "c", "stable")
        shell.expect("NFS3_OK", "read", "small", 0, MIB - 65536, "a")
        shell.expect("NFS3_OK", "as", 0)
        shell.expect("NFS3_OK", "remove", "small")
        bench.symnas("quota", "rm", EXPORT, "--user", str(CAT))
    shell.close()
