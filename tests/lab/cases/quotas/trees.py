"""Quotas of directory trees: made while clients write, limits from two heads, names that cross."""

import threading

import labs
from lab_case import check, lab_test
from steps.quota_trees import Folders, add_tree, heads_that_marked, trees, wait_marked
from steps.rpc import from_client
from steps.user_quotas import COUNTED_S, counted, used
from symlab.service import EXPORT
from symlab.wait import eventually

MIB = 1 << 20
STEP_BYTES = 256 << 10
LIMIT_BYTES = 64 * MIB
WINDOW_BYTES = MIB  # of such a limit, as docs/operations/quotas.md says
ANN = 1001


def folders_of_two_heads(bench, uid=0):
    with from_client(bench):
        return [Folders(service, uid) for service in bench.services[:2]]


def make_filled(one, name, directories=10, files=20):
    root = one.mkdir(name)
    for number in range(directories):
        below = one.mkdir(f"d{number}", root)
        one.fill(below, files)
    return root


class Writers:
    """Each makes files below the directory until the end of the body."""

    def __init__(self, folders, directory):
        self.ended = threading.Event()
        self.failed = []
        self.threads = [threading.Thread(target=self._write, args=(one, directory, f"w{number}-"))
                        for number, one in enumerate(folders)]

    def _write(self, one, directory, prefix):
        try:
            count = 0
            while not self.ended.is_set():
                below = one.mkdir(f"{prefix}d{count}", directory)
                one.fill(below, 3)
                one.ok(one.nfs.rename(below, b"f0", directory, f"{prefix}f{count}".encode()))
                count += 1
        except AssertionError as failed:
            self.failed.append(str(failed))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        check(not self.failed, f"while the tree was made: {self.failed}")


def check_exact(bench, one, path, root):
    """What is recorded of the tree is what lies in it."""
    wanted = one.usage(root)
    def same():
        row = trees(bench)[path]
        return (row["used_bytes"], row["used_inodes"]) == wanted
    eventually(COUNTED_S, f"{path} is counted as {wanted}: {trees(bench)[path]}", same)


def write_until_refused(one, file, outcome, at):
    offset = 0
    while offset < 2 * LIMIT_BYTES:
        answer = one.nfs.write(file, bytes(STEP_BYTES), offset)
        if answer.status != "OK":
            outcome[at] = answer.status
            return
        offset += STEP_BYTES


