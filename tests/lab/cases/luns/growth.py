"""A volume grows while it is served."""

import labs
from lab_case import check, lab_test
from steps.cluster import victim
from steps.load import WRITERS


@lab_test("architecture/cvm.md", lab=labs.OWN_FILESYSTEMS)
def volume_grows_from_another_head(bench):
    """A head grows the volume that another one serves, under load."""
    service = victim(bench)
    before = bench.symnas.json("fs", "check", service.filesystem)["bytes_total"]
    with bench.load(*WRITERS, service=service) as load:
        path = bench.lab.add_lun("more", "128M")
        bench.symnas("lun", "import", f"MORE={path}")
        bench.symnas("volume", "grow", f"v{service.number}", "--luns", "MORE")
        bench.let_run(2.0)
    check(load.seen["reconnects"] == 0, f"the growth was noticed: {load.seen}")
    after = bench.symnas.json("fs", "check", service.filesystem)["bytes_total"]
    check(after > before + (100 << 20), f"{before} bytes before, {after} after it")
