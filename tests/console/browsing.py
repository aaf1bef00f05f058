"""A browser in front of the Cockpits of a lab.

`Console` is one page of the console as a person has it: found by the names that the application
gives to what it shows (data-testid), worked with mouse and keyboard.
Thread class: confined to one thread, as playwright is.
"""

import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.environ.get("SYMNAS_CACHE", "/var/cache/symnas"), "playwright"))

import playwright.sync_api as playwright
from lab_case import check
from symlab.wait import SLOWER

CHROMIUM = "/usr/bin/chromium"
PLUG_IN_PATH = "/cockpit/@localhost/symnas/index.html"
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
PAGES = ("overview", "matrix", "storage", "filesystems", "exports", "locks", "events", "history",
         "drills", "load")
SHOWN_MS = 20_000.0 * SLOWER
TABS_MAX = 60
ARROWS_MAX = 100


@contextlib.contextmanager
def browser():
    """A chromium without a window."""
    with playwright.sync_playwright() as started:
        # No sandbox: the tests are root. What it shows is ours.
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield chromium
        finally:
            chromium.close()


class Console:
    """The console in a tab. root: the frame or page that holds it."""

    def __init__(self, page, root=None):
        self.page = page
        self.root = root or page
        self.complaints = []  # what the page has written to the browser's console as an error
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._heard)

    def _heard(self, message):
        if message.type == "error":
            self.complaints.append(message.text)

    def find(self, name):
        return self.root.get_by_test_id(name)

    def shown(self, name, within_ms=SHOWN_MS):
        """Waits until it is shown; returns it."""
        found = self.find(name).first
        self.expect(name, "visible", within_ms)
        return found

    def gone(self, name, within_ms=SHOWN_MS):
        self.expect(name, "hidden", within_ms)

    def expect(self, name, state, within_ms=SHOWN_MS):
        try:
            self.find(name).first.wait_for(state=state, timeout=within_ms)
        except playwright.TimeoutError as late:
            raise AssertionError(f"{name} is not {state} after {within_ms:.0f} ms; the page says:\n"
                                 + self.text()) from late

    def text(self, name=None):
        where = self.find(name).first if name else self.root.locator("body")
        return where.inner_text()

    def says(self, name, words, within_ms=SHOWN_MS):
        """Waits until what has that name shows the words."""
        try:
            playwright.expect(self.find(name).first).to_contain_text(words, timeout=within_ms)
        except AssertionError as late:
            raise AssertionError(f"{name} does not say {words!r} after {within_ms:.0f} ms:\n"
                                 + self.text()) from late

    def go(self, name):
        """Opens one of PAGES, by its entry in the navigation."""
        entry = self.shown(f"nav-{name}")
        entry.click()
        return self.shown(f"page-{name}")

    # --- the matrix of VNFSs and heads

    def cell(self, vnfs, head):
        return self.find(f"cell-{vnfs}-{head}").first

    def where(self, vnfs):
        """The head in whose cell the VNFS is shown; None: in none."""
        owners = self.root.locator(f"[data-vnfs='{vnfs}'][data-owner='true']")
        return owners.first.get_attribute("data-head") if owners.count() == 1 else None

    def wait_on(self, vnfs, head, within_ms=SHOWN_MS):
        """Waits until the VNFS is shown on that head."""
        try:
            playwright.expect(self.cell(vnfs, head)).to_have_attribute(
                "data-owner", "true", timeout=within_ms)
        except AssertionError as late:
            raise AssertionError(f"{vnfs} is shown on {self.where(vnfs)}, not on {head}, after "
                                 f"{within_ms:.0f} ms") from late

    def grab(self, vnfs, head):
        """Takes a VNFS with the mouse, from where it is shown, and holds it over that head."""
        self.root.locator(f"[data-vnfs='{vnfs}'][data-owner='true']").wait_for()
        start = self.cell(vnfs, self.where(vnfs)).bounding_box()
        goal = self.shown(f"cell-{vnfs}-{head}").bounding_box()
        # Not on the letter in the cell, which stands for its place among the heads.
        x, y = start["x"] + start["width"] - 6, start["y"] + start["height"] / 2
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + 4, y + 2, steps=3)
        mouse.move(*middle(goal), steps=8)

    def drag(self, vnfs, head):
        self.grab(vnfs, head)
        self.page.mouse.up()

    def choose(self, vnfs, head, by_key=False):
        """Opens the menu of a cell and chooses that the VNFS moves there."""
        if by_key:
            self.walk_to(vnfs, head)
            self.page.keyboard.press("Enter")
            self.press_on("action-rehost")
        else:
            self.shown(f"cell-{vnfs}-{head}").click()
            self.shown("action-rehost").click()

    def walk_to(self, vnfs, head):
        """Brings the focus to the cell with Tab and arrows."""
        keyboard = self.page.keyboard
        for _ in range(TABS_MAX):
            if self.focus("role") == "gridcell":
                break
            keyboard.press("Tab")
        for _ in range(ARROWS_MAX):
            at = self.focus("data-vnfs"), self.focus("data-head")
            if at == (vnfs, head):
                return
            keyboard.press("ArrowRight" if at[0] == vnfs and at[1] < head else
                           "ArrowLeft" if at[0] == vnfs else
                           "ArrowDown" if at[0] < vnfs else "ArrowUp")
        raise AssertionError(f"the focus is at {at}, not at {vnfs} on {head}")

    def focus(self, attribute):
        """An attribute of what has the focus; "" if it has none."""
        return self.page.evaluate(
            "name => document.activeElement?.getAttribute(name) ?? ''", attribute)

    def press_on(self, name):
        """Brings the focus to what has that name by keys only, and presses Enter."""
        self.shown(name)
        inside_menu = self.focus("role") == "menuitem"
        for _ in range(TABS_MAX):
            if self.focus("data-testid") == name or self.page.evaluate(
                    "name => !!document.activeElement?.closest(`[data-testid='${name}']`)", name):
                self.page.keyboard.press("Enter")
                return
            self.page.keyboard.press("ArrowDown" if inside_menu else "Tab")
        raise AssertionError(f"no key brings the focus to {name}; it is at "
                             f"{self.focus('data-testid')!r}")

    # --- what pages have in common

    def filter_locks(self, filesystem, path):
        """Has the page of locks show those of one file, by its path."""
        page = self.shown("page-locks")
        page.get_by_label("Filesystem").select_option(filesystem)
        self.shown("lock-path").fill(path)
        self.shown("lock-filter").click()

    def enabled(self, name):
        """Waits until it can be used; returns it."""
        found = self.shown(name)
        try:
            playwright.expect(found).to_be_enabled(timeout=SHOWN_MS)
        except AssertionError as late:
            raise AssertionError(f"{name} stays off; the page says:\n" + self.text()) from late
        return found

    def consent(self):
        """The dialog that says what a change does; waits for it, and says yes. Returns (what it
        says, the command that it shows)."""
        self.shown("dialog-impact")
        self.enabled("confirm")
        told = self.text("dialog-impact")
        command = self.shown("command").inner_text()
        self.enabled("confirm").click()
        self.gone("dialog-impact")
        return told, command

    def check_quiet(self):
        """Nothing was written to the browser's console as an error."""
        check(not self.complaints, f"the page complains: {self.complaints[:3]}")


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
