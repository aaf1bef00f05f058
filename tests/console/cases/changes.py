"""Changes beside moves: exports, locks."""

import shlex

from console_case import case, check
from steps.exports import exported
from steps.nlm import OTHER, expect, locks_of, new_lives
from symlab.service import EXPORT
from symlab.wait import eventually

FILE = "locked-by-a-client"
SERVED_S = 30.0


@case()
def lock_is_cleared(site):
    """A lock is shown with its owner, and taken away after a question; the next client gets it."""
    site.bench.symnas("lock", "clear", "--client", "peer", "--yes")
    [life] = new_lives(1)
    expect("granted", site.bench, FILE, "lock", "--state", life, "--length", "20")
    expect("denied", site.bench, FILE, "test", *OTHER)
    [lock] = locks_of(site.bench, "--fs", EXPORT, "--path", f"/{FILE}")
    with site.tab(wait="locks") as console:
        console.filter_locks(EXPORT, f"/{FILE}")
        console.says("page-locks", FILE)
        holders = console.shown(f"holders-{lock['ino']}")
        if holders.get_attribute("aria-expanded") == "false":
            holders.click()
        console.says("page-locks", "write 0-19")
        site.shoot(console, "lock")
        console.shown("clear-lock").click()
        told, command = console.consent()
        words = shlex.split(command.strip().removeprefix("$"))
        check(words[:3] == ["symnas", "lock", "clear"] and "1 owner" in told, f"{told}: {command}")
        console.says("change-done", "released")
        console.gone(f"holders-{lock['ino']}")
    check(locks_of(site.bench, "--path", f"/{FILE}", "--fs", EXPORT) == [], "it is still recorded")
    expect("granted", site.bench, FILE, "test", *OTHER)


@case()
def export_is_edited_and_rolled_back(site):
    """An export becomes read-only after a preview of what differs, and is rolled back: both as
    `symnas export ls` and a client see it."""
    with site.tab(wait="exports") as console, site.bench.shell(site.service) as client:
        client.expect("NFS3_OK", "create", "before")
        row = console.shown(f"row-export-{EXPORT}")
        row.get_by_test_id("edit-export").click()
        console.shown("export-access").select_option("ro")
        told = console.shown("preview").inner_text()
        check("rw" in told and "ro" in told, f"the preview: {told!r}")
        site.shoot(console, "export-preview")
        console.shown("next").click()
        _, command = console.consent()
        check(shlex.split(command.strip().removeprefix("$"))[:4]
              == ["symnas", "export", "set", EXPORT], command)
        eventually(SERVED_S, "it is read-only",
                   lambda: exported(site.bench, EXPORT)["access"] == "ro")
        client.expect("NFS3ERR_ROFS", "create", "refused")
        row.get_by_test_id("rollback").click()
        console.consent()
        eventually(SERVED_S, "it is as before",
                   lambda: exported(site.bench, EXPORT)["access"] == "rw")
        client.expect("NFS3_OK", "create", "after")
