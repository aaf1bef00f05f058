"""Instances whose wall clock can be set (tests/lab/clocks)."""

import contextlib
import mmap
import os
import shutil
import struct

from lab_case import Skip, check, eventually
from symlab import membership, product
from symlab.wait import SLOWER

LIBRARY = "symnas_step_clock.so"
RESTARTED_S = 30.0
SCRIPT = """#!/bin/sh
export SYMNAS_CLOCK={offset} LD_PRELOAD={library}
exec {ganesha}/bin/ganesha.nfsd "$@"
"""


class Clock:
    """The wall clock of the instances of one head, for ganesha and ntirpc."""

    def __init__(self, bench, head):
        if os.path.isdir(os.path.join(product.build_dir(), "ganesha")):
            raise Skip("a sanitizer build preloads other things")
        self.head = bench.lab.head(head)
        self.prefix = os.path.join(self.head["dir"], "clock")
        self.offset = os.path.join(self.prefix, "offset")
        ganesha = product.ganesha_prefix()
        self.library = os.path.join(product.build_dir(), "lib", LIBRARY)
        check(os.path.exists(self.library), f"{self.library} is missing: ninja tests_lab")
        os.makedirs(os.path.join(self.prefix, "bin"), exist_ok=True)
        if not os.path.islink(os.path.join(self.prefix, "lib")):
            os.symlink(os.path.join(ganesha, "lib"), os.path.join(self.prefix, "lib"))
        script = os.path.join(self.prefix, "bin", "ganesha.nfsd")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(offset=self.offset, library=self.library, ganesha=ganesha))
        os.chmod(script, 0o755)
        with open(self.offset, "wb") as file:
            file.write(bytes(8))

    def set(self, seconds):
        """What it is ahead of the machine's from now on."""
        with open(self.offset, "r+b") as file, mmap.mmap(file.fileno(), 8) as page:
            page[:] = struct.pack("=q", int(seconds * 1_000_000_000))


def restart(bench, head, service):
    """Starts vnfsd and the instance anew, so that they have another prefix of ganesha."""
    before = service.serving()
    bench.kill_process(f"vnfsd.{head}")
    bench.kill_recorded(before)
    bench.lab.start_vnfsd(head)
    eventually(RESTARTED_S * SLOWER, "it serves again",
               lambda: service.wait_serving(other_than=before["pid"]))


@contextlib.contextmanager
def clocks(bench, services):
    """Gives the instances of these heads clocks of their own; {head: Clock}. Takes them away."""
    made = {}
    ganesha = product.ganesha_prefix()
    try:
        for head, service in services.items():
            made[head] = Clock(bench, head)
            membership.set_in_config(made[head].head, {"prefix": f"'{made[head].prefix}'"})
            restart(bench, head, service)
        yield made
    finally:
        for head, clock in made.items():
            membership.set_in_config(clock.head, {"prefix": f"'{ganesha}'"})
            restart(bench, head, services[head])
            shutil.rmtree(clock.prefix)
