"""Removes what a run has made. No error if something is left: the answer of the run stands."""

import nfs4_attributes as attr
import nfs4_ops as ops
from registry import Again, Failed

PAGE_BYTES = 32768


def walk(path):
    """Operations to the object at this path."""
    return [ops.putrootfh(), *(ops.lookup(part) for part in path.strip("/").split("/") if part)]


def remove4(client, export, name):
    """Removes a directory of the export and all below it."""
    try:
        top = client.values(*walk(export), ops.getfh())[-1]
        handle = client.values(ops.putfh(top), ops.lookup(name), ops.getfh())[-1]
        _empty(client, handle)
        client.ask(ops.putfh(top), ops.remove(name))
    except (Again, Failed):
        pass


def _empty(client, handle):
    """In turns: a listing from the start, and the removal of what it shows."""
    while True:
        listing = client.expect("OK", ops.putfh(handle), ops.readdir(
            maxcount=PAGE_BYTES, numbers=(attr.TYPE, attr.FILEHANDLE)))
        removed = 0
        for entry in listing.entries:
            if entry.attributes.get(attr.TYPE) == ops.DIR:
                _empty(client, entry.attributes[attr.FILEHANDLE])
            if client.ask(ops.putfh(handle), ops.remove(entry.name)).status == "OK":
                removed += 1
        if not listing.entries or not removed:
            return
