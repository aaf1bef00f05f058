"""What the demo prints: phases, facts with their seconds, and one table of what was proved.

Every line stands by itself. Thread class: confined to one thread.
"""

import re
import textwrap
import time

WIDTHS = (33, 43, 38)  # columns of the table, 118 characters with what is between them
FACT_WIDTH = 106
_JOINT = "\0"  # stands for a blank at which no line ends
HEADINGS = ("Proved", "What the clients saw", "Limit elsewhere")
SOURCES = (
    "[1] docs/measurements.md: a quiet machine of two cores. The pair: two ganeshas with FSAL_VFS "
    "on ext4, active/passive; nothing is detected and nobody is fenced in its times.",
    "[2] HP Scalable NAS 3.7 for Linux, administration guide (AG513-96002, October 2009), pages 29 "
    "and 197.",
)
NEXT = (
    ("make lab N=3", "the same cluster, to play with"),
    ("make console", "the same in a browser: VNFSs are moved by drag and drop"),
    ("docs/operations/first_cluster.md", "the same commands on real heads"),
    ("docs/architecture/README.md", "how it works"),
)


def wrapped(text, width):
    """The lines of a text; a number and its unit stay together."""
    joined = re.sub(r"(?<=[0-9]) (?=(s|MiB)\b)", _JOINT, text)
    return [line.replace(_JOINT, " ") for line in textwrap.wrap(joined, width)]


def table(rows):
    """The lines of a table of (proved, seen, limit), each cell wrapped to its column."""
    lines = []
    for row in (HEADINGS, *rows):
        cells = [wrapped(cell, width) for cell, width in zip(row, WIDTHS, strict=True)]
        for at in range(max(len(cell) for cell in cells)):
            words = [(cell[at] if at < len(cell) else "").ljust(width)
                     for cell, width in zip(cells, WIDTHS, strict=True)]
            lines.append("  ".join(words).rstrip())
        lines.append("  ".join("-" * width for width in WIDTHS))
    return lines


def seconds(ms):
    """A gap of so many milliseconds, as a person reads it: "0.14 s"."""
    return f"{ms / 1000:.2f} s"


def gaps(by_name, noted_ms):
    """"v3 0.14 s, v41 under 0.02 s" of {name: longest gap in ms, 0 if none of noted_ms was}."""
    return ", ".join(f"{name} {seconds(ms) if ms >= noted_ms else 'under ' + seconds(noted_ms)}"
                     for name, ms in by_name.items())


def _print(line):
    print(line, flush=True)


class Report:
    """Prints what happens, and remembers what was proved."""

    def __init__(self, write=_print, now=time.monotonic):
        self._write = write
        self._now = now
        self._begin = self._last = now()
        self._phases = []  # (name, when it began)
        self._rows = []

    def begin(self, name, title):
        """Begins a phase, which ends the one before. name: a word for the line of all phases."""
        self._last = self._now()
        self._phases.append((name, self._last))
        self._write(f"\n{name}: {title}")

    def fact(self, text):
        """Prints what has become true, and how long that took: since the last fact or phase."""
        now = self._now()
        first, *rest = wrapped(text, FACT_WIDTH)
        self._write(f"  {now - self._last:6.1f} s  {first}")
        for line in rest:
            self._write(f"            {line}")
        self._last = now

    def proved(self, what, seen, limit):
        self._rows.append((what, seen, limit))

    def summary(self):
        """Prints the table and where to go on."""
        self._write("")
        for line in table(self._rows):
            self._write(line)
        for source in SOURCES:
            for line in textwrap.wrap(source, 118, subsequent_indent="    "):
                self._write(line)
        self._write("\nGo on:")
        for place, what in NEXT:
            self._write(f"  {place:<34}{what}")
        self._write("")

    def total(self):
        """Prints the seconds of all phases."""
        ends = [when for _, when in self._phases[1:]] + [self._now()]
        spans = ", ".join(f"{name} {end - when:.0f}"
                          for (name, when), end in zip(self._phases, ends, strict=True))
        self._write(f"{self._now() - self._begin:.0f} s in all: {spans}")
