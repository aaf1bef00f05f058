"""Linux clients on different heads of one filesystem: names, directories, links, a build."""

import contextlib
import itertools
import os
import random
import shutil
import subprocess
import tarfile

import labs
from kernel_clients import UNCACHED, Client, boot, finish, kernel_clients, output_of
from lab_case import Skip, check, eventually, lab_test
from labs import HEADS
from steps.lock_holders import VERSIONS

STORM_NAMES = 40
# Everybody wants to make claim.N and to move token.N away, and does what it likes with x names.
STORM = """
cd $1 || exit 1
for i in $(seq 0 $(({names} - 1))); do
  mkdir claim.$i 2>/dev/null && echo claim.$i
  mv token.$i won.$2.$i 2>/dev/null && echo token.$i
  n=$((RANDOM % 12)) m=$((RANDOM % 12))
  case $((RANDOM % 4)) in
    0|1) {{ true > x$n; }} 2>/dev/null ;;
    2) mv -f x$n x$m 2>/dev/null ;;
    3) rm -f x$n 2>/dev/null ;;
  esac
done
true
""".format(names=STORM_NAMES)


@contextlib.contextmanager
def shells_in(bench, folder):
    """A client that makes calls for every head."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(bench.shell(service, folder)) for service in bench.services]


def list_names(shells, page_bytes=4096):
    """A directory's names, each page read through the next shell."""
    names = []
    cookie = verifier = eof = "0"
    for shell in itertools.cycle(shells):
        answer = shell.expect("NFS3_OK", "list", cookie, verifier, page_bytes)
        words = dict(word.split("=", 1) for word in answer.split()[1:])
        cookie, verifier, eof = words["cookie"], words["verifier"], words["eof"]
        names += [name for name in words["names"].split("/") if name not in ("", ".", "..")]
        if eof == "1":
            return names


def storm_of_calls(shells):
    """What the kernel clients do, in calls; returns the tokens that were won."""
    won = []
    chance = random.Random(4)
    for i, (me, shell) in itertools.product(range(STORM_NAMES), enumerate(shells)):
        if shell("rename", f"token.{i}", f"won.call{me}.{i}").startswith("NFS3_OK "):
            won.append(f"token.{i}")
        some, other = chance.randrange(12), chance.randrange(12)
        answer = shell(*chance.choice((("create", f"x{some}"), ("remove", f"x{some}"),
                                       ("rename", f"x{some}", f"x{other}"))))
        check(answer.split()[0] in ("NFS3_OK", "NFS3ERR_NOENT"), f"a call was answered {answer}")
    return won


