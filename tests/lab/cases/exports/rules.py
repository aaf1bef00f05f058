"""Several rules an export: whose rule it is, by address and by name; more than 16 groups."""

import contextlib

from lab_case import check, eventually, lab_test
from steps.exports import another_export, walker
from steps.name_services import CLIENT, FIRST_GROUP, GROUPS, HOST, USER, name_services, write
from symlab.service import EXPORT
from symlab.wait import SLOWER

SECOND = "ruled"
FOLDER = f"/{SECOND}/ours"
NOENT, ACCES, ROFS, DELAY = 2, 13, 30, 10008
STRANGER = 4300  # whom the head's name services do not know
# Within this time the head asks again, and tells whoever uses the name next.
KNOWN_S = 75.0
# How long a call may take of which the name services have nothing to say.
AT_ONCE_S = 2.5 * SLOWER


def rules(bench, *words):
    options = [word for rule in words for word in ("--client", rule)]
    bench.symnas("export", "set", SECOND, "--clients", "192.0.2.0/24", *options)


def owner_of_new(client, path):
    """Owner and group of a file that is made there."""
    client.expect(0, "open", "new", path)
    client.expect(0, "close", "new")
    owner = client.expect(0, "owner", path).split()[:2]
    client.expect(0, "remove", path)
    return " ".join(owner)


@contextlib.contextmanager
def folder(bench, mode="777"):
    with walker(bench) as client:
        client.expect(0, "mkdir", f"/{EXPORT}/ours", mode)
    yield
    with walker(bench) as client:
        client.expect(0, "remove", f"/{EXPORT}/ours")


def rule_is(client, wanted):
    """wanted: a status, or the owner and group that root becomes."""
    if isinstance(wanted, int):
        client.expect(wanted, "open", "new", f"{FOLDER}/new")
    else:
        owner = owner_of_new(client, f"{FOLDER}/new")
        check(owner == wanted, f"root makes files of {owner}, should be {wanted}")


@lab_test("operations/commands.md")
def most_specific_rule_wins(bench):
    """Addresses and networks of an export, each with its options, in whatever order they stand."""
    cases = (
        (("10.0.0.0/24:ro", f"{CLIENT}:rw,no_root_squash"), "0 0"),
        ((f"{CLIENT}:ro", "10.0.0.0/24:rw,no_root_squash"), ROFS),
        (("*:no_root_squash", "10.0.0.0/8:all_squash,anonuid=70,anongid=80"), "70 80"),
        (("10.0.0.0/8:ro", "10.0.0.0/24:rw,root_squash,anonuid=71", "*:ro"), "71 65534"),
        (("10.0.0.0/24:ro", "10.0.0.128/25"), "65534 65534"),
        (("*:no_root_squash",), "0 0"),
        (("10.0.1.0/24", "fd00::/64:ro"), NOENT),
    )
    with folder(bench), another_export(bench, SECOND), walker(bench) as client:
        for words, wanted in cases:
            rules(bench, *words)
            rule_is(client, wanted)
        shown = [rule["who"] for rule in next(
            one for one in bench.symnas.json("export", "ls")["exports"]
            if one["name"] == SECOND)["rules"]]
        check(shown == ["fd00::/64", "192.0.2.0/24", "10.0.1.0/24"], f"the order is {shown}")


@lab_test("operations/commands.md", "architecture/names.md", soak=True)
def rules_by_name(bench):
    """Host names, wildcards and netgroups; what a name means is asked again when it changes."""
    cases = (
        (("10.0.0.0/24:ro", f"{HOST}:no_root_squash"), "0 0"),
        (("10.0.0.0/24:ro", "*.example.test:no_root_squash"), ROFS),
        (("*.example.test:all_squash,anonuid=70,anongid=80", "@friends:ro"), "70 80"),
        (("@friends:no_root_squash", "*:ro"), "0 0"),
        (("@others:no_root_squash", "*:ro"), ROFS),
        (("other.example.test", "*.else.test", "@others"), NOENT),
    )
    with folder(bench), name_services(bench) as etc, another_export(bench, SECOND), \
            walker(bench) as client:
        for words, wanted in cases:
            rules(bench, *words)
            rule_is(client, wanted)
        write(etc, "hosts", f"{CLIENT} other.example.test")
        rules(bench, "other.example.test:no_root_squash")
        eventually(KNOWN_S, "the other name is found",
                   lambda: client("list", FOLDER)[0] == 0)
        rule_is(client, "0 0")


@lab_test("operations/commands.md", "architecture/names.md")
def name_services_that_are_away_delay_nobody(bench):
    """A client with a rule by address is served at once; one with a rule by name is told to come
    again, and comes in when they answer."""
    with folder(bench), name_services(bench) as etc:
        write(etc, "nsswitch.conf", "passwd: files", "group: files", "hosts: dns")
        write(etc, "resolv.conf", "nameserver 10.0.0.99")  # nobody has that address
        with another_export(bench, SECOND, "--client", "*.example.test:no_root_squash",
                            clients="192.0.2.0/24"), bench.shell() as shell:
            shell.expect("NFS3_OK", "create", "quick", within_s=AT_ONCE_S)
            shell.expect("NFS3_OK", "remove", "quick", within_s=0.5 * SLOWER)
            with walker(bench) as client:
                client.expect(DELAY, "list", FOLDER)
                shell.expect("NFS3_OK", "create", "quick", within_s=0.5 * SLOWER)
                shell.expect("NFS3_OK", "remove", "quick", within_s=0.5 * SLOWER)
                write(etc, "nsswitch.conf", "passwd: files", "group: files", "hosts: files")
                eventually(KNOWN_S, "the client is known", lambda: client("list", FOLDER)[0] == 0)
                rule_is(client, "0 0")


@lab_test("operations/commands.md", "architecture/names.md")
def more_than_16_groups(bench):
    """With --manage-gids all groups of a user hold, and none that the request only claims; of a
    user who is not known those of the request do."""
    last, claimed = FIRST_GROUP + GROUPS - 1, FIRST_GROUP + GROUPS
    with folder(bench, "770"), name_services(bench), \
            another_export(bench, SECOND, "--squash", "none"), walker(bench) as client:
        for group, by_list, by_service in ((last, ACCES, 0), (claimed, 0, ACCES)):
            client.expect(0, "as", 0, 0)
            client.expect(0, "chown", f"/{EXPORT}/ours", "-", group)
            client.expect(0, "as", USER, USER, claimed)
            for words, wanted in (("off", by_list), ("on", by_service)):
                bench.symnas("export", "set", SECOND, "--manage-gids", words)
                client.expect(wanted, "list", FOLDER)
        client.expect(0, "as", STRANGER, STRANGER, claimed)
        client.expect(0, "list", FOLDER)
        client.expect(0, "as", 0, 0)
