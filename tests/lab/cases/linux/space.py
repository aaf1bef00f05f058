"""A Linux client of v4.2: space that is reserved, freed and looked for."""

import labs
from lab_case import check, lab_test
from uml_client import UNCACHED, uml_client

MIB = 1 << 20
V42 = f"vers=4.2,{UNCACHED}"


class SpaceOf:
    """fallocate(2), lseek(2) and what stat(2) says of one file, through one client."""

    def __init__(self, client, path):
        self.client = client
        self.path = path

    def told(self, *words):
        return self.client.run(f"guest_file space {self.path} {' '.join(map(str, words))}")

    def expect(self, wanted, *words):
        told = self.told(*words)
        check(told == wanted, f"{words} of {self.path}: {told}, not {wanted}")

    def used(self):
        """Size, and bytes that are used."""
        size, blocks = self.client.run(f"stat -c '%s %b' {self.path}").split()
        return int(size), int(blocks) * 512

    def expect_used(self, size, used):
        found = self.used()
        check(found == (size, used), f"{self.path}: size and space {found}, not {(size, used)}")

    def digest(self):
        return self.client.run(f"md5sum < {self.path}").split()[0]


def expect_all(file, other):
    """The life of a file whose space is changed through `file` and looked at through `other`."""
    run = file.client.run
    run(f"rm -f {file.path}; : > {file.path}")
    file.expect("done", "allocate", 0, 8 * MIB)
    other.expect_used(8 * MIB, 8 * MIB)
    other.expect("No such device or address", "data", 0)
    other.expect("0", "hole", 0)
    run(f"dd if=/dev/urandom of={file.path} bs=65536 seek=32 count=16 conv=notrunc 2>/dev/null")
    other.expect(str(2 * MIB), "data", 0)
    other.expect(str(3 * MIB), "hole", 2 * MIB)
    other.expect_used(8 * MIB, 8 * MIB)
    run(f"cp {file.path} /tmp/copy")
    for path in (file.path, "/tmp/copy"):
        run(f"guest_file space {path} punch {2 * MIB + 5000} {MIB // 2}")
    file.expect("done", "punch", 4 * MIB, 4 * MIB)
    wanted = run("md5sum < /tmp/copy").split()[0]
    check(other.digest() == wanted, "another client reads other bytes than were left")
    check(file.digest() == wanted, "the client itself reads other bytes than were left")
    other.expect_used(8 * MIB, 4 * MIB - MIB // 2 + 4096)
    other.expect(str(2 * MIB), "data", 0)
    other.expect(str(2 * MIB + 8192), "hole", 2 * MIB)
    other.expect("No such device or address", "data", 4 * MIB)
    other.expect("No such device or address", "hole", 8 * MIB)
    # The other one goes on, and the first one sees it.
    other.expect("done", "allocate", 4 * MIB, 5 * MIB)
    file.expect_used(9 * MIB, 9 * MIB - MIB // 2 + 4096)
    other.client.run(f"truncate -s 4096 {other.path}")
    file.expect_used(4096, 4096)


@lab_test("INV-4", "architecture/data_path.md", lab=labs.ONE_FILESYSTEM)
def kernel_space_on_two_heads(bench):
    """fallocate, holes, SEEK_DATA and du through two heads, in turn."""
    with uml_client(bench) as client:  # two servers: it shares nothing between the two mounts
        first, second = (SpaceOf(client, client.mount(name, service, V42) + "space")
                         for name, service in zip("ab", bench.services, strict=False))
        expect_all(first, second)
        expect_all(second, first)
        client.run(f"rm {first.path}")


@lab_test("INV-2", "architecture/data_path.md")
def kernel_space_and_a_full_filesystem(bench):
    """An ALLOCATE that does not fit changes nothing; one that fits keeps its place; umask holds."""
    with uml_client(bench) as client:
        place = client.mount_all(("v42",))["v42"]
        file = SpaceOf(client, f"{place}/reserved")
        client.run(f": > {file.path}")
        file.expect("done", "allocate", 0, 4 * MIB)
        before = file.used()
        for bytes_ in (1 << 40, 60 << 40):
            file.expect("No space left on device", "allocate", MIB, bytes_)
            check(file.used() == before, f"refused, and changed: {file.used()}, not {before}")
        file.expect("File too large", "allocate", 60 << 40, 60 << 40)
        file.expect("done", "punch", 0, 4 * MIB)
        file.expect_used(4 * MIB, 0)
        made = client.run(f"umask 027; : > {place}/made; mkdir {place}/dir; "
                          f"stat -c %a {place}/made {place}/dir; "
                          f"rm -r {place}/made {place}/dir {file.path}")
        check(made.split() == ["640", "750"], f"made with umask 027: {made}")
