"""What a case of the console is made of: the decorator, and the site that it works on.

A case is a function in cases/ with @case; its name is the function's, its summary the first line of
its text. All of them share a lab of four heads with a Cockpit each, as long as they leave it
healthy, and one browser; a failure discards the lab.
"""

import contextlib
import os

import labs
from browsing import DESK, PLUG_IN_PATH, SHOWN_MS, Console
from lab_case import Bench, check
from steps.cluster import fence_state
from steps.deadlines import TAKEN_OVER_S
from steps.faults import automatic_fencing
from symlab.accounts import User
from symlab.console import Consoles
from symlab.errors import LabError
from symlab.faults import Faults
from symlab.wait import eventually

FOUR_HEADS = labs.LabKind("four heads and their consoles", "file", labs.HEADS, shared=True,
                          backups=True)
PAINTED_MS = 400.0  # colours change slowly
# They are in the mount namespaces of the lab's Cockpits only.
ADMINISTRATOR = User("anna", "correct horse 1", administrator=True)
LOOKER = User("viktor", "correct horse 2", administrator=False)

_cases = []


class Case:
    def __init__(self, function, needs_lab):
        self.function = function
        self.name = function.__name__
        self.summary = (function.__doc__ or "").strip().splitlines()[0]
        self.place = function.__module__.rsplit(".", 1)[-1]
        self.needs_lab = needs_lab


def case(needs_lab=True):
    def mark(function):
        _cases.append(Case(function, needs_lab))
        return function
    return mark


def all_cases():
    return list(_cases)


class Site:
    """The lab, the Cockpits of its heads, and the browser."""

    def __init__(self, prefix, plug_in, browser, shots):
        self.bench = Bench(prefix)
        self.plug_in = plug_in
        self.browser = browser
        self.shots = shots
        self.failures = 0

    @property
    def heads(self):
        return [head["name"] for head in self.bench.lab.state.data["heads"]]

    @property
    def service(self):
        """The VNFS that cases move."""
        return self.bench.services[1]

    def prepare(self, needs_lab):
        """Has the lab up and serving, each VNFS at home, and a Cockpit for each head."""
        if not needs_lab:
            return
        for service in self.bench.services:  # a case may have left them elsewhere
            service.head = self.owner(service.name)
        self.bench.prepare(FOUR_HEADS)
        for service in self.bench.services:
            if service.head != service.home:
                service.rehost(service.home)
                service.wait_serving()

    def discard(self):
        self.bench.discard()

    @contextlib.contextmanager
    def cockpit(self, head, **options):
        """A Cockpit of that head, in which whoever comes is root; yields its address. Without a
        browser such a session lasts 15 s only, so each tab has its own. options: of start()."""
        consoles = Consoles(self.bench.lab, self.plug_in)
        try:
            yield consoles.start(head, **options)
        finally:
            consoles.stop(head)

    @contextlib.contextmanager
    def tab(self, head=None, wait="matrix", **options):
        """A tab of its own browser session with the console of a head; yields a Console. wait: the
        page that is opened. options: of playwright's new_context()."""
        with self.cockpit(head or self.heads[0]) as address, \
                self.tab_at(address, wait, **options) as console:
            yield console

    @contextlib.contextmanager
    def tab_at(self, address, wait="matrix", **options):
        """The same with a Cockpit that runs already."""
        context = self.browser.new_context(**{"viewport": DESK, **options})
        try:
            page = context.new_page()
            page.set_default_timeout(SHOWN_MS)
            console = Console(page)
            page.goto(address + PLUG_IN_PATH)
            with self.shot_of_failure(page):
                if wait:
                    console.go(wait)
                yield console
        finally:
            context.close()

    @contextlib.contextmanager
    def shot_of_failure(self, page):
        """Keeps a picture of what the tab shows when the body fails."""
        try:
            yield
        except BaseException:
            self.failures += 1
            with contextlib.suppress(Exception):  # the tab may be what failed
                page.screenshot(path=os.path.join(self.shots, f"failed-{self.failures}.png"))
            raise

    def shoot(self, console, name):
        """Keeps a picture of what the tab shows."""
        console.page.wait_for_timeout(PAINTED_MS)
        console.page.screenshot(path=os.path.join(self.shots, f"{name}.png"))

    @contextlib.contextmanager
    def losing_heads(self):
        """Heads are fenced when they are lost; yields a function that takes a head's power. They
        are back and members in the end."""
        lost = []

        def lose(head):
            lost.append(head)
            Faults(self.bench.lab).kill(head)
        self.bench.lab.set_fence_kind("power")
        with automatic_fencing(self.bench, "power"):
            try:
                yield lose
            finally:
                for head in lost:
                    eventually(TAKEN_OVER_S, f"{head} is fenced",
                               lambda head=head: fence_state(self.bench, head) == "done")
                    self.bench.lab.unfence(head)
                    eventually(TAKEN_OVER_S, f"{head} is back",
                               lambda head=head: fence_state(self.bench, head) is None)
                # Before vnfsds are started again with another configuration: heads that fence by
                # themselves must not meet one that has only begun.
                self.bench.lab.wait_members()
        self.bench.lab.wait_members()

    # --- what the cluster says, by `symnas` on the first head

    def owner(self, vnfs):
        for row in self.bench.symnas.json("vnfs", "ls")["vnfs"]:
            if row["name"] == vnfs:
                return row["owner"]
        raise LabError(f"`symnas vnfs ls` shows no {vnfs}")


__all__ = ["ADMINISTRATOR", "LOOKER", "Case", "Site", "all_cases", "case", "check"]