@lab_test("INV-2", "INV-4", "architecture/metadata.md", lab=labs.ONE_FILESYSTEM)
def kernel_name_storm(bench):
    """Six clients of four heads make, move and remove the same names: one wins, all see it."""
    with kernel_clients(bench, "storm") as clients, contextlib.ExitStack() as stack:
        paths = [clients[at // 2].mount(f"h{at}", bench.services[at],
                                        list(VERSIONS.values())[at % 2]) for at in range(HEADS)]
        clients[0].run(f"cd {paths[0]}; for i in $(seq 0 {STORM_NAMES - 1}); do : > token.$i; done")
        shells = stack.enter_context(shells_in(bench, "storm"))
        jobs = {f"worker {at}": clients[at // 2].start(f"set -- {path} kernel{at}\n{STORM}")
                for at, path in enumerate(paths)}
        won = storm_of_calls(shells[1::2])
        for said in finish(jobs).values():
            won += said.split()
        wanted = [f"{what}.{i}" for what in ("claim", "token") for i in range(STORM_NAMES)]
        check(sorted(won) == sorted(wanted), f"won twice or by nobody: "
              f"{[name for name in wanted if won.count(name) != 1]}")

        names = sorted(list_names(shells[:1]))
        fixed = [name for name in names if not name.startswith("x")]
        check(len(names) == len(set(names)) and len(fixed) == len(wanted) and
              not any(name.startswith("token") for name in names), f"names at the end: {names}")
        for shell in shells[1:]:
            check(sorted(list_names([shell])) == names, "another head shows other names")
        for at, service in enumerate(bench.services):
            fresh = clients[at % 2].mount(f"fresh{at}", service, f"vers=4.1,{UNCACHED}")
            seen = clients[at % 2].run(f"guest_file names {fresh}").split()
            check(sorted(set(seen) - {".", ".."}) == names, f"{service.head} shows {seen}")


STABLE_NAMES = 800
CHURN = """
cd $1 || exit 1
until [ -e /tmp/stop ]; do
  for i in $(seq 1 30); do : > churn.$2.$i; done
  for i in $(seq 1 30); do rm churn.$2.$i; done
done
rm -f churn.$2.*
"""
LIST = """
for i in 1 2 3 4 5 6; do
  echo 3 > /proc/sys/vm/drop_caches
  guest_file names $1 > /tmp/names || { cat /tmp/names; exit 1; }
  [ $(grep -c ^stable /tmp/names) = $2 ] || { echo "round $i: not all stable names"; exit 1; }
  sort /tmp/names | uniq -d > /tmp/double
  [ ! -s /tmp/double ] || { echo "round $i: twice:"; cat /tmp/double; exit 1; }
done
"""


@lab_test("INV-2", "INV-4", "architecture/metadata.md", lab=labs.ONE_FILESYSTEM)
def kernel_listing_while_it_changes(bench):
    """A listing of a directory that others change: each name that stays is there once."""
    with kernel_clients(bench, "listing") as clients:
        one, other = clients
        options = list(VERSIONS.values())
        changing = [client.mount("change", bench.services[at], options[1])
                    for at, client in ((0, one), (3, other))]
        listing = [client.mount("list", bench.services[at], option + extra) for at, client, option,
                   extra in ((1, one, options[1], ""), (2, other, options[0], "," + UNCACHED))]
        half = STABLE_NAMES // 2
        finish({f"filling {at}": client.start(
                    f"cd {path}; for i in $(seq 1 {half}); do : > stable.{at}.$i; done")
                for at, (client, path) in enumerate(zip(clients, changing, strict=True))})
        changes = {f"changing {at}": client.start(f"set -- {path} {at}; {CHURN}")
                   for at, (client, path) in enumerate(zip(clients, changing, strict=True))}
        jobs = {f"listing {at}": client.start(f"set -- {path} {STABLE_NAMES}; {LIST}")
                for at, (client, path) in enumerate(zip(clients, listing, strict=True))}
        with shells_in(bench, "listing") as shells:
            for _ in range(6):
                names = list_names(shells, 2048)
                stable = {name for name in names if name.startswith("stable")}
                check(len(stable) == STABLE_NAMES and len(names) == len(set(names)),
                      f"continued on another head: {len(stable)} names that stay, "
                      f"{len(names) - len(set(names))} twice")
        finish(jobs)
        for client in clients:
            client.run("touch /tmp/stop")
        finish(changes)
        # Who may read a directory and not search it gets its names without attributes.
        one.run(f"chmod 744 {changing[0]}")
        seen = one.run(f"su user -c 'guest_file names {listing[0]}' | grep -c ^stable")
        check(seen == str(STABLE_NAMES), f"without search permission {seen} names are shown")


HELD_MIB = 16
HOLD = """
exec 3< {file} || exit 1
echo held
until [ -e /tmp/flag ]; do sleep 0.1; done
echo 3 > /proc/sys/vm/drop_caches
md5sum <&3
"""


@lab_test("INV-6", "architecture/space.md", lab=labs.ONE_FILESYSTEM)
def kernel_delete_while_open_elsewhere(bench):
    """An open file can be read after another head removed it; then its space is free.

    The opener speaks v4.1: NFSv3 has no OPEN, so nothing keeps a file for it.
    """
    with kernel_clients(bench, "deleted") as (one, other):
        opener = other.mount("open", bench.services[2], "vers=4.1")
        for version, option in VERSIONS.items():
            remover = one.mount(version, bench.services[0], option)
            for deed in ("rm {0}", "echo other > {0}.new; mv {0}.new {0}"):
                file = f"{remover}/f"
                wanted = one.run(f"dd if=/dev/urandom of={file} bs=1M count={HELD_MIB} "
                                 f"2>/dev/null; md5sum < {file}")
                other.run("rm -f /tmp/flag")
                job = other.start(HOLD.format(file=f"{opener}/f"))
                eventually(30.0, "the file is open",
                           lambda job=job: job.poll() is not None or "held" in output_of(job))
                one.run(deed.format(file))
                held_mib = free_mib(one, remover)
                other.run("touch /tmp/flag")
                read = finish({f"reading after `{deed}` ({version})": job})
                check(list(read.values()) == [f"held\n{wanted}"], f"other bytes: {read}")
                eventually(60.0, f"space of the file is free again after `{deed}` ({version})",
                           lambda remover=remover, free=held_mib + HELD_MIB - 1:
                           free_mib(one, remover) >= free)
                one.run(f"rm -f {file}")


def free_mib(client, path):
    blocks, size = client.run(f"stat -f -c '%f %S' {path}").split()
    return int(blocks) * int(size) >> 20


@lab_test("INV-2", "INV-4", "architecture/metadata.md", lab=labs.ONE_FILESYSTEM)
def kernel_hard_links(bench):
    """Links made, moved and removed through two heads: one file, with the right count."""
    with kernel_clients(bench, "links") as (one, other):
        options = list(VERSIONS.values())
        here = one.mount("here", bench.services[0], f"{options[0]},{UNCACHED}")
        there = other.mount("there", bench.services[1], f"{options[1]},{UNCACHED}")

        def count(links, *names):
            for client, path in ((one, here), (other, there)):
                seen = client.run(f"cd {path}; stat -c '%h %i' {' '.join(names)}").splitlines()
                check(len(set(seen)) == 1 and seen[0].startswith(f"{links} "),
                      f"{names} in {path}: {seen}, {links} links are expected")

        one.run(f"cd {here}; echo first > a; ln a b")
        other.run(f"cd {there}; ln b c")
        count(3, "a", "b", "c")
        one.run(f"echo second >> {here}/a")
        check(other.run(f"cat {there}/c") == "first\nsecond", "other bytes under another name")
        other.run(f"echo third >> {there}/b; rm {there}/a; ! ln {there}/b {there}/c 2>/dev/null")
        check(one.run(f"cat {here}/c") == "first\nsecond\nthird", "other bytes after an unlink")
        one.run(f"! [ -e {here}/a ]; mv {here}/b {here}/d")
        count(2, "c", "d")
        rounds = "for i in $(seq 1 30); do {} || exit 1; done"
        for work, links in (("ln c $me.$i", 62), ("mv $me.$i $me.x$i", 62), ("rm $me.x$i", 2)):
            finish({f"`{work}` in {path}": client.start(
                        f"cd {path}; me={client.vm.name}; {rounds.format(work)}")
                    for client, path in ((one, here), (other, there))})
            count(links, "c", "d")
        other.run(f"rm {there}/c {there}/d")
        check(one.run(f"ls {here}") == "", "names are left")


# --- a build
UNITS = 4  # of each half
MAKEFILE = """
A = {a}
B = {b}
prog: main.o $(A) $(B)
\tld -o $@ main.o $(A) $(B)
half-a: $(A)
half-b: $(B)
$(A): a.h
$(B): b.h
%.o: %.c common.h
\tgcc -O1 -ffreestanding -fno-stack-protector -fno-pie -c -o $@ $<
"""
COMMON = """
static inline long call(long number, long a, const void* b, long c) {
  long answer;
  __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return answer;
}
"""
MAIN = """
#include "common.h"
{declared}
const char* const all[] = {{{named}}};
void _start(void) {{
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {{
    long n = 0;
    while (all[i][n]) ++n;
    call(1, 1, all[i], n);
  }}
  call(60, 0, 0, 0);
}}
"""


def sources():
    """{name: text} of a small C program in two halves, each with a header."""
    units = [f"{half}{n}" for half in "ab" for n in range(UNITS)]
    files = {f"{unit}.c": f'#include "common.h"\n#include "{unit[0]}.h"\n'
                          f'const char {unit}[] = "{unit}=" VALUE " ";\n' for unit in units}
    files["common.h"] = COMMON
    files["main.c"] = MAIN.format(declared="".join(f"extern const char {u}[];\n" for u in units),
                                  named=", ".join(units))
    files["Makefile"] = MAKEFILE.format(
        **{half: " ".join(f"{half}{n}.o" for n in range(UNITS)) for half in "ab"})
    return files


def pack_tools(path):
    """A tar archive of this machine's make, gcc, as and ld and what they load."""
    tools = {name: shutil.which(name) for name in ("make", "gcc", "as", "ld")}
    missing = [name for name, found in tools.items() if not found]
    if missing:
        raise Skip(f"this machine has no {' and no '.join(missing)} to show to a client VM")
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                              check=True).stdout.strip()
    if not os.path.isabs(compiler):
        raise Skip("this machine's gcc has no C compiler proper (cc1)")
    programs = [*tools.values(), compiler]
    files = {*programs}
    for program in programs:
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        files |= {word for word in said.split() if word.startswith("/")}
    with tarfile.open(path, "w", dereference=True) as archive:
        for file in sorted(files):
            archive.add(file, arcname=file.lstrip("/"))


