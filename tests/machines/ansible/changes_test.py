"""What the role of deploy/ansible wants to run, from variables and what symnas says there is."""

import base64
import importlib.util
import os
import struct
import unittest

PLUGIN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "deploy",
                      "ansible", "roles", "symnas", "filter_plugins", "symnas.py")
spec = importlib.util.spec_from_file_location("symnas_filters", PLUGIN)
symnas = importlib.util.module_from_spec(spec)
spec.loader.exec_module(symnas)


def wanted(**lists):
    heads = [{"name": f"c1n{n}", "address": f"10.99.0.{n}"} for n in (1, 2)]
    return {"cluster": "prod", "heads": heads, **{kind: [] for kind in symnas.MEMBERS}, **lists}


EXPORT = {"name": "a", "filesystem": "f", "path": "/", "pseudo": "/a", "clients": ["10.0.0.0/24"],
          "access": "rw", "squash": "root", "anon": "65534:65534", "manage_gids": False,
          "rules": [{"who": "10.0.0.0/24", "access": "rw", "squash": "root",
                     "anon": "65534:65534"}]}
VNFS = {"name": "v", "vips": [{"address": "10.0.0.101", "prefix_length": 24, "network": "n"}],
        "exports": ["a"], "heads": ["c1n1", "c1n2"], "failback": "manual"}


class Changes(unittest.TestCase):
    def commands(self, have, **lists):
        plan = symnas.changes(wanted(**lists), have)
        self.assertEqual(plan["refused"], [])
        return [" ".join(one["argv"]) for one in plan["commands"]]

    def refusal(self, have, **lists):
        return "; ".join(symnas.changes(wanted(**lists), have)["refused"])

    def test_an_export_that_is_as_wanted_is_left(self):
        one = {"name": "a", "filesystem": "f", "clients": ["10.0.0.0/24"]}
        self.assertEqual(self.commands({"exports": [EXPORT]}, exports=[one]), [])

    def test_only_what_differs_is_set(self):
        one = {"name": "a", "filesystem": "f", "clients": ["10.0.0.0/24"], "manage_gids": True}
        self.assertEqual(self.commands({"exports": [EXPORT]}, exports=[one]),
                         ["symnas export set a --manage-gids on"])

    def test_rules_are_compared_as_they_hold(self):
        one = {"name": "a", "filesystem": "f", "clients": ["10.0.0.0/24"],
               "rules": ["10.0.0.7:ro,anonuid=9"]}
        self.assertEqual(
            self.commands({"exports": [EXPORT]}, exports=[one]),
            ["symnas export set a --clients 10.0.0.0/24 --client 10.0.0.7:ro,anonuid=9"])
        rule = {"who": "10.0.0.7", "access": "ro", "squash": "root", "anon": "9:65534"}
        have = {**EXPORT, "rules": [rule, *EXPORT["rules"]]}
        self.assertEqual(self.commands({"exports": [have]}, exports=[one]), [])

    def test_a_rule_that_is_no_more_wanted_is_taken_away(self):
        rule = {"who": "@friends", "access": "ro", "squash": "root", "anon": "65534:65534"}
        have = {**EXPORT, "rules": [*EXPORT["rules"], rule]}
        one = {"name": "a", "filesystem": "f", "clients": ["10.0.0.0/24"]}
        self.assertEqual(self.commands({"exports": [have]}, exports=[one]),
                         ["symnas export set a --clients 10.0.0.0/24 --client "])

    def test_flavors_are_set_where_they_differ(self):
        one = {"name": "a", "filesystem": "f", "clients": ["10.0.0.0/24"],
               "sec": ["krb5p", "krb5i"]}
        self.assertEqual(
            self.commands({"exports": [EXPORT]}, exports=[one]),
            ["symnas export set a --sec krb5p,krb5i --clients 10.0.0.0/24 --client "])
        [rule] = EXPORT["rules"]
        have = {**EXPORT, "sec": ["krb5i", "krb5p"], "rules": [
            {**rule, "sec": ["krb5i", "krb5p"]},
            {**rule, "who": "10.0.0.7/32", "sec": ["sys", "krb5"]}]}
        one["rules"] = ["10.0.0.7:rw,sec=krb5:sys"]
        self.assertEqual(self.commands({"exports": [have]}, exports=[one]), [])
        [made] = self.commands({}, exports=[{**one, "rules": []}])
        self.assertIn("--sec krb5p,krb5i", made)
        self.assertIn("write some of sys", "; ".join(symnas.problems(
            wanted(filesystems=[], exports=[{**one, "sec": ["krb4"]}]))))

    def test_a_keytab_is_given_to_who_lacks_its_keys(self):
        def counted(text):
            return struct.pack(">H", len(text)) + text
        entry = struct.pack(">H", 2) + counted(b"R") + counted(b"nfs") + counted(b"v.x") \
            + struct.pack(">IIBH", 1, 0, 3, 18) + counted(b"k" * 32)
        file = b"\5\2" + struct.pack(">i", len(entry)) + entry
        read = [{"item": {"name": "v", "keytab": "f"}, "content": base64.b64encode(file).decode()}]
        keys = [{"principal": "nfs/v.x@R", "kvno": 3, "enctype": "aes"}]
        item = [read[0]["item"]]
        for there, lacking in (([], []), ([{"name": "v", "keytab": keys}], []),
                               ([{"name": "v", "keytab": []}], item), ([{"name": "v"}], item),
                               ([{"name": "v", "keytab": [{**keys[0], "kvno": 2}]}], item)):
            self.assertEqual(symnas.lacking_keytabs(read, there), lacking)
        for broken in (b"", b"garbage", file[:-40]):
            read[0]["content"] = base64.b64encode(broken).decode()
            self.assertEqual(symnas.lacking_keytabs(read, [{"name": "v", "keytab": keys}]), item)

    def test_heads_of_a_vnfs_follow_the_inventory_and_exports_are_added(self):
        one = {"name": "v", "vips": ["10.0.0.101/24"], "networks": ["n"], "exports": ["a", "b"]}
        have = {**VNFS, "heads": ["c1n1"]}
        self.assertEqual(self.commands({"vnfs": [have]}, vnfs=[one]),
                         ["symnas vnfs set v --heads c1n1,c1n2", "symnas export add b --vnfs v"])

    def test_what_cannot_be_changed_is_refused(self):
        one = {"name": "v", "vips": ["10.0.0.102/24"], "networks": ["n"], "exports": ["a"]}
        self.assertIn("vips is 10.0.0.101/24, 10.0.0.102/24 is wanted",
                      self.refusal({"vnfs": [VNFS]}, vnfs=[one]))
        self.assertIn("nothing is taken away", self.refusal(
            {"vnfs": [VNFS]}, vnfs=[{**one, "vips": ["10.0.0.101/24"], "exports": []}]))
        volume = {"name": "v1", "stripe_unit_bytes": 1 << 20, "luns": ["L0", "L1"]}
        self.assertIn("a volume gives no LUN back",
                      self.refusal({"volumes": [volume]}, volumes=[{"name": "v1", "luns": ["L0"]}]))
        self.assertIn("stripe_unit is 1048576 bytes, 256K is wanted", self.refusal(
            {"volumes": [volume]},
            volumes=[{"name": "v1", "luns": ["L0", "L1"], "stripe_unit": "256K"}]))

    def test_a_volume_grows(self):
        volume = {"name": "v1", "stripe_unit_bytes": 1 << 20, "luns": ["L0"]}
        self.assertEqual(self.commands({"volumes": [volume]},
                                       volumes=[{"name": "v1", "luns": ["L0", "L1"]}]),
                         ["symnas volume grow v1 --luns L1"])


