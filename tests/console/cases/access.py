"""Who may do what: Cockpit's log-in through PAM, administrative access through sudo."""

import contextlib

from browsing import DESK, SHOWN_MS, Console
from console_case import ADMINISTRATOR, LOOKER, case, check
from symlab.console import Consoles

HEAD = 3  # index of the head whose Cockpit asks for a password
WRONG = "not the password"


@contextlib.contextmanager
def logged_in(site, user, password=None, administrative=False):
    """A tab in which the user has logged in to Cockpit; yields (page, Console)."""
    head = site.heads[HEAD]
    consoles = Consoles(site.bench.lab, site.plug_in, (ADMINISTRATOR, LOOKER))
    address = consoles.start(head)
    context = site.browser.new_context(viewport=DESK)
    try:
        page = context.new_page()
        page.set_default_timeout(SHOWN_MS)
        page.goto(f"{address}/symnas")
        page.fill("#login-user-input", user.name)
        page.fill("#login-password-input", password or user.password)
        page.click("#login-button")
        with site.shot_of_failure(page):
            if administrative:
                become_administrator(page, user)
            yield page
    finally:
        context.close()
        consoles.stop(head)


def become_administrator(page, user):
    """Cockpit's own way: the button in its bar, which asks sudo."""
    ask_for_administration(page, user, page.get_by_text("Administrative access", exact=True))


def ask_for_administration(page, user, answer):
    """Waits for what answers; sudo may want the password once more before that."""
    page.get_by_text("Limited access", exact=True).click()
    password = page.locator("input[type=password]:visible")
    answer.or_(password).first.wait_for()
    if password.count():
        password.fill(user.password)
        page.get_by_role("button", name="Authenticate").click()
    answer.first.wait_for()


def console_of(page):
    """The console inside Cockpit's page."""
    page.wait_for_selector("iframe[name='cockpit1:localhost/symnas']")
    return Console(page, page.frame_locator("iframe[name='cockpit1:localhost/symnas']"))


@case()
def wrong_password_is_refused(site):
    """PAM refuses: Cockpit's page says so, and no page of the console is shown."""
    with logged_in(site, ADMINISTRATOR, WRONG) as page:
        page.locator("#login-error-message").filter(has_text="Wrong").wait_for()
        check(page.locator("iframe").count() == 0, "there is a page all the same")


@case()
def administrator_logs_in_and_moves(site):
    """A user of the group sudo logs in by PAM, turns administrative access on, and moves a VNFS."""
    service = site.service
    with logged_in(site, ADMINISTRATOR, administrative=True) as page:
        console = console_of(page)
        console.go("matrix")
        console.wait_on(service.name, service.home)
        site.shoot(console, "in-cockpit")
        console.choose(service.name, site.heads[0])
        console.consent()
        console.wait_on(service.name, site.heads[0])
        service.head = site.heads[0]
        service.wait_serving()


@case()
def without_administrative_access_nothing_changes(site):
    """A user who may not become root logs in: the console says what is missing, shows nothing of
    the cluster, and offers no change; turned on on the same page, it works without a new log-in."""
    before = site.bench.symnas.json("vnfs", "ls")
    with logged_in(site, LOOKER) as page:
        console = console_of(page)
        console.says("banner", "administrative access")
        site.shoot(console, "no-access")
        check(console.find(f"vnfs-{site.service.name}").count() == 0, "the cluster is shown")
        ask_for_administration(page, LOOKER, page.get_by_text("not in the sudoers file"))
    with logged_in(site, ADMINISTRATOR) as page:
        console = console_of(page)
        console.says("banner", "administrative access")
        become_administrator(page, ADMINISTRATOR)
        console = console_of(page)
        console.go("matrix")
        console.wait_on(site.service.name, site.service.home)
    check(site.bench.symnas.json("vnfs", "ls")["vnfs"][0]["heads"] == before["vnfs"][0]["heads"],
          "something has changed")
