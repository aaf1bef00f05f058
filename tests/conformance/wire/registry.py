"""Cases by subject: a name, the rule of an RFC that it checks, and for which protocols it is one.

A body gets its Bed (bed4.py, bed3.py), returns when the rule is kept, and raises Failed or Skipped.
"""

import collections

# What a server may answer at any time, and what a client repeats: RFC 8881 15.1.1.3, 15.1.9.2.
LATER = ("DELAY", "GRACE", "JUKEBOX")

SHOWN_MAX = 200  # characters of a value in a line

Case = collections.namedtuple("Case", "name protocol reference body")

CASES = []


class Failed(Exception):
    """What was answered, and what was expected."""


class Skipped(Exception):
    """Why the case says nothing about this server."""


class Again(Exception):
    """The server asks to come again: the case has to begin anew."""


class DeniedLater(Again):
    """The server asks who opens and denies something to come again."""


def section(number, sections):
    return f"RFC {number} section {sections}"


def references(rfc7530=None, rfc8881=None, rfc7862=None, rfc8276=None, rfc1813=None, nfsacl=None,
               rfc5531=None, v41only=None):
    """{protocol: reference}; a protocol is a minor version of NFSv4, "v3" or "nfsacl".

    What RFC 8881 says holds for v4.2, too, unless RFC 7862 or 8276 says something of its own or the
    reference is `v41only`.
    """
    found = {}
    if rfc7530:
        found[0] = section(7530, rfc7530)
    if rfc8881:
        found[1] = found[2] = section(8881, rfc8881)
    if rfc7862:
        found[2] = section(7862, rfc7862)
    if rfc8276:
        found[2] = section(8276, rfc8276)
    if rfc5531:
        found = dict.fromkeys((0, 1, 2), section(5531, rfc5531))
    if v41only:
        found[1] = section(8881, v41only)
    if rfc1813:
        found["v3"] = section(1813, rfc1813)
    if nfsacl:
        found["nfsacl"] = nfsacl
    return found


def prefix(protocol):
    return f"v4.{protocol}" if isinstance(protocol, int) else protocol


class Subject:
    """Cases that share the first part of their names and, unless they say otherwise, references."""

    def __init__(self, name, **defaults):
        self.name = name
        self.defaults = defaults

    def add(self, name, body, **own):
        """Adds a case for each protocol of its references. own: as of references()."""
        for protocol, reference in references(**(own or self.defaults)).items():
            CASES.append(Case(f"{prefix(protocol)}.{self.name}.{name}", protocol, reference, body))

    def case(self, **own):
        """As add(), of a function, whose name it has."""
        def added(body):
            self.add(body.__name__, body, **own)
            return body
        return added


def check(answered, wanted, what):
    """wanted: statuses, separated by blanks. Errors: Failed, Again."""
    if answered in LATER and answered not in wanted.split():
        raise Again(f"{what} answered {answered}")
    if answered not in wanted.split():
        raise Failed(f"{what} answered {answered}, expected {' or '.join(wanted.split())}")


def equal(answered, wanted, what):
    if answered != wanted:
        raise Failed(f"{what} is {_shown(answered)}, expected {_shown(wanted)}")


def _shown(value):
    text = repr(sorted(value) if isinstance(value, (set, frozenset)) else value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}... ({len(text)} characters)"


def require(holds, what):
    """what: what was answered, and what was expected."""
    if not holds:
        raise Failed(what)
