"""The verdicts of cases, against the list of those that are expected to fail.

A line of the list: "VERSIONS NAME | REASON | REFERENCE". VERSIONS: "v3,v4.2" or "*". NAME may have
wildcards ("xattr.*"): then all that it fits fail. A REASON that begins with "now and then" is of
what may pass, too. Lines that begin with # are comments.

Thread class: confined to one thread.
"""

import fnmatch
import re

LINE = re.compile(r"^(ok|not ok|skip) ([^\s:]+)(?:: (.*))?$")


class Entry:
    def __init__(self, versions, name, reason):
        self.versions = versions
        self.name = name
        self.reason = reason
        self.met = False

    def fits(self, version, name):
        return ("*" in self.versions or version in self.versions) and fnmatch.fnmatchcase(
            name, self.name)


class Expected:
    def __init__(self, path):
        self.entries = []
        self.read(path)

    def read(self, path):
        """Adds the entries of a file."""
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip() and not line.startswith("#"):
                    self.entries.append(self._entry(line, f"{path}:{number}"))

    @staticmethod
    def _entry(line, place):
        parts = [part.strip() for part in line.split("|")]
        words = parts[0].split()
        if len(parts) != 3 or len(words) != 2 or not all(parts):
            raise ValueError(f"{place}: not VERSIONS NAME | REASON | REFERENCE")
        return Entry(words[0].split(","), words[1], parts[1])

    def find(self, version, name):
        for entry in self.entries:
            if entry.fits(version, name):
                entry.met = True
                return entry
        return None


class Results:
    def __init__(self, expected, verbose=False):
        self.expected = expected
        self.verbose = verbose
        self.skipped = {}  # (version, why): names
        self.counts = {"ok": 0, "FAIL": 0, "expected": 0, "SKIP": 0}

    def add(self, version, line):
        """Counts a line of a program that carries out cases."""
        found = LINE.match(line.strip())
        if not found:
            self._count("FAIL", f"{version}/output", f"not a verdict: {line.strip()}")
            return
        said, name, why = found.groups()
        entry = self.expected.find(version, name)
        full = f"{version}/{name}"
        if said == "skip":
            self.counts["SKIP"] += 1
            self.skipped.setdefault((version, why or "no reason given"), []).append(name)
        elif said == "ok" and entry and not entry.reason.startswith("now and then"):
            self._count("FAIL", full, f"passes, and is expected to fail: {entry.reason}")
        elif said == "ok":
            self._count("ok", full, "")
        elif entry:
            self._count("expected", full, f"{why} ({entry.reason})")
        else:
            self._count("FAIL", full, why or "no reason given")

    def _count(self, verdict, name, why):
        self.counts[verdict] += 1
        if verdict != "ok" or self.verbose:
            print(f"{verdict} {name}{': ' if why else ''}{why}", flush=True)

    def finish(self, whole, seconds):
        """Prints the summary; returns the exit status. whole: every case was to be carried out."""
        if whole:
            for entry in self.expected.entries:
                if not entry.met:
                    self._count("FAIL", f"expected/{entry.name}", "no case is called so")
        for (version, why), names in self.skipped.items():
            others = f" and {len(names) - 1} others" if len(names) > 1 else ""
            print(f"SKIP {version}/{names[0]}{others}: {why}")
        counts = self.counts
        print(f"{seconds:.0f} s\n{counts['ok']} passed, {counts['FAIL']} failed, "
              f"{counts['expected']} failed as expected, {counts['SKIP']} skipped", flush=True)
        return 1 if counts["FAIL"] or counts["ok"] == 0 else 0
