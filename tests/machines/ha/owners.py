"""Who has the VIP, looked at in the machines themselves: never two."""

import contextlib
import threading

from cases import VIP, check, owner
from symlab.errors import LabError

LOOK_S = 0.5


class TwoOwners(Exception):
    """What must never be; no LabError, for which eventually() would wait."""


def has_vip(machine):
    """Instances are in network namespaces of their own. Of a machine that goes off: no."""
    try:
        return VIP in machine.run("for pid in $(pgrep -f bin/ganesha.nfsd); do "
                                  "nsenter -t $pid -n ip -o addr show; done", check=False)
    except LabError:
        return False


def holders(site):
    """Machines that have the VIP; TwoOwners if more than one at a time."""
    found = [one for one in site.machines.values() if one.is_on() and has_vip(one)]
    # While they were asked it may have moved on: who has it still?
    if len(found) > 1 and has_vip(found[0]):
        raise TwoOwners(f"the VIP is on {' and '.join(one.name for one in found)}")
    return [one.name for one in found]


@contextlib.contextmanager
def one_owner(site):
    """Looks all the time while the body runs; TwoOwners at its end if there ever were two."""
    stop, wrong = threading.Event(), []

    def look():
        while not stop.wait(LOOK_S):
            try:
                holders(site)
            except TwoOwners as error:
                wrong.append(error)
                return

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        stop.set()
        looking.join()
    if wrong:
        raise wrong[0]


def stays_owned(site, head, asked):
    """The records and the machines say that this head has vnfs1."""
    check(holders(site) == [head], f"{head} does not have it any more")
    now = owner(site, asked=asked)
    check(now == head, f"{now or 'nobody'} owns it")
