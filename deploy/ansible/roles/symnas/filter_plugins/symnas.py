"""What the role has to do, from what is wanted (variables) and what there is (symnas -o json).

Pure functions: no file, no process. What is found wrong is text for a person.
"""

import base64
import ipaddress
import re
import struct

HEAD_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
SIZE = re.compile(r"(\d+)([KMGT]?)$")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
NOBODY = "65534:65534"
# Of each list of objects: members that must be there, and those that may be.
MEMBERS = {
    "networks": (("name", "device"), ("mtu", "gateway")),
    "luns": (("name", "path"), ()),
    "volumes": (("name", "luns"), ("stripe_unit",)),
    "filesystems": (("name", "volume"), ("owner", "mode", "atime")),
    "exports": (("name", "filesystem"), ("path", "pseudo", "clients", "rules", "access", "squash",
                                         "anon", "manage_gids", "sec")),
    "vnfs": (("name", "vips", "networks", "exports"), ("heads", "failback", "keytab")),
}
LISTS = {"luns", "clients", "rules", "vips", "networks", "exports", "heads", "sec"}
WORDS = {"access": ("rw", "ro"), "squash": ("root", "none", "all"), "atime": ("relatime", "off"),
         "failback": ("auto", "manual"), "manage_gids": (True, False)}
FLAVORS = ("sys", "krb5", "krb5i", "krb5p")
RULE_WORDS = {"rw": ("access", "rw"), "ro": ("access", "ro"), "root_squash": ("squash", "root"),
              "no_root_squash": ("squash", "none"), "all_squash": ("squash", "all")}


def _problems_of_object(kind, one):
    if not isinstance(one, dict):
        return [f"symnas_{kind}: '{one}' is no object: write members, such as name"]
    must, may = MEMBERS[kind]
    where = f"symnas_{kind}, {one.get('name', 'one without a name')}"
    found = [f"{where}: has no {member}: add it" for member in must if not one.get(member)]
    for member, value in one.items():
        if member not in must + may:
            found.append(f"{where}: '{member}' is not known: there are {', '.join(must + may)}")
        elif member in LISTS and not isinstance(value, list):
            found.append(f"{where}: {member} is to be a list: write [{value}]")
        elif member == "sec" and not (value and set(value) <= set(FLAVORS)):
            found.append(f"{where}: sec {value}: write some of {', '.join(FLAVORS)}")
        elif member in WORDS and value not in WORDS[member]:
            words = ", ".join(str(word).lower() for word in WORDS[member])
            found.append(f"{where}: {member} '{value}': write one of {words}")
        elif member == "mode" and not isinstance(value, str):
            found.append(f"{where}: mode is to be a text, such as '1777': put it in quotes")
    return found


def _unknown_names(wanted):
    """Names of objects that no list has, where another object refers to them."""
    names = {kind: {one.get("name") for one in wanted[kind]} for kind in MEMBERS}
    names["heads"] = {head["name"] for head in wanted["heads"]}
    refers = {"volumes": {"luns": "luns"}, "filesystems": {"volume": "volumes"},
              "exports": {"filesystem": "filesystems"},
              "vnfs": {"networks": "networks", "exports": "exports", "heads": "heads"}}
    found = []
    for kind, members in refers.items():
        for one in wanted[kind]:
            for member, other in members.items():
                value = one.get(member, [])
                for name in value if isinstance(value, list) else [value]:
                    if name not in names[other]:
                        place = "the inventory" if other == "heads" else f"symnas_{other}"
                        found.append(f"symnas_{kind}, {one['name']}: {member} '{name}' is not in "
                                     f"{place}: add it there, or correct the name")
    return found


def _crowded_volumes(wanted):
    volumes = [one["volume"] for one in wanted["filesystems"]]
    return [f"symnas_filesystems: volume {name} has two of them, and carries one: give each its own"
            for name in sorted({one for one in volumes if volumes.count(one) > 1})]


def heads(hosts, hostvars):
    """[{name, address}] of the inventory's hosts."""
    return [{"name": hostvars[host].get("symnas_head_name", host),
             "address": hostvars[host].get("symnas_address", "")} for host in hosts]


