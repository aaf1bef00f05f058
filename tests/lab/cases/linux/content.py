"""Linux clients on different heads of one filesystem: the content of files."""

import itertools

import labs
from kernel_clients import UNCACHED, finish, kernel_clients, output_of
from lab_case import check, eventually, lab_test
from steps.lock_holders import VERSIONS

# Each is done to a file $1 and to a copy outside; the fresh bytes are others every time.
CONTENT_CHANGES = (
    "cp /tmp/fresh $1",
    "dd if=/tmp/fresh of=$1 bs=4096 seek=3 count=2 conv=notrunc 2>/dev/null",
    "cat /tmp/fresh >> $1",
    "truncate -s 30000 $1",
    "dd if=/tmp/fresh of=$1 bs=1000 seek=7 count=1 conv=notrunc 2>/dev/null",
    "dd if=/tmp/fresh of=$1 bs=1000 seek=7 count=1 conv=notrunc 2>/dev/null",
    "cp /tmp/fresh $1.new; mv $1.new $1",
)
WRITER = """
set -e
dd if=/dev/urandom of=/tmp/fresh bs=1000 count=50 2>/dev/null
for file in /tmp/copy {file}; do set -- $file; {change}; done
echo $(stat -c %s /tmp/copy) $(md5sum < /tmp/copy)
"""
READER = """
exec 3< {file} || exit 1
echo $(stat -L -c %s /proc/self/fd/3) $(md5sum <&3)
"""


def mount_versions(client, service, options):
    return {version: client.mount(version, service, f"{option},{options}".strip(","))
            for version, option in VERSIONS.items()}


def crossings(one, other):
    """Writer and its version, reader and its version: all versions, both ways."""
    ways = itertools.cycle(((one, other), (other, one)))
    for (writer, reader), (wrote, read) in zip(ways, itertools.product(VERSIONS, VERSIONS),
                                              strict=False):
        yield writer, wrote, reader, read


