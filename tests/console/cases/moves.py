"""VNFSs are moved in the matrix, under clients that check every byte."""

import shlex

from console_case import case, check
from steps.deadlines import BETWEEN_S, MOVED_MS, TAKEN_OVER_S
from steps.load import MEASURED, check_gaps, coherent_clients
from symlab.wait import SLOWER

SEEN_MS = 1000.0 * SLOWER


def moved(site, console, head):
    """The VNFS that cases move is on that head: in the page, and in truth."""
    service = site.service
    console.wait_on(service.name, head)
    service.head = head
    service.wait_serving()
    check(site.owner(service.name) == head, f"`symnas` says {site.owner(service.name)}")


@case()
def dragged_under_load(site):
    """A VNFS is dragged to another head and back under verified load: no error, no old data; the
    dialog has said what that does, and which command it is."""
    service = site.service
    with coherent_clients(site.bench, "--stable", "1"), \
            site.bench.load(*MEASURED, "read,write,create", service=service) as load, \
            site.tab() as console:
        for head in (site.heads[2], service.home):
            site.bench.let_run(BETWEEN_S)
            console.drag(service.name, head)
            console.enabled("confirm")
            site.shoot(console, "move")
            told, command = console.consent()
            words = shlex.split(command.strip().removeprefix("$"))
            check(words == ["symnas", "vnfs", "rehost", service.name, head],
                  f"the command: {command!r}")
            check(service.name in told and head in told, f"the dialog says {told!r}")
            moved(site, console, head)
            if head != service.home:
                console.says("change-done", "no answer for")
                site.shoot(console, "moved")
        site.bench.let_run(BETWEEN_S)
        console.check_quiet()
    check_gaps(load.seen, ("read", "write", "create"), MOVED_MS)


@case()
def cancelled_drag_changes_nothing(site):
    """Cancelled in the dialog, or let go beside the matrix: no order is written."""
    service = site.service
    before = site.bench.symnas.json("vnfs", "history", service.name)
    with site.tab() as console:
        console.drag(service.name, site.heads[3])
        console.shown("cancel").click()
        console.gone("dialog-impact")
        console.grab(service.name, site.heads[3])
        console.page.mouse.move(5, 5, steps=4)
        console.page.mouse.up()
        console.gone("dialog-impact", 1000.0)
        console.wait_on(service.name, service.home)
    check(site.bench.symnas.json("vnfs", "history", service.name) == before, "it was moved")


@case()
def moved_by_keyboard(site):
    """The same without a mouse, as with a screen reader: keys only."""
    service = site.service
    with site.tab() as console:
        for head in (site.heads[3], service.home):
            console.choose(service.name, head, by_key=True)
            console.shown("dialog-impact")
            console.enabled("confirm")
            console.press_on("confirm")
            console.gone("dialog-impact")
            moved(site, console, head)
        console.check_quiet()


@case()
def undone(site):
    """Undo brings the VNFS back, after a question of its own."""
    service = site.service
    with site.tab() as console:
        console.drag(service.name, site.heads[0])
        console.consent()
        moved(site, console, site.heads[0])
        console.shown("undo").click()
        if console.find("dialog-impact").count():
            console.consent()
        moved(site, console, service.home)


@case()
def two_browsers_agree(site):
    """What one does on its head is seen within a second by another one on another head."""
    service = site.service
    with site.tab(site.heads[0]) as one, site.tab(site.heads[1]) as other:
        for head in (site.heads[2], service.home):
            one.drag(service.name, head)
            one.consent()
            one.wait_on(service.name, head)
            other.wait_on(service.name, head, SEEN_MS)
        service.wait_serving()


@case()
def head_lost_while_dragging(site):
    """A head loses its power while a VNFS is held over it: the page says so, the VNFS stays."""
    service = site.service
    lost = site.heads[3]
    with site.losing_heads() as lose, site.tab() as console:
        console.grab(service.name, lost)
        lose(lost)
        console.says(f"head-{lost}", "fence", TAKEN_OVER_S * 1000 * SLOWER)
        console.page.mouse.up()
        site.shoot(console, "head-lost")
        if console.find("confirm").count():
            check(console.find("confirm").first.is_disabled(), "the move could be ordered")
            console.shown("cancel").click()
        console.wait_on(service.name, service.home)
        service.wait_serving()
