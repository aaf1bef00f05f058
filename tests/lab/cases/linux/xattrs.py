"""Extended attributes as programs of a Linux client see them."""

from lab_case import check, lab_test
from uml_client import uml_client

# A call of guest_xattr, and what it prints: nothing, a value, names or an errno.
CALLS = (
    ("get f user.a", "ENODATA"), ("list f", ""),
    ("set f user.a hello", ""), ("get f user.a", "hello"),
    ("create f user.a x", "EEXIST"), ("replace f user.b x", "ENODATA"),
    ("set f user.a again", ""), ("get f user.a", "again"),
    ("set f user.empty ''", ""), ("get f user.empty", ""),
    ("set f user.big @65536", ""), ("get f user.big", "@65536"),
    ("set f user.bigger @65537", "E2BIG"), ("set f user.second @65536", "E2BIG"),
    ("list f", "user.a user.big user.empty"),
    ("remove f user.big", ""), ("remove f user.big", "ENODATA"), ("get f user.big", "ENODATA"),
    ("set d user.of.a/directory 1", ""), ("get d user.of.a/directory", "1"),
    ("set soft user.a 1", "EPERM"), ("get fifo user.a", "ENODATA"),
    ("set f trusted.a 1", "EOPNOTSUPP"),
    ("list moved/f", "user.a user.empty"), ("get hard user.a", "again"),
)
PREPARE = "set -e; mkdir d dir; : > f; ln -s f soft; mkfifo fifo"
LINKED = "set -e; ln f hard; mv dir moved; mv f moved/f; : > f; guest_xattr set f user.a other"
SECOND = "moved/f"


def expect(client, place, call, wanted, user=None):
    """Only user.* of a list counts: other attributes have their own tests."""
    script = f"cd {place} && guest_xattr {call}"
    said = client.told(f'su {user} -c "{script}"' if user else script)
    if call.startswith("list"):
        said = " ".join(name for name in said.split() if name.startswith("user."))
    check(said == wanted, f"guest_xattr {call}{' by ' + user if user else ''}: {said!r}, not "
                          f"{wanted!r}")


@lab_test("operations/xattrs.md", "architecture/metadata.md")
def kernel_xattrs(bench):
    """Linux, NFSv4.2: setxattr, getxattr, listxattr, removexattr; limits, who may, a restart."""
    with uml_client(bench) as client:
        places = client.mount_all(("v42", "v3"))
        place = f"{places['v42']}/xattrs"
        client.run(f"mkdir {place} && cd {place} && {PREPARE}")
        linked = False
        for call, wanted in CALLS:
            if SECOND in call and not linked:
                client.run(f"cd {place} && {LINKED}")
                linked = True
            expect(client, place, call, wanted)
        check_users(client, place)
        before = bench.kill_instance()
        expect(client, place, "get moved/f user.a", "again")
        bench.service.wait_serving(other_than=before["pid"])
        expect(client, place, "set moved/f user.a 'after a restart'", "")
        expect(client, place, "get hard user.a", "after a restart")
        client.run(f"cd {place} && : > many && guest_xattr fill many 255")
        expect(client, place, "set many user.more 1", "ENOSPC")
        expect(client, place, "get many user.n254", "254")
        expect(client, f"{places['v3']}/xattrs", "set f user.a 1", "EOPNOTSUPP")
        client.run(f"rm -r {place}")


def check_users(client, place):
    client.run(f"cd {place} && : > own && chown user:user own && guest_xattr set own user.a 1 && "
               "chmod 700 . && chmod 755 .")
    expect(client, place, "set own user.a 2", "", user="user")
    client.run(f"chown 0:0 {place}/own && chmod 644 {place}/own")
    expect(client, place, "get own user.a", "2", user="user")
    expect(client, place, "set own user.a 3", "EACCES", user="user")
    expect(client, place, "remove own user.a", "EACCES", user="user")
    client.run(f"chmod 646 {place}/own")
    expect(client, place, "set own user.a 3", "", user="user")
    client.run(f"chmod 600 {place}/own")
    expect(client, place, "get own user.a", "EACCES", user="user")
    expect(client, place, "get own user.a", "3")