@lab_test("INV-4", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def kernel_close_to_open(bench):
    """Data written and closed through one head is read when opened through another."""
    with kernel_clients(bench, "close-to-open") as (one, other):
        paths = {one: mount_versions(one, bench.services[0], ""),
                 other: mount_versions(other, bench.services[1], "")}
        for writer, wrote, reader, read in crossings(one, other):
            for change in CONTENT_CHANGES:
                wanted = writer.run(WRITER.format(file=paths[writer][wrote] + "/f", change=change))
                seen = reader.run(READER.format(file=paths[reader][read] + "/f"))
                check(seen == wanted, f"`{change}` through {writer.vm.name} {wrote}, then opened "
                                      f"through {reader.vm.name} {read}: {seen}, not {wanted}")


ATTRIBUTE_CHANGES = (
    "chmod 600 $1", "chown 7:9 $1", "truncate -s 12345 $1", "printf 67890 >> $1",
    "touch -d '2001-02-03 04:05:06' $1", "ln $1 $1.too", "rm $1.too", "truncate -s 3 $1",
    "printf abc | dd of=$1 conv=notrunc 2>/dev/null",
    "printf abd | dd of=$1 conv=notrunc 2>/dev/null",
)


@lab_test("INV-4", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def kernel_attributes_at_once(bench):
    """With noac or actimeo=0 a change through one head is seen at once through another."""
    with kernel_clients(bench, "attributes") as (one, other):
        options = {"v3": "vers=3,noac", "v41": f"vers=4.1,{UNCACHED}"}
        paths = {(client, version): client.mount(version, service, option) + "/f"
                 for client, service in zip((one, other), bench.services[:2], strict=True)
                 for version, option in options.items()}
        for writer, wrote, reader, read in crossings(one, other):
            file, its_file = paths[writer, wrote], paths[reader, read]
            writer.run(f"rm -f {file}; echo long enough > {file}")
            before = reader.run(f"guest_file attributes {its_file}")
            for change in ATTRIBUTE_CHANGES:
                wanted = writer.run(f"set -e; set -- {file}; {change}; guest_file attributes $1")
                seen = reader.run(f"guest_file attributes {its_file}")
                check_moved(before, seen, f"`{change}` through {wrote}, seen through {read}")
                # Bytes in place while others have tokens: each mount makes the times up.
                same = "notrunc" in change or seen == wanted
                check(same, f"`{change}` through {wrote}: {read} shows {seen}, not {wanted}")
                before = seen


def check_moved(before, after, what):
    """The ctime has grown."""
    times = [int(line.rpartition("ctime=")[2]) for line in (before, after)]
    check(times[0] < times[1], f"{what}: {after} after {before}")


APPENDS = 25


@lab_test("INV-4", "INV-7", lab=labs.ONE_FILESYSTEM)
def kernel_appends_lose_nothing(bench):
    """O_APPEND of four writers, each under an fcntl lock or in turn: nothing is lost."""
    with kernel_clients(bench, "append") as clients:
        one, other = clients
        paths = [client.mount(f"h{at}", bench.services[at], "vers=4.1") + "/locked"
                 for at, client in enumerate((one, one, other, other))]
        one.run(f": > {paths[0]}")
        jobs = {f"writer{at}": clients[at // 2].start(
                    f"guest_file append {path} writer{at} {APPENDS}")
                for at, path in enumerate(paths)}
        refused = [int(said.rpartition(" ")[2]) for said in finish(jobs).values()]
        lines = other.run(f"cat {paths[2]}").splitlines()
        wanted = [f"writer{at} {n}" for at in range(4) for n in range(APPENDS)]
        check(sorted(lines) == sorted(wanted), f"of {len(wanted)} lines {len(lines)} are there, "
              f"missing {set(wanted) - set(lines)}, foreign {set(lines) - set(wanted)}")
        for at in range(4):
            own = [line for line in lines if line.startswith(f"writer{at} ")]
            check(own == wanted[at * APPENDS:][:APPENDS], f"out of order: {own}")
        check(sum(refused) > 0, "no lock was ever refused: the writers did not meet")

        paths = [(client, client.mount(version, service, option) + "/turns")
                 for version, option in VERSIONS.items()
                 for client, service in zip(clients, bench.services[1:], strict=False)]
        for n in range(16):
            client, path = paths[n % len(paths)]
            client.run(f"echo turn {n} >> {path}")
        seen = one.run(f"cat {paths[0][1]}").splitlines()
        check(seen == [f"turn {n}" for n in range(16)], f"one after the other: {seen}")


@lab_test("INV-4", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def kernel_direct_writes_of_four(bench):
    """O_DIRECT blocks of 8 KiB and 512 bytes by four writers through four heads: none is lost."""
    with kernel_clients(bench, "direct") as clients:
        one, other = clients
        mounts = [clients[at // 2].mount(f"h{at}", bench.services[at],
                                         list(VERSIONS.values())[at % 2]) for at in range(4)]
        readers = [(one, one.mount("back", bench.services[3], "vers=4.1")),
                   (other, other.mount("back", bench.services[0], "vers=3"))]
        for size, count in ((8192, 256), (512, 512)):
            name = f"blocks{size}"
            one.run(f": > {mounts[0]}/{name}")
            for turn in range(3):  # the first one makes the file grow
                finish({f"writer {at} of {size} bytes": clients[at // 2].start(
                            f"guest_file write {path}/{name} {size} {count} {at} 4 {turn}")
                        for at, path in enumerate(mounts)})
                finish({f"blocks of {size} bytes read back through {path}, turn {turn}":
                        client.start(f"guest_file verify {path}/{name} {size} {count} {turn} {how}")
                        for client, path in readers for how in ("cached", "direct")})


MAP_BYTES, MAP_COUNT = 4096, 64


@lab_test("INV-4", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def kernel_map_sees_new_content(bench):
    """A file that is opened and mapped again shows what another head's client wrote."""
    with kernel_clients(bench, "map") as (one, other):
        paths = {one: mount_versions(one, bench.services[0], ""),
                 other: mount_versions(other, bench.services[1], "")}
        for writer, wrote, reader, read in crossings(one, other):
            file, its_file = paths[writer][wrote] + "/f", paths[reader][read] + "/f"
            write = f"guest_file write {file} {MAP_BYTES} {MAP_COUNT} 0 1 "
            writer.run(f": > {file}; {write} 1")
            reader.run("rm -f /tmp/flag")
            job = reader.start(f"guest_file map {its_file} {MAP_BYTES} {MAP_COUNT} 1 /tmp/flag")
            eventually(30.0, f"{read} has mapped what {wrote} wrote",
                       lambda job=job: job.poll() is not None or "mapped" in output_of(job))
            writer.run(write + "2")
            reader.run("touch /tmp/flag")
            finish({f"mapping through {read} while {wrote} writes": job})


KEPT_BLOCKS = 64  # of 8 KiB: what no truncation reaches
TRUNCATE = """
for i in $(seq 1 $2); do
  truncate -s $((8192 * {kept} * 2)) $1 || exit 1
  printf end | dd of=$1 bs=1 seek=$((8192 * {kept} + 777 * i)) conv=notrunc 2>/dev/null || exit 1
  truncate -s $((8192 * {kept})) $1 || exit 1
done
truncate -s $((8192 * {kept} + 12345)) $1
""".format(kept=KEPT_BLOCKS)


@lab_test("INV-4", "architecture/several_mounts.md", lab=labs.ONE_FILESYSTEM)
def kernel_truncate_against_writers(bench):
    """One head cuts and extends a file that others write in place: size and bytes are right."""
    with kernel_clients(bench, "truncate") as (one, other):
        options = list(VERSIONS.values())
        for turn, (cut_with, write_with) in enumerate(itertools.product(options, options)):
            cutter = one.mount(f"cut{turn}", bench.services[0], cut_with) + f"/f{turn}"
            writers = [client.mount(f"write{turn}-{at}", bench.services[at], write_with) +
                       f"/f{turn}" for at, client in ((1, one), (2, other), (3, other))]
            write = "guest_file write {} 8192 {} {} 3 {}"
            one.run(f": > {cutter}; guest_file write {cutter} 8192 {KEPT_BLOCKS} 0 1 0")
            rounds = " && ".join(write.format("$1", KEPT_BLOCKS, "$2", r) for r in range(1, 6))
            jobs = {f"writer {at} ({write_with})": client.start(f"set -- {path} {at}; {rounds}")
                    for at, (client, path) in enumerate(zip((one, other, other), writers,
                                                             strict=True))}
            jobs[f"truncate ({cut_with})"] = one.start(f"set -- {cutter} 12; {TRUNCATE}")
            finish(jobs)
            size = KEPT_BLOCKS * 8192 + 12345
            for client, path in ((one, cutter), (other, writers[2])):
                seen = client.run(f"exec 3< {path}; stat -L -c %s /proc/self/fd/3; "
                                  f"tail -c 12345 <&3 | tr -d '\\0' | wc -c; "
                                  f"guest_file verify {path} 8192 {KEPT_BLOCKS} 5 cached").split()
                check(seen == [str(size), "0"], f"{cut_with} against {write_with}: size and bytes "
                      f"behind the cut are {seen}, should be {size} and 0")