def problems(wanted):
    """Texts, each with what to do. wanted: cluster, heads (name, address), and lists of objects."""
    found = []
    if not wanted["cluster"]:
        found.append("symnas_cluster: is not set: give the cluster a name")
    for head in wanted["heads"]:
        if not HEAD_NAME.match(head["name"]):
            found.append(f"head {head['name']}: the name is no host name of small letters, digits "
                         "and '-': set symnas_head_name")
        try:
            ipaddress.IPv4Address(head["address"])
        except ValueError:
            found.append(f"head {head['name']}: symnas_address '{head['address']}' is no IPv4 "
                         "address: give the one by which heads reach each other")
    for what in ("name", "address"):
        values = [head[what] for head in wanted["heads"]]
        found += [f"two heads have the {what} {value}: correct the inventory"
                  for value in sorted({one for one in values if values.count(one) > 1})]
    for kind in MEMBERS:
        for one in wanted[kind]:
            found += _problems_of_object(kind, one)
    return found or _unknown_names(wanted) + _crowded_volumes(wanted)


def head_options(head):
    """Options of cluster init, head join and head check. fence_options are for standard input."""
    argv = []
    for path in head["lun_paths"]:
        argv += ["--lun-path", path]
    for address in head["probe_addresses"]:
        argv += ["--probe-address", address]
    if head["fence_reservations"]:
        argv.append("--fence-reservations")
    if head["fence_agent"]:
        argv += ["--fence-agent", head["fence_agent"], "--fence-cuts", head["fence_cuts"]]
    if head["fence_options"]:
        argv += ["--fence-options-file", "-"]
    if not head["fence_automatic"]:
        argv.append("--fence-when-asked")
    return argv


def fence_lines(options):
    """A dictionary as the lines of --fence-options-file."""
    return "".join(f"{key}={value}\n" for key, value in sorted(options.items()))


def head_differences(text, head):
    """Settings of a vnfsd.toml that are not as wanted, by name: values may be secret."""
    import tomllib  # Python 3.11
    config = tomllib.loads(text)
    fence, own = config.get("fence", {}), config.get("head", {})
    pairs = {
        "cluster.name": (config["cluster"]["name"], head["cluster"]),
        "head.name": (own["name"], head["name"]),
        "head.address": (own["address"], head["address"]),
        "head.probe_addresses": (own.get("probe_addresses", []), head["probe_addresses"]),
        "daemon.lun_paths": (config["daemon"]["lun_paths"], head["lun_paths"]),
        "fence.agent": (fence.get("agent", ""), head["fence_agent"]),
        "fence.persistent_reservations": (fence.get("persistent_reservations", False),
                                          head["fence_reservations"]),
        "fence.automatic": (fence.get("automatic", True), head["fence_automatic"]),
        "fence.options": (sorted(fence.get("options", [])),
                          sorted(fence_lines(head["fence_options"]).splitlines())),
    }
    if head["fence_agent"]:
        pairs["fence.cuts"] = (fence.get("cuts", "luns"), head["fence_cuts"])
    return [name for name, (there, wanted) in pairs.items() if there != wanted]


def _network(who):
    try:
        return str(ipaddress.ip_network(who, strict=False))
    except ValueError:
        return who


def _flavors(one):
    """In an order of its own; a cluster that knows no Kerberos says none."""
    return tuple(sorted(one.get("sec") or ["sys"]))


def _rules(export):
    """Who may do what, as symnas -o json export ls has it: {(who, access, squash, anon, sec)}."""
    usual = {"access": export.get("access", "rw"), "squash": export.get("squash", "root"),
             "anon": export.get("anon") or NOBODY, "sec": _flavors(export)}
    rules = {(_network(who), *usual.values()) for who in export.get("clients", [])}
    for text in export.get("rules", []):
        # Between flavors there are colons, too: sec=krb5i:krb5p.
        before, named, behind = text.partition("sec=")
        who, _, options = before.rpartition(":") if ":" in before else (before, "", "")
        options += named + behind
        one = dict(usual)
        uid, gid = one["anon"].split(":")
        for option in filter(None, options.split(",")):
            if option.startswith("anonuid="):
                uid = option[len("anonuid="):]
            elif option.startswith("anongid="):
                gid = option[len("anongid="):]
            elif option.startswith("sec="):
                one["sec"] = tuple(sorted(option[len("sec="):].split(":")))
            elif option in RULE_WORDS:
                one[RULE_WORDS[option][0]] = RULE_WORDS[option][1]
        one["anon"] = f"{uid}:{gid}"
        rules.add((_network(who), *one.values()))
    return rules


def _size(text):
    number, unit = SIZE.match(str(text)).groups()
    return int(number) * UNITS[unit]


