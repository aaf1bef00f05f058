"""What the console shows, and how: the truth, on every page, for everybody, on every screen."""

import time

from axe import violations
from browsing import PAGES, PHONE
from console_case import case, check
from steps.nlm import expect, new_lives
from symlab.service import EXPORT
from symlab.wait import SLOWER

SEEN_MS = 1000.0 * SLOWER
MARKUP = "<img src=x onerror=document.title='owned'><b>bold"


@case()
def matrix_is_the_cluster(site):
    """Every VNFS is shown on the head that `symnas` names, and another head at once after a move
    that somebody else has ordered."""
    service = site.service
    with site.tab() as console:
        for row in site.bench.symnas.json("vnfs", "ls")["vnfs"]:
            console.wait_on(row["name"], row["owner"])
            for head in site.heads:
                console.shown(f"cell-{row['name']}-{head}")
        for head in site.heads:
            console.shown(f"head-{head}")
        service.rehost(site.heads[2])
        since = time.monotonic()
        console.wait_on(service.name, site.heads[2], SEEN_MS)
        print(f"     shown {1000 * (time.monotonic() - since):.0f} ms after `symnas vnfs rehost` "
              "had ended")
        console.check_quiet()
        service.rehost(service.home)
        console.wait_on(service.name, service.home)
        site.shoot(console, "matrix")


@case()
def pages_are_accessible(site):
    """axe-core finds nothing on any page, light and dark; a picture of each is kept."""
    found = []
    for scheme in ("light", "dark"):
        with site.tab(color_scheme=scheme) as console:
            for name in PAGES:
                console.go(name)
                console.page.wait_for_load_state("networkidle")
                site.shoot(console, name if scheme == "light" else f"{name}-dark")
                found += [f"{name}, {scheme}: {one}" for one in violations(console.page)]
            console.check_quiet()
    check(not found, f"{len(found)} findings: " + "; ".join(found[:8]))


@case()
def dark_is_dark(site):
    """The page follows what the browser prefers."""
    shades = {}
    for scheme in ("light", "dark"):
        with site.tab(color_scheme=scheme) as console:
            red, green, blue = console.page.evaluate("""() => {
                for (let at = document.querySelector('[data-testid=matrix]'); at;
                     at = at.parentElement) {
                  const color = getComputedStyle(at).backgroundColor.match(/[\\d.]+/g).map(Number);
                  if (color.length < 4 || color[3] > 0) return color.slice(0, 3);
                }
                return [255, 255, 255];
            }""")
            shades[scheme] = (red + green + blue) / 3
    check(shades["light"] > 200 and shades["dark"] < 80, f"the background's shades: {shades}")


@case()
def fits_a_phone(site):
    """At 390 pixels no page is wider than the screen, and a VNFS can be moved without dragging."""
    service = site.service
    wide = []
    with site.tab(viewport=PHONE, has_touch=True, is_mobile=True) as console:
        for name in PAGES:
            console.go(name)
            width = console.page.evaluate("document.documentElement.scrollWidth")
            if width > PHONE["width"]:
                wide.append(f"{name}: {width}")
            site.shoot(console, f"{name}-phone")
        check(not wide, f"wider than {PHONE['width']} pixels: {wide}")
        console.go("matrix")
        console.choose(service.name, site.heads[0])
        console.consent()
        console.wait_on(service.name, site.heads[0])
    service.head = site.heads[0]


@case()
def markup_in_a_name_is_text(site):
    """A file whose name is markup is shown as that name, and nothing of it is carried out."""
    [life] = new_lives(1)
    expect("granted", site.bench, MARKUP, "lock", "--state", life)
    try:
        with site.tab(wait="locks") as console:
            page = console.find("page-locks")
            console.filter_locks(EXPORT, f"/{MARKUP}")
            console.says("page-locks", f"{EXPORT}:/{MARKUP}")
            check(page.locator("img").count() == 0 and page.locator("b").count() == 0,
                  "the name's elements are in the page")
            check(console.page.title() != "owned", "the name's program was carried out")
    finally:
        site.bench.symnas("lock", "clear", "--client", "peer", "--yes")
