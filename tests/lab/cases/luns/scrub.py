"""`lun scrub`: what cannot be read is found, with the file that has it."""

import time

import labs
from lab_case import check, eventually, lab_test
from steps.striped_files import FILE_BYTES, prepared_file

DONE_S = 60.0
LABEL_BYTES = 1 << 20
# Another head goes on when the one that reads was away for 30 s; it looks every few seconds.
TAKEN_OVER_S = 90.0
# A head that cannot read a LUN leaves it to others for a minute.
BACK_S = 120.0


def scrubs(bench):
    symnas = bench.lab.running_symnas()
    return {one["lun"]: one for one in symnas.json("lun", "scrub", "--status")["scrubs"]}


def begin(bench, *args):
    bench.symnas("lun", "scrub", "--rate", "256M", *args)


def wait_done(bench, luns):
    def done():
        seen = scrubs(bench)
        return all(lun in seen and seen[lun]["state"] == "done" for lun in luns)
    eventually(DONE_S, f"scrubs of {luns} are done", done)
    return scrubs(bench)


@lab_test("operations/scrub.md", lab=labs.FAULTY_LUNS)
def scrub_finds_what_cannot_be_read(bench):
    """A scrub of sound LUNs finds nothing; one of a sick LUN names the file, and nothing breaks."""
    before = bench.service.serving()
    luns = [one["name"] for one in bench.symnas.json("lun", "ls")["luns"]]
    with bench.shell() as shell, bench.broken_luns() as fault:
        prepared_file(shell, "scrubbed")
        begin(bench)
        sound = wait_done(bench, luns)
        for lun, one in sound.items():
            check(one["bad_bytes"] == 0 and one["label"] == "", f"{lun}: {one}")
        check(sum(one["read_bytes"] for one in sound.values()) >= FILE_BYTES, f"{sound}")
        begin(bench, "LUN1", "--anew")
        fault("bad", "LUN1", LABEL_BYTES, 1 << 40)
        sick = wait_done(bench, ["LUN1"])["LUN1"]
        fault("heal", "LUN1")
        check(sick["bad_bytes"] > 0, f"{sick}")
        check(any(bad.get("path") == "/scrubbed" for bad in sick["bad"]), f"{sick['bad'][:3]}")
        told = bench.symnas("events")
        check("lun-unreadable" in told, told)
        shell.expect("NFS3_OK", "read", "scrubbed", 0, FILE_BYTES, "a")
        shell.expect("NFS3_OK", "remove", "scrubbed")
    check(bench.service.serving()["pid"] == before["pid"], "the instance was restarted")


@lab_test("operations/scrub.md", lab=labs.FAULTY_LUNS, soak=True)
def scrub_waits_for_a_lun_that_is_away(bench):
    """Where nothing of a LUN can be read, no block is bad; the scrub goes on afterwards."""
    with bench.broken_luns() as fault:
        bench.symnas("lun", "scrub", "LUN2", "--rate", "2M", "--all-blocks", "--anew")
        eventually(30.0, "it reads", lambda: scrubs(bench)["LUN2"]["read_bytes"] > 0)
        fault("eio", "LUN2", "read", "on")
        time.sleep(12.0)
        away = scrubs(bench)["LUN2"]
        check(away["state"] == "running" and away["bad_bytes"] == 0, f"{away}")
        fault("heal", "LUN2")
        eventually(BACK_S, "it goes on",
                   lambda: scrubs(bench)["LUN2"]["at_byte"] > away["at_byte"])
        check(scrubs(bench)["LUN2"]["bad_bytes"] == 0, f"{scrubs(bench)['LUN2']}")
    bench.symnas("lun", "scrub", "LUN2", "--stop")


@lab_test("operations/scrub.md", lab=labs.FAULTY_LUNS)
def scrub_stops_and_goes_on(bench):
    """A scrub is stopped, goes on where it was, and goes on after vnfsd was killed."""
    bench.symnas("lun", "scrub", "LUN0", "--rate", "2M", "--all-blocks", "--anew")
    bench.refused(4, "lun", "scrub", "LUN0")
    eventually(30.0, "it reads", lambda: scrubs(bench)["LUN0"]["read_bytes"] > 0)
    bench.symnas("lun", "scrub", "LUN0", "--stop")
    stopped = scrubs(bench)["LUN0"]
    time.sleep(6.0)
    check(scrubs(bench)["LUN0"]["at_byte"] == stopped["at_byte"], "it goes on though it is stopped")
    bench.refused(3, "lun", "scrub", "LUN0", "--stop")
    bench.symnas("lun", "scrub", "LUN0", "--rate", "2M", "--all-blocks")
    check(scrubs(bench)["LUN0"]["at_byte"] >= stopped["at_byte"], "it begins anew")
    bench.kill_process("vnfsd.c1n1")
    bench.lab.start_vnfsd("c1n1")
    bench.service.wait_serving()
    before = scrubs(bench)["LUN0"]["at_byte"]
    eventually(60.0, "it goes on", lambda: scrubs(bench)["LUN0"]["at_byte"] > before)
    bench.symnas("lun", "scrub", "LUN0", "--stop")


@lab_test("operations/scrub.md", lab=labs.BACKUPS)
def scrub_is_taken_over_from_a_head_without_vnfsd(bench):
    """Another head goes on where the silent one was; the one that comes back leaves it alone."""
    def now():
        return scrubs(bench)["LUN0"]
    bench.symnas("lun", "scrub", "LUN0", "--rate", "1M", "--all-blocks", "--anew")
    eventually(30.0, "it reads", lambda: now()["read_bytes"] > 0)
    first = now()["head"]
    bench.kill_process(f"vnfsd.{first}")
    try:
        silent = now()
        eventually(TAKEN_OVER_S, "another head goes on", lambda: now()["head"] != first)
        second = now()["head"]
        eventually(30.0, "it reads", lambda: now()["at_byte"] > silent["at_byte"])
    finally:
        bench.lab.start_vnfsd(first)
    bench.service.wait_serving()
    between = now()
    eventually(30.0, "it still reads", lambda: now()["at_byte"] > between["at_byte"])
    check(now()["head"] == second and now()["state"] == "running", f"{now()}")
    check(now()["bad_bytes"] == 0 and now()["label"] == "", f"{now()}")
    bench.symnas("lun", "scrub", "LUN0", "--stop")