class _Plan:
    """commands: [{what, argv}] in their order; refused: texts."""

    def __init__(self, have):
        self.have = {kind: {one["name"]: one for one in have.get(kind, [])} for kind in MEMBERS}
        self.commands, self.refused = [], []

    def run(self, *argv):
        argv = [str(word) for word in argv]
        self.commands.append({"what": " ".join(argv[:3]), "argv": ["symnas", *argv]})

    def refuse(self, kind, name, member, there, wanted, what_next):
        self.refused.append(f"{kind} {name}: {member} is {there}, {wanted} is wanted, and that "
                            f"cannot be changed in place ({what_next})")

    def network(self, one):
        there = self.have["networks"].get(one["name"])
        if there is None:
            more = []
            for member in ("mtu", "gateway"):
                if one.get(member):
                    more += [f"--{member}", one[member]]
            return self.run("network", "create", one["name"], "--device", one["device"], *more)
        for member, usual in (("device", ""), ("mtu", 0), ("gateway", "")):
            wanted = one.get(member, usual)
            if str(there[member]) != str(wanted):
                self.refuse("network", one["name"], member, there[member] or "not set",
                            wanted or "none", "make a network of another name, or remove this one")
        return None

    def lun(self, one):
        if one["name"] not in self.have["luns"]:
            self.run("lun", "import", f"{one['name']}={one['path']}")

    def volume(self, one):
        name, there = one["name"], self.have["volumes"].get(one["name"])
        if there is None:
            more = ["--stripe-unit", one["stripe_unit"]] if "stripe_unit" in one else []
            return self.run("volume", "create", name, "--luns", ",".join(one["luns"]), *more)
        if "stripe_unit" in one and _size(one["stripe_unit"]) != there["stripe_unit_bytes"]:
            self.refuse("volume", name, "stripe_unit", f"{there['stripe_unit_bytes']} bytes",
                        one["stripe_unit"], "write what it is, or make another volume")
        missing = [lun for lun in there["luns"] if lun not in one["luns"]]
        if missing:
            return self.refuse("volume", name, "luns", ",".join(there["luns"]),
                               ",".join(one["luns"]), "a volume gives no LUN back: write them all")
        new = [lun for lun in one["luns"] if lun not in there["luns"]]
        return self.run("volume", "grow", name, "--luns", ",".join(new)) if new else None

    def filesystem(self, one):
        name, there = one["name"], self.have["filesystems"].get(one["name"])
        if there is None:
            more = []
            for member in ("owner", "mode", "atime"):
                if member in one:
                    more += [f"--{member}", one[member]]
            return self.run("fs", "create", name, "--volume", one["volume"], *more)
        if there["volume"] != one["volume"]:
            self.refuse("filesystem", name, "volume", there["volume"], one["volume"],
                        "correct the variable, or make another filesystem")
        if "atime" in one and there["atime"] != one["atime"]:
            self.run("fs", "set", name, "--atime", one["atime"])
        return None

    def export(self, one):
        name, there = one["name"], self.have["exports"].get(one["name"])
        wanted = {"path": "/", "pseudo": f"/{name}", "access": "rw", "squash": "root",
                  "anon": NOBODY, "manage_gids": False, **one}
        if there is None:
            given = {member for member in wanted if member != "sec" or _flavors(one) != ("sys",)}
            more = ["--fs", one["filesystem"], *self._export_options(wanted, given)]
            return self.run("export", "create", name, "--path", wanted["path"], *more)
        for member in ("filesystem", "path"):
            if there[member] != wanted[member]:
                self.refuse("export", name, member, there[member], wanted[member],
                            "make another export")
        differ = {member for member in ("pseudo", "access", "squash", "anon", "manage_gids")
                  if there[member] != wanted[member]}
        if _flavors(there) != _flavors(wanted):
            differ.add("sec")
        served = {(_network(rule["who"]), rule["access"], rule["squash"], rule["anon"],
                   _flavors(rule)) for rule in there["rules"]}
        if {_network(who) for who in there["clients"]} != \
                {_network(who) for who in one.get("clients", [])} or served != _rules(wanted):
            differ |= {"clients", "rules"}
        if differ:
            self.run("export", "set", name, *self._export_options(wanted, differ))
        return None

    @staticmethod
    def _export_options(wanted, members):
        argv = []
        for member in ("access", "squash", "anon", "pseudo"):
            if member in members:
                argv += [f"--{member}", wanted[member]]
        if "manage_gids" in members:
            argv += ["--manage-gids", "on" if wanted["manage_gids"] else "off"]
        if "sec" in members:
            argv += ["--sec", ",".join(wanted.get("sec") or ["sys"])]
        if "clients" in members:
            argv += ["--clients", ",".join(wanted.get("clients", []))]
        if "rules" in members:
            for rule in wanted.get("rules") or [""]:
                argv += ["--client", rule]
        return argv

    def vnfs(self, one, all_heads):
        name, there = one["name"], self.have["vnfs"].get(one["name"])
        heads = one.get("heads", all_heads)
        if there is None:
            argv = ["vnfs", "create", name]
            for vip in one["vips"]:
                argv += ["--vip", vip]
            argv += ["--network", ",".join(one["networks"]), "--exports", ",".join(one["exports"]),
                     "--heads", ",".join(heads)]
            return self.run(*argv, *(["--failback", one["failback"]] if "failback" in one else []))
        vips = [f"{vip['address']}/{vip['prefix_length']}" for vip in there["vips"]]
        if vips != one["vips"]:
            self.refuse("vnfs", name, "vips", ",".join(vips), ",".join(one["vips"]),
                        "make another VNFS")
        networks = {vip["network"] for vip in there["vips"]}
        if networks != set(one["networks"]):
            self.refuse("vnfs", name, "networks", ",".join(sorted(networks)),
                        ",".join(one["networks"]), "make another VNFS")
        more = [] if there["heads"] == heads else ["--heads", ",".join(heads)]
        if "failback" in one and there["failback"] != one["failback"]:
            more += ["--failback", one["failback"]]
        if more:
            self.run("vnfs", "set", name, *more)
        for export in one["exports"]:
            if export not in there["exports"]:
                self.run("export", "add", export, "--vnfs", name)
        for export in there["exports"]:
            if export not in one["exports"]:
                self.refused.append(f"vnfs {name}: serves export {export}, which the variables do "
                                    "not have; clients may use it, so nothing is taken away here "
                                    f"(symnas export rm {export} --vnfs {name}, or add it)")
        return None