class Problems(unittest.TestCase):
    def test_each_says_what_to_do(self):
        found = symnas.problems(wanted(luns=[{"name": "L0"}], exports=["a"],
                                       filesystems=[{"name": "f", "volume": "v", "mode": 493}]))
        self.assertEqual(found, [
            "symnas_luns, L0: has no path: add it",
            "symnas_filesystems, f: mode is to be a text, such as '1777': put it in quotes",
            "symnas_exports: 'a' is no object: write members, such as name"])

    def test_names_have_to_lead_somewhere(self):
        found = symnas.problems(wanted(filesystems=[{"name": "f", "volume": "v1"}]))
        self.assertEqual(found, ["symnas_filesystems, f: volume 'v1' is not in symnas_volumes: add "
                                 "it there, or correct the name"])

    def test_a_volume_carries_one_filesystem(self):
        found = symnas.problems(wanted(
            luns=[{"name": "L0", "path": "/dev/a"}], volumes=[{"name": "v1", "luns": ["L0"]}],
            filesystems=[{"name": name, "volume": "v1"} for name in "ab"]))
        self.assertEqual(found, ["symnas_filesystems: volume v1 has two of them, and carries one: "
                                 "give each its own"])

    def test_heads(self):
        given = wanted()
        given["heads"][1] = {"name": "C1_N2", "address": "10.99.0.1"}
        text = "; ".join(symnas.problems(given))
        self.assertIn("head C1_N2: the name is no host name", text)
        self.assertIn("two heads have the address 10.99.0.1", text)


class Heads(unittest.TestCase):
    HEAD = {"cluster": "prod", "name": "c1n1", "address": "10.99.0.1", "lun_paths": ["/dev/m*"],
            "probe_addresses": [], "fence_agent": "/sbin/f", "fence_cuts": "power",
            "fence_options": {"passwd": "secret"}, "fence_reservations": False,
            "fence_automatic": True}
    TOML = ('[cluster]\nname = "prod"\n[head]\nname = "c1n1"\naddress = "10.99.0.1"\n'
            '[daemon]\nlun_paths = ["/dev/m*"]\n[fence]\nagent = "/sbin/f"\ncuts = "power"\n'
            'options = ["passwd=secret"]\n')

    def test_secrets_are_in_no_argument_and_no_message(self):
        self.assertNotIn("secret", " ".join(symnas.head_options(self.HEAD)))
        self.assertEqual(symnas.fence_lines(self.HEAD["fence_options"]), "passwd=secret\n")
        self.assertEqual(symnas.head_differences(self.TOML, self.HEAD), [])
        other = self.TOML.replace("secret", "other")
        self.assertEqual(symnas.head_differences(other, self.HEAD), ["fence.options"])


if __name__ == "__main__":
    unittest.main()
