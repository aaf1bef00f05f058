"""What a case of NFSv3 or NFSACL stands on: a connection and a fresh directory.

Thread class: confined to one thread.
"""

import nfs3_calls as v3
from nfs3_calls import Nfs3
from registry import Again, check
from rpc_wire import auth_sys, mount

USER = 1000
KINDS = {"file": v3.REG, "directory": v3.DIR, "symlink": v3.LNK, "fifo": v3.FIFO,
         "socket": v3.SOCK, "block": v3.BLK, "char": v3.CHR}
DEVICES = ("fifo", "socket", "block", "char")


class Bed:
    """`nfs`: a connection of root; `dir`: the case's directory."""

    def __init__(self, options, run_dir, name):
        self.options = options
        self._connections = []
        self.nfs = self.connect()
        answer = self.nfs.mkdir(run_dir, name, mode=0o777)
        check(answer.status, "OK", "MKDIR")
        self.dir = answer.value

    def connect(self, uid=0, groups=()):
        connection = Nfs3(self.options.server)
        connection.credential = auth_sys(uid, uid, groups)
        self._connections.append(connection)
        return connection

    def end(self):
        for connection in self._connections:
            connection.close()

    def ok(self, answer, what):
        check(answer.status, "OK", what)
        return answer

    def make(self, kind, name=None, where=None, mode=None):
        """The handle of a new object of this kind (KINDS), called by it unless `name` is given."""
        name, where = name or kind, where or self.dir
        mode = (0o777 if kind == "directory" else 0o666) if mode is None else mode
        if kind == "file":
            answer = self.nfs.create(where, name, v3.GUARDED, mode=mode)
        elif kind == "directory":
            answer = self.nfs.mkdir(where, name, mode=mode)
        elif kind == "symlink":
            answer = self.nfs.symlink(where, name, "target")
        else:
            answer = self.nfs.mknod(where, name, KINDS[kind], (7, 1), mode=mode)
        check(answer.status, "OK", f"making a {kind}")
        if answer.value is not None:
            return answer.value
        return self.ok(self.nfs.lookup(where, name), "LOOKUP").value

    def file(self, text=b"", name="file", **how):
        handle = self.make("file", name, **how)
        if text:
            self.ok(self.nfs.write(handle, text), "WRITE")
        return handle

    def attributes(self, handle):
        return self.ok(self.nfs.getattr(handle), "GETATTR").attributes

    def text(self, handle, count=65536):
        return self.ok(self.nfs.read(handle, 0, count), "READ").value[2]

    def names(self, handle=None):
        """Without . and .., which NFSv3 shows."""
        listing = self.ok(self.nfs.readdir(handle or self.dir), "READDIR").value
        return [entry.name for entry in listing.entries if entry.name not in (b".", b"..")]


def _root(options):
    status, handle = mount(options.server, options.mount_path or options.export)
    if status != 0:
        raise SystemExit(f"run: MNT of {options.mount_path or options.export}: status {status}")
    return handle


def make_place(options, name):
    """The handle of a new directory in the export. Errors: Again."""
    nfs = Nfs3(options.server)
    answer = nfs.mkdir(_root(options), name, mode=0o777)
    nfs.close()
    check(answer.status, "OK", "MKDIR")
    return answer.value


def remove_place(options, name):
    nfs, root = Nfs3(options.server), _root(options)
    try:
        _empty(nfs, nfs.lookup(root, name).value)
        nfs.rmdir(root, name)
    except Again:
        pass
    nfs.close()


def _empty(nfs, handle):
    while True:
        answer = nfs.readdir(handle, count=16384)
        removed = 0
        for entry in answer.value.entries if answer.status == "OK" else ():
            if entry.name in (b".", b".."):
                continue
            status = nfs.remove(handle, entry.name).status
            if status != "OK":
                _empty(nfs, nfs.lookup(handle, entry.name).value)
                status = nfs.rmdir(handle, entry.name).status
            removed += status == "OK"
        if not removed:
            return
