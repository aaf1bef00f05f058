"""The cases: a cluster on a SAN and what goes wrong there, each begun where the former has ended."""

from cases import check
from san_site import PAGE


def machines_boot(site):
    """Three kernels, Debian's systemd, our packages; nothing of ours runs yet."""
    site.boot_all()
    for name, machine in site.machines.items():
        state = machine.run("systemctl is-active vnfsd symnas-etcd", check=False).split()
        check(state == ["inactive"] * 2, f"{name}: {state}")


def luns_have_two_paths(site):
    site.carry_out(PAGE.commands("Paths to the LUNs"))
    for name in ("c1n1", "c1n2"):
        print(site.machines[name].run("multipath -ll"))


ALL = (machines_boot, luns_have_two_paths)


def wait_here(site):
    check(False, "wait")
ALL = (*ALL, wait_here)
