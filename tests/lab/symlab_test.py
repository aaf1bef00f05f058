"""The parts of deploy/lab that need no lab: words, rules, the agent's protocol, OFD locks."""

import fcntl
import io
import os
import struct
import sys
import tempfile
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "deploy", "lab"))

from symlab import faults, fencing, head_processes, processes, served
from symlab.cluster import Lab
from symlab.errors import LabError

HEADS = ["c1n1", "c1n2"]


class Words(unittest.TestCase):
    def test_heads_instances_and_members_are_ours(self):
        for words in (["pause", "c1n2"], ["resume", "vnfs1"], ["resume", "etcd-c1n1"],
                      ["heal", "c1n1"], ["partition", "c1n1", "luns"], ["rate", "c1n1", "off"]):
            self.assertTrue(faults.is_ours(words, HEADS), words)

    def test_luns_are_the_servers(self):
        for words in (["heal", "all"], ["resume", "all"], ["resume", "LUN1"], ["hang", "all"],
                      ["power-off", "all", "40"], ["stats", "all"]):
            self.assertFalse(faults.is_ours(words, HEADS), words)


class Served(unittest.TestCase):
    @staticmethod
    def lab(heads):
        state = mock_state(heads=[{"name": f"c1n{n + 1}"} for n in range(heads)],
                           luns=[{"name": "LUN0", "path": "/a"}, {"name": "LUN1", "path": "/b"}])
        return unittest.mock.Mock(state=state)

    def test_two_vnfss_serve_unless_there_is_one_head(self):
        self.assertEqual(served.vips_of(self.lab(1)), ["10.0.0.101"])
        for heads in (2, 3, 16):
            self.assertEqual(served.vips_of(self.lab(heads)), ["10.0.0.101", "10.0.0.102"])

    def test_only_the_labs_own_devices_are_named(self):
        words = served.quickstart_words(self.lab(1))
        self.assertEqual(words[:4], ["quickstart", "/a", "/b", "--vip"])
        self.assertNotIn("--commit", words)

    def test_each_line_of_the_command_is_told(self):
        lab = self.lab(2)
        lab.symnas.return_value.return_value = "[1/2] one\n[2/2] two\n"
        told = []
        self.assertEqual(served.create_service(lab, told.append), ["10.0.0.101", "10.0.0.102"])
        self.assertTrue(told[0].startswith("symnas quickstart /a /b "))
        self.assertTrue(told[0].endswith(" --commit"))
        self.assertEqual(told[1:], ["  [1/2] one", "  [2/2] two"])

    def test_the_mount_is_a_line_for_a_shell(self):
        self.assertEqual(served.mount_command("10.0.0.101"),
                         "mount -o vers=4.1 10.0.0.101:/u04 /mnt")


def mock_state(**data):
    return unittest.mock.Mock(data=data)


class Rules(unittest.TestCase):
    def test_every_partition_is_one_table_of_its_own(self):
        names = set()
        for part in ("etcd", "peers", "clients"):
            family, name = faults.table_of(part)
            self.assertTrue(faults.rules(part).startswith(f"table {family} {name} {{"))
            names.add(name)
        self.assertEqual(len(names), 3)

    def test_peers_leaves_etcd_alone(self):
        self.assertIn("tcp dport != { 2379, 2380 } tcp sport != { 2379, 2380 } drop",
                      faults.rules("peers"))

    def test_an_unknown_part_is_refused(self):
        with self.assertRaises(LabError):
            faults.rules("moon")

    def test_a_rate_holds_in_both_directions(self):
        (head, to), (hub, back) = faults.rate_commands("c1n2", "100mbit")
        self.assertEqual((head, hub), ("head", "hub"))
        self.assertEqual(to[:8], "tc qdisc replace dev eth1 root tbf rate".split())
        self.assertEqual(back[4], "c1n2-nfs")
        self.assertEqual(faults.rate_commands("c1n2", "off")[1][1],
                         "tc qdisc del dev c1n2-nfs root".split())


    def test_a_delay_is_read(self):
        self.assertEqual(faults.parse_delay("20ms"), (20, 0))
        self.assertEqual(faults.parse_delay("20ms+10ms"), (20, 10))
        self.assertEqual(faults.parse_delay("off"), (None, None))
        for word in ("20", "20s", "ms", "-1ms", "20ms+"):
            with self.assertRaises(LabError):
                faults.parse_delay(word)


class FenceAgent(unittest.TestCase):
    def test_reads_the_protocol(self):
        text = "# comment\naction=off\n\nplug=c1n2\npath = /a=b \nnoise\n"
        self.assertEqual(fencing.read_request(io.StringIO(text)),
                         {"action": "off", "plug": "c1n2", "path": "/a=b"})

    def test_a_held_byte_is_not_obtained(self):
        with tempfile.NamedTemporaryFile() as file:
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 3, 1, 0)
            fcntl.fcntl(file.fileno(), fencing._F_OFD_SETLK, lock)
            self.assertFalse(fencing.try_byte(file.name, 3))
            self.assertTrue(fencing.try_byte(file.name, 4))
            with self.assertRaises(LabError):
                fencing.obtain_byte(file.name, 3, wait_s=0.01)
        # Dropped with the file's last descriptor, and try_byte keeps nothing.
        with tempfile.NamedTemporaryFile() as file:
            self.assertTrue(fencing.try_byte(file.name, 3))
            self.assertTrue(fencing.try_byte(file.name, 3))


class State(unittest.TestCase):
    def test_a_lab_interrupted_before_its_first_note_is_removed(self):
        with tempfile.TemporaryDirectory() as root, \
                unittest.mock.patch.dict(os.environ, {"SYMNAS_LAB": root}):
            lab = Lab(f"t{os.getpid()}")
            self.assertFalse(lab.down())
            os.makedirs(lab.directory)
            with open(lab.state.path + ".new", "w", encoding="utf-8"):
                pass
            self.assertTrue(lab.down())
            self.assertFalse(os.path.exists(lab.directory))


class Processes(unittest.TestCase):
    def test_offspring_is_found(self):
        me = {"pid": os.getppid(), "start_time": processes.start_time(os.getppid()), "argv": []}
        found = [record["pid"] for record in head_processes.with_offspring([me])]
        self.assertEqual(found[0], os.getppid())
        self.assertIn(os.getpid(), found)

    def test_what_is_gone_has_none(self):
        gone = {"pid": os.getpid(), "start_time": 1, "argv": []}
        self.assertEqual(head_processes.with_offspring([gone]), [])


if __name__ == "__main__":
    unittest.main()
