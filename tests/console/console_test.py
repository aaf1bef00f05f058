"""The parts of the console's tests that need neither a browser nor a lab."""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lab"),
                os.path.join(HERE, "..", "..", "deploy", "lab")]

import api_client
import large
from fake_vnfsd import FakeVnfsd
from symlab import accounts

VNFS = {"name": "vnfs1", "owner": "c1n1", "heads": ["c1n1"], "vnfs_id": 1, "vips": []}
DOCUMENTS = {
    "/v1/heads": {"heads": [{"name": "c1n1", "address": "10.99.0.1"}]},
    "/v1/vnfs": {"vnfs": [VNFS]},
    "/v1/status": {"heads": [], "vnfs": [{**VNFS, "state": "serving"}]},
    "/v1/placement": {"heads": [], "vnfs": [{"name": "vnfs1", "places": {"c1n1": "*P"}}]},
    "/v1/locks": {"more": False, "locks": [{"ino": 1, "vnfs": "vnfs1"}]},
}


class Accounts(unittest.TestCase):
    def test_only_the_group_of_sudo_gets_members(self):
        self.assertEqual(accounts.with_members("sudo:x:27:", ["a"]), "sudo:x:27:a")
        self.assertEqual(accounts.with_members("sudo:x:27:b", ["a"]), "sudo:x:27:b,a")
        self.assertEqual(accounts.with_members("sudoers:x:28:", ["a"]), "sudoers:x:28:")
        self.assertEqual(accounts.with_members("adm:x:4:c", ["a"]), "adm:x:4:c")


class Large(unittest.TestCase):
    def test_every_vnfs_has_one_owner_among_the_heads(self):
        grown = large.grown(DOCUMENTS)
        heads = [head["name"] for head in grown["/v1/heads"]["heads"]]
        rows = grown["/v1/placement"]["vnfs"]
        self.assertEqual((len(heads), len(rows)), (large.HEADS, large.VNFSS))
        self.assertEqual(len(grown["/v1/locks"]["locks"]), large.LOCKS)
        for row in rows:
            owners = [head for head, place in row["places"].items() if place.startswith("*")]
            self.assertEqual(owners, [row["owner"]])
            self.assertIn(row["owner"], heads)

    def test_a_move_changes_one_vnfs(self):
        before = large.grown(DOCUMENTS)
        after = large.moved(before, 5, "c1n9")
        for path, document in after.items():
            changed = [row["name"] for row, old in zip(
                document["vnfs"], before[path]["vnfs"], strict=True) if row != old]
            self.assertEqual(changed, ["vnfs5"])


class Fake(unittest.TestCase):
    def ask(self, role, method, path):
        with tempfile.TemporaryDirectory() as folder:
            fake = FakeVnfsd(folder, {"/v1/heads": {"heads": []}, "/v1/events": {"events": []}},
                             role)
            try:
                connection = api_client.UnixConnection(os.path.join(folder, "vnfsd.sock"))
                connection.request(method, path)
                with connection.getresponse() as reply:
                    reply.read()
                    return reply.status, fake.asked
            finally:
                connection.close()
                fake.close()

    def test_who_may_what(self):
        self.assertEqual(self.ask("viewer", "GET", "/v1/heads"), (200, []))
        self.assertEqual(self.ask("viewer", "GET", "/v1/events"), (403, []))
        self.assertEqual(self.ask("admin", "GET", "/v1/events"), (200, []))
        self.assertEqual(self.ask("admin", "GET", "/v1/other"), (404, []))
        self.assertEqual(self.ask("admin", "POST", "/v1/heads"), (403, ["POST /v1/heads"]))


if __name__ == "__main__":
    unittest.main()
