"""Times and counts as a Linux client shows them."""

from lab_case import check, eventually, lab_test
from uml_client import uml_client

FILES = 50
COUNTED_S = 20.0
# The first and the last second that symnas stores, and what of them NFSv3 can say (32 bits).
FIRST, LAST = -9223372036, 9223372035
FAR = {"1600-01-01 00:00": FIRST, "3000-01-01 00:00": LAST}


@lab_test("operations/errors.md")
def times_out_of_range_are_clamped(bench):
    """A file's time before 1678 or after 2262 becomes the nearest one, over every NFSv4."""
    with uml_client(bench) as client:
        for version, place in client.mount_all(("v40", "v41", "v42")).items():
            for wanted, second in FAR.items():
                client.run(f"touch {place}/f && touch -d '{wanted}' {place}/f")
                seen = client.run(f"stat -c '%X %Y' {place}/f")
                check(seen == f"{second} {second}", f"{version}: {wanted} became {seen}")
                client.run(f"rm {place}/f")


@lab_test("architecture/space.md")
def inodes_are_counted(bench):
    """df -i of a Linux client follows what is made and removed; more fit than there are."""
    with uml_client(bench) as client:
        def used(place):
            total, free = map(int, client.run(f"stat -f -c '%c %d' {place}").split())
            check(free > 0, f"{free} of {total} files are free")
            return total - free

        def wait_used(place, count):
            eventually(COUNTED_S, f"{count} files are counted", lambda: used(place) == count)

        for place in client.mount_all(("v3", "v41")).values():
            before = used(place)
            client.run(f"mkdir {place}/many; for i in $(seq {FILES}); do : > {place}/many/$i; done")
            wait_used(place, before + FILES + 1)
            client.run(f"rm -r {place}/many")
            wait_used(place, before)
