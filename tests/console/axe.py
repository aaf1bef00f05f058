"""axe-core, the library that looks for barriers in a page (deploy/setup/steps/playwright.sh)."""

import os

import axe_playwright_python

SCRIPT = os.path.join(os.path.dirname(axe_playwright_python.__file__), "axe.min.js")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


def violations(page):
    """What it finds in the page, a line each. The page's own rules for scripts do not hold for it:
    it is evaluated from outside."""
    with open(SCRIPT, encoding="utf-8") as file:
        page.evaluate(file.read())
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    return [f"{one['id']} ({one['impact']}): {one['nodes'][0]['target']} and "
            f"{len(one['nodes']) - 1} more" for one in found["violations"]]
