"""Extended attributes as a native NFSv4.2 client asks for them (RFC 8276)."""

from nfs4_client import Client
from nfs4_wire import GETATTR, OK, PUTFH, Refused, opaque, u32, u64

GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR = 72, 73, 74, 75
EITHER, CREATE, REPLACE = 0, 1, 2
ACCESS, EXIST, INVAL, NOSPC, ROFS, NAMETOOLONG = 13, 17, 22, 28, 30, 63
TOOSMALL, NOXATTR, XATTR2BIG = 10005, 10095, 10096
MINOR = 2
CHANGE = 1 << 3
LIST_BYTES = 1 << 17


class XattrClient:
    """One client of one file, which it makes if it is not there. Each call is sent again until it
    is answered. Errors: Refused."""

    def __init__(self, address, export, name):
        self.client = Client(address, export, MINOR)
        self.client.open(name)

    def close(self):
        self.client.connection.close()

    def _call(self, number, arguments, parse=None):
        return self.client.call((PUTFH, opaque(self.client.handle), None),
                                (number, arguments, parse))[1]

    def get(self, name):
        return self._call(GETXATTR, opaque(name), lambda a: a.opaque())

    def set(self, name, value, option=EITHER):
        """(change before, change after)"""
        return self._call(SETXATTR, u32(option) + opaque(name) + opaque(value), _change_info)

    def remove(self, name):
        return self._call(REMOVEXATTR, opaque(name), _change_info)

    def page(self, cookie=0, bytes_max=LIST_BYTES):
        """(cookie, names, whether these are the last ones)"""
        def parse(answer):
            after = answer.u64()
            names = [answer.opaque() for _ in range(answer.u32())]
            return after, names, bool(answer.u32())
        return self._call(LISTXATTRS, u64(cookie) + u32(bytes_max), parse)

    def names(self, bytes_max=LIST_BYTES):
        """All names, sorted, in pages of at most so many bytes."""
        found, cookie, last = [], 0, False
        while not last:
            cookie, names, last = self.page(cookie, bytes_max)
            found += names
        return sorted(found)

    def change(self):
        return self._call(GETATTR, u32(1, CHANGE), lambda a: (a.bitmap(), a.u32(), a.u64())[2])


def _change_info(answer):
    answer.u32()
    return answer.u64(), answer.u64()


def status_of(call, *arguments):
    """0, or the status with which the call was refused."""
    try:
        call(*arguments)
    except Refused as refused:
        return refused.status
    return OK
