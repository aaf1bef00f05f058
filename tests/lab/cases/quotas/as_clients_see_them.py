"""RQUOTA: quota(1) of a Linux client, and the protocol as bytes."""

import labs
from lab_case import Shell, check, lab_test
from nfs4_wire import opaque, u32
from qemu_vm import QemuVm
from rpc_wire import AUTH_NONE, Rejected, Rpc, auth_sys
from steps.rpc import RQUOTA, RQUOTA_PORT, ask_by_datagram, from_client
from steps.user_quotas import counted, file_of, state
from symlab.cluster import NFS_BRIDGE
from symlab.service import EXPORT, VIP
from symlab.wait import SLOWER, eventually

MIB = 1 << 20
ANN, BOB, GROUP = 1001, 1002, 77
USER_KIND, GROUP_KIND, PROJECT_KIND = 0, 1, 2
GETQUOTA, GETACTIVEQUOTA, SETQUOTA, SETACTIVEQUOTA = 1, 2, 3, 4
OK, NOQUOTA, EPERM = 1, 2, 3  # qr_status
PATH_MAX = 1024               # RQ_PATHLEN
VM_S = 120.0
ANSWERED_S = 60.0

# quota(1) shows a server's export once, wherever it is mounted: one mount at a time. Blocks are of
# 1 KiB; each row has used, soft limit, hard limit and grace of blocks, then of files.
SHOW = f"""
mkdir -p /mnt/asked && guest_statd || exit 1
{{}} {VIP}:/{EXPORT} /mnt/asked || exit 1
quota -v -w -p -u {ANN} 2>&1
umount /mnt/asked
"""
MOUNTS = ("mount.nfs -o vers=3", "nfsmount -o vers=4.1")


class Asking:
    """One who asks, over TCP."""

    def __init__(self, credential, address=VIP):
        self.rpc = Rpc(address, RQUOTA_PORT)
        self.rpc.credential = credential

    def status(self, arguments, procedure=GETQUOTA, version=2):
        return self.rpc.call(RQUOTA, version, procedure, arguments).u32()

    def numbers(self, arguments, version=2):
        """rq_bsize, rq_active, bytes: hard, soft, used, inodes: the same, grace of both."""
        answer = self.rpc.call(RQUOTA, version, GETQUOTA, arguments)
        check(answer.u32() == OK, "no quota is answered")
        return [answer.u32() for _ in range(10)]

    def rejected(self, arguments, procedure=GETQUOTA, version=2):
        try:
            return f"status {self.status(arguments, procedure, version)}"
        except Rejected as rejected:
            return rejected.how


def user(uid, path="/" + EXPORT, kind=USER_KIND):
    return opaque(path) + u32(kind, uid)


def set_limits(bench):
    bench.symnas("quota", "set", EXPORT, "--user", str(ANN), "--bytes", "8M", "--soft-bytes", "1M",
                 "--inodes", "10", "--grace", "3600")
    bench.symnas("quota", "set", EXPORT, "--group", str(GROUP), "--bytes", "16M")


def remove_limits(bench):
    bench.symnas("quota", "rm", EXPORT, "--user", str(ANN))
    bench.symnas("quota", "rm", EXPORT, "--group", str(GROUP))


def check_numbers(numbers):
    unit, active, *rest = numbers
    check([unit * value for value in rest[:3]] == [8 * MIB, MIB, 2 * MIB], f"{numbers}")
    check([active, *rest[3:6], rest[7]] == [1, 10, 0, 1, 0], f"{numbers}")
    check(3000 < rest[6] <= 3600, f"{rest[6]} s of grace are left")


def check_who_may_ask(ann, bob, root):
    check_numbers(eventually(ANSWERED_S, "the grace has begun", lambda: over_soft(ann)))
    check_numbers(ann.numbers(opaque("/" + EXPORT) + u32(ANN), version=1))
    check_numbers(root.numbers(user(ANN)))
    check_numbers(ann.numbers(user(ANN, EXPORT)))  # as quota(1) asks for mounts of NFSv4
    check_numbers(ann.numbers(user(ANN, f"/{EXPORT}/below/it")))
    check(bob.status(user(ANN)) == EPERM, "a user is told about another one")
    check(bob.status(user(GROUP, kind=GROUP_KIND)) == EPERM, "a user is told about a group")
    check(ann.numbers(user(GROUP, kind=GROUP_KIND))[2] != 0, "no limit of the caller's group")
    check(bob.numbers(user(BOB))[2:5] == [0, 0, 0], "a user without a limit")
    nobody = Asking(AUTH_NONE)
    check(nobody.rejected(user(ANN)) == f"status {EPERM}", "a caller without a name is told")


def over_soft(ann):
    numbers = ann.numbers(user(ANN))
    return numbers if numbers[8] != 0 else None


