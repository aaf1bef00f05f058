"""Bytes of NFSv4 and NFSv3 against what the RFCs' XDR says, and answers that are read back."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nfs3_calls as v3
import nfs4_attributes as attr
import nfs4_ops as ops
from nfs4_results import read_results
from nfs4_status import name_of, name_of_v3
from nfs4_wire import Gone, XdrReader, opaque, u32, u64


class Attributes(unittest.TestCase):
    def test_bitmaps_are_as_short_as_they_can_be(self):
        self.assertEqual(attr.bitmap([]), u32(0))
        self.assertEqual(attr.bitmap([0, 4]), u32(1, 0x11))
        self.assertEqual(attr.bitmap([33]), u32(2, 0, 2))
        self.assertEqual(attr.bitmap([82]), u32(3, 0, 0, 1 << 18))

    def test_a_bitmap_is_read_back(self):
        for numbers in (set(), {0}, {31, 32, 81}):
            self.assertEqual(attr.read_bitmap(XdrReader(attr.bitmap(numbers))), numbers)

    def test_values_stand_in_the_order_of_their_numbers(self):
        made = attr.fattr({attr.MODE: 0o644, attr.SIZE: 5})
        self.assertEqual(made, u32(2, 0x10, 2) + u32(12) + u64(5) + u32(0o644))

    def test_values_are_read_back(self):
        values = {attr.TYPE: ops.REG, attr.SIZE: 1 << 40, attr.MODE: 0o4755, attr.OWNER: b"1000",
                  attr.TIME_MODIFY: (-1, 999), attr.RAWDEV: (7, 1), attr.NAMED_ATTR: False,
                  attr.ACL: [attr.Ace(0, 0x40, 7, b"2000")], attr.MODE_UMASK: (0o666, 0o22)}
        self.assertEqual(attr.read_fattr(XdrReader(attr.fattr(values))), values)

    def test_times_that_are_set_say_by_whom(self):
        made = attr.fattr({attr.TIME_MODIFY_SET: attr.SET_BY_SERVER})
        self.assertEqual(made, u32(2, 0, 1 << 22) + opaque(u32(0)))
        self.assertEqual(attr.to_client(-1, 5), u32(1, 0xFFFFFFFF, 0xFFFFFFFF, 5))

    def test_bytes_behind_the_values_are_an_error(self):
        with self.assertRaises(ValueError):
            attr.read_fattr(XdrReader(attr.bitmap([attr.MODE]) + opaque(u32(1, 2))))


class Operations(unittest.TestCase):
    def test_numbers_are_those_of_the_rfcs(self):
        wanted = {"ACCESS": 3, "LOOKUP": 15, "OPEN": 18, "RELEASE_LOCKOWNER": 39, "EXCHANGE_ID": 42,
                  "SEQUENCE": 53, "RECLAIM_COMPLETE": 58, "ALLOCATE": 59, "SEEK": 69, "CLONE": 71,
                  "GETXATTR": 72, "REMOVEXATTR": 75}
        self.assertEqual({ops.NAMES[number]: number for number in wanted.values()}, wanted)

    def test_open(self):
        number, arguments = ops.open_(ops.claim_null("f"), 7, "o", ops.READING, 2,
                                      ops.exclusive(b"12345678"), 3)
        self.assertEqual(number, 18)
        self.assertEqual(arguments, u32(3, 1, 2) + u64(7) + opaque("o") + u32(1, 2) + b"12345678"
                         + u32(0) + opaque("f"))

    def test_lock(self):
        held = b"\0\0\0\1" + b"x" * 12
        _, arguments = ops.lock(ops.WRITE_LT, 1, 2, ops.old_locker(held, 3), True)
        self.assertEqual(arguments, u32(2, 1) + u64(1, 2) + u32(0) + held + u32(3))
        _, arguments = ops.lock(ops.READ_LT, 1, 2, ops.new_locker(4, held, 5, 6, "l"))
        self.assertEqual(arguments, u32(1, 0) + u64(1, 2) + u32(1, 4) + held + u32(5) + u64(6)
                         + opaque("l"))

    def test_exchange_id_and_create_session(self):
        self.assertEqual(ops.exchange_id("o", b"12345678", 9)[1],
                         b"12345678" + opaque("o") + u32(9, 0, 0))
        channel = u32(0, 1, 2, 3, 4, 5, 0)
        _, arguments = ops.create_session(7, 8, 9, (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5))
        self.assertEqual(arguments, u64(7) + u32(8, 9) + channel * 2 + u32(0x40000000, 1, 0))

    def test_extended_attributes(self):
        self.assertEqual(ops.setxattr("n", b"v", ops.CREATE_ONLY),
                         (73, u32(1) + opaque("n") + opaque("v")))
        self.assertEqual(ops.listxattrs(5, 6), (74, u64(5) + u32(6)))


class Results(unittest.TestCase):
    def test_each_is_read_up_to_the_error(self):
        body = u32(2) + opaque(b"tag") + u32(3) + u32(24, 0) + u32(10, 0) + opaque(b"handle") \
            + u32(15, 2)
        answer = read_results(XdrReader(body))
        self.assertEqual((answer.status, answer.tag), ("NOENT", b"tag"))
        self.assertEqual([result.status for result in answer.results], ["OK", "OK", "NOENT"])
        self.assertEqual(answer.results[1].value, b"handle")

    def test_a_denied_lock_says_by_whom(self):
        body = u32(10010) + opaque(b"") + u32(1, 12, 10010) + u64(5, 6) + u32(2) + u64(7) \
            + opaque(b"owner")
        self.assertEqual(tuple(read_results(XdrReader(body)).results[0].value),
                         (5, 6, 2, 7, b"owner"))

    def test_setattr_says_what_was_set_even_if_it_failed(self):
        body = u32(22) + opaque(b"") + u32(1, 34, 22) + u32(0)
        self.assertEqual(read_results(XdrReader(body)).results[0].value, set())

    def test_holes_and_data(self):
        body = u32(0) + opaque(b"") + u32(1, 68, 0, 1, 2) + u32(1) + u64(0, 4096) \
            + u32(0) + u64(4096) + opaque(b"text")
        self.assertEqual(read_results(XdrReader(body)).results[0].value,
                         (True, [(0, 4096), (4096, b"text")]))

    def test_too_much_and_too_little_are_errors(self):
        body = u32(0) + opaque(b"") + u32(1, 24, 0)
        with self.assertRaises(ValueError):
            read_results(XdrReader(body + u32(0)))
        with self.assertRaises(Gone):
            read_results(XdrReader(body[:-4]))

    def test_names_of_statuses(self):
        self.assertEqual([name_of(status) for status in (0, 10011, 10033, 10071, 10096, 9)],
                         ["OK", "EXPIRED", "NO_GRACE", "OP_NOT_IN_SESSION", "XATTR2BIG",
                          "status 9"])
        self.assertEqual(name_of_v3(10008), "JUKEBOX")


class Nfs3(unittest.TestCase):
    def test_sattr(self):
        self.assertEqual(v3.sattr(), u32(0, 0, 0, 0, 0, 0))
        self.assertEqual(v3.sattr(mode=0o644, size=5, atime=v3.SERVER_TIME, mtime=(7, 8)),
                         u32(1, 0o644, 0, 0, 1) + u64(5) + u32(1, 2, 7, 8))

    def test_fattr(self):
        body = u32(1, 0o644, 2, 3, 4) + u64(5, 6) + u32(7, 8) + u64(9, 10) + u32(*range(11, 17))
        found = v3.fattr(XdrReader(body))
        self.assertEqual((found.kind, found.size, found.rdev, found.fileid, found.ctime),
                         (1, 5, (7, 8), 10, (15, 16)))


if __name__ == "__main__":
    unittest.main()