def changes(wanted, have):
    """{commands: [{what, argv}], refused: [text]}; what only the cluster has is left alone."""
    plan = _Plan(have)
    for kind, make in (("networks", plan.network), ("luns", plan.lun), ("volumes", plan.volume),
                       ("filesystems", plan.filesystem), ("exports", plan.export)):
        for one in wanted[kind]:
            make(one)
    for one in wanted["vnfs"]:
        plan.vnfs(one, [head["name"] for head in wanted["heads"]])
    return {"commands": plan.commands, "refused": plan.refused}


def _counted(data, at):
    """(the bytes behind a 16-bit length, where they end)."""
    size, = struct.unpack_from(">H", data, at)
    return data[at + 2:at + 2 + size], at + 2 + size


def _keytab_entries(data):
    """{(principal, kvno)} of a keytab, format 0x0502; no key. Errors: struct.error, ValueError."""
    found, at = set(), 2
    if data[:2] != b"\x05\x02":
        raise ValueError
    while at + 4 <= len(data):
        size, = struct.unpack_from(">i", data, at)
        at += 4
        entry, at = data[at:at + abs(size)], at + abs(size)
        if size <= 0:  # of an entry that was removed
            continue
        parts, place = struct.unpack_from(">H", entry)[0], 2
        words = []
        for _ in range(parts + 1):  # the realm comes first
            word, place = _counted(entry, place)
            words.append(word.decode())
        kvno = entry[place + 8]
        _, place = _counted(entry, place + 11)
        if len(entry) >= place + 4:
            kvno = struct.unpack_from(">I", entry, place)[0] or kvno
        found.add((f"{'/'.join(words[1:])}@{words[0]}", kvno))
    return found


def lacking_keytabs(read, vnfs):
    """Those wanted VNFSs that lack keys of their file. read: results of slurp, each with its item;
    vnfs: as symnas -o json vnfs ls has them; who is not there yet is left out."""
    have = {one["name"]: {(key["principal"], key["kvno"]) for key in one.get("keytab", [])}
            for one in vnfs}
    lacking = []
    for result in read:
        name = result["item"]["name"]
        try:
            keys = _keytab_entries(base64.b64decode(result["content"]))
        except (struct.error, ValueError, IndexError):
            keys = {("", 0)}  # symnas says what is wrong with it
        if name in have and not (keys and keys <= have[name]):
            lacking.append(result["item"])
    return lacking


class FilterModule:
    """The names that tasks use."""

    def filters(self):
        return {"symnas_heads": heads, "symnas_problems": problems, "symnas_changes": changes,
                "symnas_head_options": head_options, "symnas_fence_lines": fence_lines,
                "symnas_head_differences": head_differences,
                "symnas_lacking_keytabs": lacking_keytabs}