def check_bad_input(root):
    check(root.status(user(ANN, "/no such export")) == NOQUOTA, "a path that is not exported")
    check(root.status(user(ANN, "/")) == NOQUOTA, "the pseudo root")
    check(root.status(user(ANN, "")) in (NOQUOTA, EPERM), "no path")
    check(root.status(user(ANN, "/" + "x" * (PATH_MAX - 1))) in (NOQUOTA, EPERM), "a long path")
    check(root.status(user(ANN, kind=PROJECT_KIND)) == NOQUOTA, "a project")
    check(root.status(user(ANN, kind=0xFFFFFFFF)) == NOQUOTA, "a kind that is none")
    check(root.status(user(0xFFFFFFFE)) == OK, "the largest user")
    for what, arguments in (("a path too long", user(ANN, "x" * (PATH_MAX + 1))),
                            ("half of it", user(ANN)[:-5]), ("nothing", b""),
                            ("a length without a path", u32(0xFFFFFFFF))):
        check(root.rejected(arguments) == "GARBAGE_ARGS", f"{what}: {root.rejected(arguments)}")
    check(root.rejected(user(ANN), procedure=9) == "PROC_UNAVAIL", "procedure 9")
    check(root.rejected(user(ANN), version=3) == "PROG_MISMATCH", "version 3")


def check_setting_is_refused(root):
    for procedure in (SETQUOTA, SETACTIVEQUOTA):
        arguments = u32(0) + opaque("/" + EXPORT) + u32(ANN, USER_KIND) + u32(*[1] * 8)
        check(root.status(arguments, procedure) == EPERM, f"procedure {procedure} is not refused")
    check(root.status(user(ANN), GETACTIVEQUOTA) == OK, "GETACTIVEQUOTA")


@lab_test("operations/quotas.md")
def rquota_as_bytes(bench):
    """RQUOTA 1 and 2: who may ask about whom, what is answered, bad input, no quotas."""
    bench.service.wait_serving()
    before = bench.service.serving()["pid"]
    shell = Shell(bench.service)
    with from_client(bench):
        ann, bob, root = (Asking(auth_sys(uid, uid, groups)) for uid, groups
                          in ((ANN, (GROUP,)), (BOB, ()), (0, ())))
        check(ann.status(user(ANN)) == NOQUOTA, "quotas that are off")
        with counted(bench):
            set_limits(bench)
            file_of(shell, "rquota", ANN)
            shell.expect("NFS3_OK", "write", "rquota", 0, 2 * MIB, "a", "stable")
            check_who_may_ask(ann, bob, root)
            check_bad_input(root)
            check_setting_is_refused(root)
            message = u32(7, 0, 2, RQUOTA, 2, GETQUOTA) + auth_sys(ANN, ANN) + AUTH_NONE
            reply = ask_by_datagram(message + user(ANN), port=RQUOTA_PORT)
            check(reply and len(reply) == 24 + 44, f"over UDP: {reply}")
            reply = ask_by_datagram(message[:30], port=RQUOTA_PORT)
            check(reply is None or len(reply) < 24 + 44, f"half a header is answered {reply}")
            shell.expect("NFS3_OK", "as", 0)
            shell.expect("NFS3_OK", "remove", "rquota")
            remove_limits(bench)
        eventually(ANSWERED_S, "quotas are off for clients, too",
                   lambda: ann.status(user(ANN)) == NOQUOTA)
    shell.close()
    check(bench.service.serving()["pid"] == before, "the instance has ended")


def limited(bench, service):
    """What that service says of the limited user; None: it shows no limit yet."""
    with from_client(bench):
        numbers = Asking(auth_sys(ANN, ANN), service.vip).numbers(user(ANN))
    return numbers if numbers[2] != 0 else None


@lab_test("operations/quotas.md", lab=labs.THREE_HEADS)
def rquota_after_a_move(bench):
    """All heads answer the same of one filesystem; a VNFS that has moved answers on."""
    service = bench.services[0]
    home = service.head
    with counted(bench):
        set_limits(bench)
        seen = [eventually(ANSWERED_S, f"{each.name} knows the limit",
                           lambda each=each: limited(bench, each)) for each in bench.services]
        check(all(numbers == seen[0] for numbers in seen), f"heads differ: {seen}")
        for head in (bench.services[1].head, home):
            service.rehost(head)
            service.wait_serving()
            check(limited(bench, service) == seen[0], f"on {head}: {limited(bench, service)}")
        remove_limits(bench)


def check_quota_program(vm):
    for mount in MOUNTS:
        done = vm.run(SHOW.format(mount), VM_S * SLOWER)
        rows = [line.split() for line in done.output.splitlines() if f":/{EXPORT}" in line]
        found = [row[1:4] + row[5:8] for row in rows]
        check(found == [["2048*", "1024", "8192", "1", "0", "10"]],
              f"quota after {mount}: status {done.status}: {done.output}")


@lab_test("operations/quotas.md")
def linux_shows_a_quota(bench):
    """`quota -u` of a Linux client, mounts of NFSv3 and 4.1, also after a crash of the instance."""
    vm = QemuVm("vm1", bench.lab.vm_root())
    vm.stop()
    vm.start("10.0.0.202/24", NFS_BRIDGE, bench.lab.hub_netns, cgroup=bench.lab.cgroup())
    shell = Shell(bench.service)
    try:
        with counted(bench):
            set_limits(bench)
            file_of(shell, "shown", ANN)
            shell.expect("NFS3_OK", "write", "shown", 0, 2 * MIB, "a", "stable")
            check_quota_program(vm)
            before = bench.kill_instance()
            bench.service.wait_serving(other_than=before["pid"])
            check(state(bench) == "on", "quotas are not on after the crash")
            check_quota_program(vm)
            shell.expect("NFS3_OK", "reconnect")
            shell.expect("NFS3_OK", "as", 0)
            shell.expect("NFS3_OK", "remove", "shown")
            remove_limits(bench)
    finally:
        vm.stop()
    shell.close()
