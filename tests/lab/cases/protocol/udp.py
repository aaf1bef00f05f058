"""UDP: what is offered over it works, and does no harm to what is not."""

import os
import socket
import struct
import subprocess

import kernel_clients
import labs
from lab_case import check, lab_test
from steps.rpc import (MOUNT, MOUNT_PORT, NFS, NFS_PORT, NLM, NLM_PORT, NULL_REPLY_BYTES, RQUOTA,
                       Cost, ask_by_datagram, ask_by_stream, call, check_answers, from_client)
from symlab import product
from symlab.service import EXPORT, VIP
from symlab.wait import SLOWER

CALLS = 50
WAITED_S = 3
CPU_S_MAX = 1.0
LINES_MAX = 100
PROGRAM_S = 30.0
VM_S = 60.0
RPCINFO = "/usr/sbin/rpcinfo"
SHOWMOUNT = os.path.join(product.cache_dir(), "statd", "showmount")
# What ganesha registers: MOUNT and RQUOTA over both, the others over TCP only.
REGISTERED = {(MOUNT, "udp"), (MOUNT, "tcp"), (RQUOTA, "udp"), (RQUOTA, "tcp"), (NFS, "tcp"),
              (NLM, "tcp")}
EXPORTS, DUMP = 5, 2  # of MOUNT
# mount.nfs asks MOUNT over UDP first.
PLAIN_MOUNT = f"""
guest_statd && mkdir -p /mnt/plain || exit 1
mount.nfs {VIP}:/{EXPORT} /mnt/plain -o vers=3 || exit 1
echo plain >/mnt/plain/plain && [ "$(cat /mnt/plain/plain)" = plain ] || exit 1
rm /mnt/plain/plain && umount /mnt/plain
"""


def said(bench, *words):
    """(exit status, output) of a program at the client."""
    process = bench.lab.popen_in("client", words, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
    output, _ = process.communicate(timeout=PROGRAM_S)
    return process.returncode, output


def check_cost(cost, what):
    check(cost.cpu_s < CPU_S_MAX, f"{what}: {cost.cpu_s:.2f} s of a processor")
    check(cost.lines < LINES_MAX, f"{what}: {cost.lines} lines in the log")


@lab_test("architecture/ganesha_settings.md")
def udp_goes_on_after_a_datagram(bench):
    """NULL of MOUNT over UDP, 50 times: each is answered, and the instance rests afterwards."""
    cost = Cost(bench)
    with from_client(bench):
        for _ in range(CALLS):
            reply = ask_by_datagram(call(MOUNT, 3))
            check(reply and len(reply) == NULL_REPLY_BYTES, f"NULL is answered {reply}")
        bench.let_run(WAITED_S)
        check_answers("after the datagrams")
    check_cost(cost, f"{CALLS} datagrams")


@lab_test("architecture/ganesha_settings.md")
def rpcbind_knows_what_is_offered(bench):
    """`rpcinfo -p` and `-u` of a VIP: MOUNT and RQUOTA over UDP, NFS and NLM over TCP only."""
    _, listed = said(bench, RPCINFO, "-p", VIP)
    rows = [line.split() for line in listed.splitlines() if line.split()[:1] != ["program"]]
    seen = {(int(row[0]), row[2]) for row in rows if int(row[0]) in (MOUNT, RQUOTA, NFS, NLM)}
    check(seen == REGISTERED, f"rpcinfo -p: {listed}")
    for program, version, there in ((MOUNT, 3, True), (RQUOTA, 2, True), (NLM, 4, False),
                                    (NFS, 3, False)):
        status, output = said(bench, RPCINFO, "-u", VIP, str(program), str(version))
        check((status == 0) == there, f"rpcinfo -u of program {program}: {status}, {output}")
    with from_client(bench):
        for program, version, port in ((NFS, 3, NFS_PORT), (NLM, 4, NLM_PORT)):
            check(ask_by_datagram(call(program, version), port=port) is None,
                  f"program {program} answers over UDP")


@lab_test("architecture/ganesha_settings.md")
def showmount_works_over_udp_and_tcp(bench):
    """EXPORT and DUMP of MOUNT over UDP and TCP name the export; showmount -e does."""
    with from_client(bench):
        for ask in (lambda message: ask_by_datagram(message),
                    lambda message: ask_by_stream(message, MOUNT_PORT)):
            reply = ask(call(MOUNT, 3, EXPORTS))
            check(reply and b"/" + EXPORT.encode() in reply, f"EXPORT is answered {reply}")
            reply = ask(call(MOUNT, 3, DUMP))
            check(reply and struct.unpack(">I", reply[20:24])[0] == 0, f"DUMP: {reply}")
    status, output = said(bench, SHOWMOUNT, "-e", "--no-headers", VIP)
    check(status == 0 and f"/{EXPORT}" in output, f"showmount -e: {status}, {output}")


@lab_test("architecture/ganesha_settings.md")
def linux_mounts_v3_without_other_options(bench):
    """`mount -o vers=3` of a Linux client, twice: it works, and the instance rests afterwards."""
    vm = kernel_clients.boot(bench, "vm1", kernel_clients.FIRST_ADDRESS)
    try:
        cost = Cost(bench)
        for which in ("first", "second"):
            done = vm.run(PLAIN_MOUNT, VM_S * SLOWER)
            check(done.status == 0, f"{which} mount: status {done.status}: {done.output}")
        bench.let_run(WAITED_S)
        check_cost(cost, "two mounts")
        with from_client(bench):
            check_answers("after the mounts")
    finally:
        vm.stop()


@lab_test("architecture/ganesha_settings.md")
def reply_to_port_0_leaves_no_memory(bench):
    """2,000 datagrams from port 0, to which nothing can be sent, cost no memory."""
    message = call(MOUNT, 3)
    head = struct.pack(">HHHH", 0, MOUNT_PORT, 8 + len(message), 0)
    with from_client(bench):
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP) as raw:
            for _ in range(200):
                raw.sendto(head + message, (VIP, 0))
            check_answers("after the first")
            cost = Cost(bench)
            for _ in range(2000):
                raw.sendto(head + message, (VIP, 0))
        bench.let_run(WAITED_S)
        check_answers("afterwards")
    check(cost.memory_bytes < 4 << 20, f"{cost.memory_bytes} bytes more")
    check_cost(cost, "datagrams from port 0")


@lab_test("architecture/ganesha_settings.md", lab=labs.NETWORKS)
def mount_over_udp_is_answered_by_each_vip(bench):
    """NULL of MOUNT over UDP to each VIP, IPv4 and IPv6: the reply comes from that VIP."""
    for service in bench.services:
        with from_client(bench):
            for vip in service.vips:
                reply = ask_by_datagram(call(MOUNT, 3), vip)
                check(reply and len(reply) == NULL_REPLY_BYTES, f"{vip} answers {reply}")