@lab_test("INV-2", "INV-4", "architecture/metadata.md", lab=labs.ONE_FILESYSTEM)
def kernel_build_while_headers_change(bench):
    """make -j compiles one half while another head's client changes the other half's header.

    The builder caches no attributes: with the default options make may believe an old mtime for as
    long as acregmax, on any NFS server. A header that changes while a file that includes it is
    being compiled is a race that make loses everywhere.
    """
    tools = os.path.join(bench.lab.directory, "tools.tar")
    pack_tools(tools)
    with kernel_clients(bench, "build") as (writer, _):
        builder = Client(boot(bench, "vm3", 204, disks=(tools,)), "build")
        try:
            build_beside(bench, builder, writer)
            builder.umount()
        finally:
            builder.vm.stop()
            os.unlink(tools)


def build_beside(bench, builder, writer):
    builder.run("tar xf /dev/vda -C /")
    path = builder.mount("build", bench.services[0], f"vers=4.1,{UNCACHED}")
    its_path = writer.mount("build", bench.services[1], "vers=3")
    # Only what fails is shown: the clock of a VM without acceleration is off by up to a second, of
    # which make warns.
    make = (f"export PATH=$PATH:/usr/bin; cd {path}; "
            "make() { /usr/bin/make $* > /tmp/make 2>&1 || { cat /tmp/make; exit 1; }; }; ")
    texts = {**sources(), "a.h": '#define VALUE "0"\n', "b.h": '#define VALUE "0"\n'}
    writer.run(f"cd {its_path}\n" + "".join(
        f"cat > {name} <<'END'\n{text.strip()}\nEND\n" for name, text in texts.items()))
    values = {"a": 0, "b": 0}
    for turn in range(1, 5):
        built, changed = ("a", "b") if turn % 2 else ("b", "a")
        build = builder.start(make + f"make -j3 half-{built}")
        text = f"#define VALUE \"{turn}\""
        writer.run(f"cd {its_path}; echo '{text}' > {changed}.h" if turn < 3 else
                   f"cd {its_path}; echo '{text}' > new; mv new {changed}.h")
        values[changed] = turn
        finish({f"make half-{built}, turn {turn}": build})
        seen = builder.run(make + "make -j3 prog; ./prog").split()
        wanted = [f"{half}{n}={values[half]}" for half in "ab" for n in range(UNITS)]
        check(seen == wanted, f"turn {turn}: the program says {seen}, not {wanted}")
    builder.run(make + "make -q prog")