def write_up_to_the_limit(folders, root):
    outcome = [""] * len(folders)
    files = [one.create(f"big{at}", root) for at, one in enumerate(folders)]
    threads = [threading.Thread(target=write_until_refused, args=(one, files[at], outcome, at))
               for at, one in enumerate(folders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(outcome == ["DQUOT"] * len(folders), f"writes over the limit are answered {outcome}")


@lab_test("operations/quotas.md", lab=labs.THREE_HEADS)
def a_filled_directory_becomes_a_tree(bench):
    """Made a tree while two heads write below it; then both write up to its limit, as root."""
    folders = folders_of_two_heads(bench)
    one = folders[0]
    with counted(bench):
        root = make_filled(one, "tree-a")
        with Writers(folders, root):
            add_tree(bench, "/tree-a")
        check_exact(bench, one, "/tree-a", root)
        before = trees(bench)["/tree-a"]["used_bytes"]
        limit = (before // MIB + 1) * MIB + LIMIT_BYTES
        bench.symnas("quota", "set", EXPORT, "--tree", "/tree-a", "--bytes", f"{limit // MIB}M")
        write_up_to_the_limit(folders, root)
        over = trees(bench)["/tree-a"]["used_bytes"] - limit
        print(f"     {limit // MIB} MiB from two heads at once: {over / MIB:+.2f} MiB, documented: "
              f"at most {WINDOW_BYTES / MIB:+.2f} MiB")
        check(over <= WINDOW_BYTES, f"{over} bytes over the limit")
        # Outside of it there is room.
        one.ok(one.nfs.write(one.create("outside"), bytes(STEP_BYTES)))
        check_exact(bench, one, "/tree-a", root)
        bench.symnas("quota", "tree", "rm", EXPORT, "/tree-a")
        one.ok(one.nfs.write(one.create("more", root), bytes(STEP_BYTES)))
        one.ok(one.nfs.remove(one.root, b"outside"))
        one.remove_directory(one.root, b"tree-a")


@lab_test("operations/quotas.md", lab=labs.THREE_HEADS)
def names_do_not_cross_trees(bench):
    """EXDEV into a tree, out of it and between two, from both heads; a tree ends with rmdir."""
    folders = folders_of_two_heads(bench)
    one = folders[0]
    with counted(bench):
        first, second = one.mkdir("tree-b"), one.mkdir("tree-c")
        below = one.mkdir("below", first)
        file, outside = one.create("file", below), one.create("outside")
        for path in ("/tree-b", "/tree-c"):
            add_tree(bench, path)
        for other in folders:
            nfs = other.nfs
            for source, name, target in ((below, b"file", second), (below, b"file", one.root),
                                         (first, b"below", second), (one.root, b"outside", first),
                                         (one.root, b"tree-c", first)):
                answer = nfs.rename(source, name, target, b"moved").status
                check(answer == "XDEV", f"RENAME of {name} is answered {answer}")
            for handle, target in ((file, second), (file, one.root), (outside, first)):
                answer = nfs.link(handle, target, b"linked").status
                check(answer == "XDEV", f"LINK is answered {answer}")
            other.ok(nfs.rename(below, b"file", first, b"file"))
            other.ok(nfs.link(file, below, b"second name"))
            other.ok(nfs.remove(below, b"second name"))
            other.ok(nfs.rename(first, b"file", below, b"file"))
        other.ok(other.nfs.rename(one.root, b"tree-b", one.root, b"tree-d"))
        bench.symnas("quota", "set", EXPORT, "--tree", "/tree-d", "--inodes", "3")
        answer = one.nfs.create(first, b"too many").status
        check(answer == "DQUOT", f"CREATE over the limit of a renamed tree is answered {answer}")
        one.remove_directory(one.root, b"tree-d")
        check(list(trees(bench)) == ["/tree-c"], f"after the rmdir of a root: {trees(bench)}")
        one.ok(one.nfs.remove(one.root, b"outside"))
        one.remove_directory(one.root, b"tree-c")
        check(not trees(bench), f"after the rmdir of all roots: {trees(bench)}")


@lab_test("operations/quotas.md", lab=labs.THREE_HEADS)
def a_tree_that_is_removed_changes_no_user(bench):
    """What users use is the same before a tree is made, while it is one, and afterwards."""
    folders = folders_of_two_heads(bench)
    root = folders[0].mkdir("tree-e")
    ann = folders_of_two_heads(bench, ANN)[1]
    with counted(bench):
        ann.fill(root, 30)
        wanted = (30 * 4096, 30)
        def ann_uses():
            row = used(bench, ANN)
            return row["used_bytes"], row["used_inodes"]
        eventually(COUNTED_S, f"the user's {wanted} are counted", lambda: ann_uses() == wanted)
        add_tree(bench, "/tree-e")
        check(ann_uses() == wanted, f"in a tree: {ann_uses()}, not {wanted}")
        bench.symnas("quota", "tree", "rm", EXPORT, "/tree-e")
        check(ann_uses() == wanted, f"after the tree: {ann_uses()}, not {wanted}")
        check(not trees(bench), f"{trees(bench)}")
        bench.symnas("fs", "check", EXPORT)
        # A file may leave it now.
        ann.ok(folders[0].nfs.rename(root, b"f0", ann.root, b"left"))
        ann.ok(folders[0].nfs.remove(ann.root, b"left"))
        folders[0].remove_directory(ann.root, b"tree-e")


@lab_test("operations/quotas.md", lab=labs.THREE_HEADS)
def who_marks_is_killed(bench):
    """The instance that marks a tree is killed meanwhile; another one finishes."""
    folders = folders_of_two_heads(bench)
    one = folders[0]
    with counted(bench):
        one.mkdir("small")
        add_tree(bench, "/small")
        marking = heads_that_marked(bench, "/small")
        check(len(marking) == 1, f"marked by {marking}")
        service = next(each for each in bench.services if each.head == marking[0])
        other = next(each for each in folders if each.address != service.vip)
        root = other.mkdir("large")
        for number in range(12):
            other.fill(other.mkdir(f"d{number}", root), 150)
        instance = service.serving()
        bench.symnas("quota", "tree", "add", EXPORT, "/large")
        row = eventually(COUNTED_S, "some of it is marked",
                         lambda: trees(bench)["/large"]["used_inodes"] > 0 and
                         trees(bench)["/large"])
        bench.kill_recorded(instance)
        check(row["marking"], f"marked before its head was killed: {row}")
        print(f"     killed when {row['used_inodes']} inodes of 1813 were marked")
        row = wait_marked(bench, "/large")
        finished = heads_that_marked(bench, "/large")
        check(finished and service.head not in finished, f"finished by {finished}")
        with from_client(bench):
            other = Folders(next(each for each in bench.services if each.vip == other.address))
        check_exact(bench, other, "/large", root)
        service.wait_serving(other_than=instance["pid"])
        bench.symnas("fs", "check", EXPORT)
        for name in (b"small", b"large"):
            other.remove_directory(other.root, name)
