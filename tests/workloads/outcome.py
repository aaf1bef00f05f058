"""What a workload is and what it found: rows, plots, checks, and the verdict line of them."""

import json
import os

_workloads = []


class Workload:
    def __init__(self, name, site, function):
        self.name, self.site, self.function = name, site, function
        self.summary = (function.__doc__ or "").strip().splitlines()[0]


def workload(name, site):
    """Marks a function of (site, outcome, opts) as a workload. site: the class of its lab."""
    def mark(function):
        _workloads.append(Workload(name, site, function))
        return function
    return mark


def all_workloads():
    return list(_workloads)


class Outcome:
    """Collects what one run of a workload shows. JSON: docs in README.md."""

    def __init__(self, name):
        self.name = name
        self.rows, self.plots, self.figures, self.problems, self.limits = [], [], [], [], []

    def row(self, what, value, unit, *, aim=None, seed=None, at_most=False, **more):
        """A figure. aim: it fails if it does not reach it (at_most: if it exceeds it). seed: what
        HP published of the same shape."""
        met = None
        if aim is not None:
            met = value <= aim if at_most else value >= aim
            if not met:
                self.problems.append(f"{what} is {value:.3g} {unit}, aim {aim:g}")
        self.rows.append({"what": what, "value": value, "unit": unit, "aim": aim, "met": met,
                          "at_most": at_most, "seed": seed, **more})

    def figure(self, text):
        """What the verdict line says."""
        self.figures.append(text)

    def plot(self, kind, title, unit, kept=None, **more):
        """kept: the name of its copy in docs (`report --svg`); None: it has none."""
        self.plots.append({"kind": kind, "title": title, "unit": unit, "kept": kept, **more})

    def limit(self, text):
        """How the figures were come by, and what they do not show."""
        self.limits.append(text)

    def expect(self, good, text):
        if not good:
            self.problems.append(text)

    def clean(self, results, what):
        """Nothing failed and every block was as it was written."""
        errors = sum(thread["errors"] for thread in results.threads())
        corrupt = sum(thread["corrupt"] for thread in results.threads())
        self.expect(errors == 0, f"{what}: {errors} requests failed")
        self.expect(corrupt == 0, f"{what}: {corrupt} blocks are not what was written")

    def verdict(self):
        if self.problems:
            return f"FAILED {self.name}: {'; '.join(self.problems)}"
        return f"ok {self.name}: {', '.join(self.figures)}"

    def document(self, **more):
        return {"name": self.name, "passed": not self.problems, "verdict": self.verdict(),
                "rows": self.rows, "plots": self.plots, "limits": self.limits, **more}

    def write(self, folder, **more):
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{self.name}.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.document(**more), file, indent=1)
        os.replace(path + ".new", path)
