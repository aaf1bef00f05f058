"""What a client VM needs beyond its initial file system to mount with Kerberos, as a disk:
rpc.gssd, kinit and their libraries, the kernel's modules, krb5.conf, the names of the servers.

The keytab is not on the disk: write_keytab() gives a script that puts it into the running VM.
"""

import base64
import glob
import os

import vm_image
from symlab import kdc
from vm_disk import disk_of

PROGRAMS = {"rpc.gssd": "usr/sbin", "kinit": "usr/bin", "klist": "usr/bin", "kdestroy": "usr/bin"}
# hmac, cts and cbc are what the enctypes of AES are made of: the kernel asks for them by name.
MODULES = ("hmac", "cbc", "cts", "auth_rpcgss", "rpcsec_gss_krb5")
KEYTAB = "/etc/krb5.keytab"
CLIENT = f"client1.{kdc.DOMAIN}"  # the machine that clients of a lab are
CLIENT_KEYTAB = "client.keytab"

# Runs once in a VM whose first disk this is.
START = """
[ -e /run/gssd.started ] && exit 0
mkdir -p /krb /run/rpc_pipefs /var/lib/nfs /run/user && cd /krb && tar xf /dev/vda || exit 1
for module in $(cat modules/order); do insmod modules/$module || exit 1; done
cp etc/* /etc/ && cp bin/* /bin/ || exit 1
to=/lib/x86_64-linux-gnu
for library in lib/*; do [ -e $to/${library#lib/} ] || cp $library $to/ || exit 1; done
mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs || exit 1
touch /run/gssd.started
"""
GSSD = "rpc.gssd -p /run/rpc_pipefs {more} >/tmp/gssd.log 2>&1"


def add_client(realm):
    """The machine's principal and keytab, made once in a lab."""
    if not os.path.exists(realm.path(CLIENT_KEYTAB)):
        realm.add_principal(f"nfs/{CLIENT}")
        realm.keytab(CLIENT_KEYTAB, f"nfs/{CLIENT}")


def start_script(realm):
    """What makes a VM with this disk a client of the realm. REQUIRES: add_client()."""
    return (f"hostname {CLIENT.split('.', maxsplit=1)[0]}\n" + START +
            write_keytab(realm.path(CLIENT_KEYTAB)) + GSSD.format(more=""))


def make(folder, hosts):
    """Returns the path of the disk. hosts: {address: name}."""
    root = kdc.programs_dir()
    programs = {name: os.path.join(root, place, name) for name, place in PROGRAMS.items()}
    libraries = vm_image.libraries(programs.values(), kdc.library_dir(root))
    # libkrb5's plug-ins and libc's name services are opened by name.
    libraries += glob.glob("/lib/x86_64-linux-gnu/libnss_files.so.2")
    kernel = vm_image.uml_kernel()
    modules = vm_image.modules_in_order(kernel.modules_dir, MODULES)
    already = vm_image.modules_in_order(kernel.modules_dir, kernel.modules)
    modules = [path for path in modules if path not in already]
    names = "127.0.0.1 localhost\n" + "".join(f"{at} {name}\n" for at, name in hosts.items())

    def add(tar):
        for name, path in programs.items():
            tar.add(path, f"bin/{name}")
        for path in libraries:
            tar.add(os.path.realpath(path), f"lib/{os.path.basename(path)}")
        for path in modules:
            tar.add(path, f"modules/{os.path.basename(path)}")
        order = "".join(f"{os.path.basename(path)}\n" for path in modules)
        for name, text in (("modules/order", order), ("etc/krb5.conf", kdc.KRB5_CONF),
                           ("etc/hosts", names)):
            file = os.path.join(folder, name.replace("/", "."))
            with open(file, "w", encoding="ascii") as out:
                out.write(text)
            tar.add(file, name)

    return disk_of(folder, "kerberos.tar", add)


def write_keytab(path):
    """A script that puts the keytab at this path into the VM it runs in."""
    with open(path, "rb") as file:
        text = base64.b64encode(file.read()).decode()
    return f"echo {text} | base64 -d > {KEYTAB}.new && mv {KEYTAB}.new {KEYTAB}\n"
