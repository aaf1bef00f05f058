"""Persistent reservations on a SAN of virtual machines (client/san_vm.py), LIO as array."""

import json
import shlex
import shutil

import labs
from lab_case import Skip, check, eventually, lab_test
from san_vm import san
from symlab import product

LUNS = {"one": {0: "sanlun00", 1: "sanlun01"}, "two": {0: "sanlun02"}}
STATE = "/run/symnas-reservation"
TOOL = "symnas-fence"
DONE, NOT_DONE, USAGE, OWN_KEY_MISSING, SECOND_TIME, CONFLICT = range(6)
GONE = 137  # of a shell whose command was ended by SIGKILL
# Writes block after block and says which, until one fails.
WRITER = """
at=0
while dd if=/dev/zero of={device} bs=4096 count=1 seek=$((at % 4096)) oflag=direct conv=notrunc \
    2>/tmp/error; do
  at=$((at + 1)); echo $at > /tmp/written
done
cat /tmp/error
"""


class Head:
    """A head of the SAN: its machine, its LUNs, its key."""

    def __init__(self, machine):
        self.machine = machine
        for name in LUNS:
            machine.log_in(name)
        self.devices = {serial: eventually(30.0, f"{serial} on {machine.name}",
                                           lambda serial=serial: machine.device(serial))
                        for luns in LUNS.values() for serial in luns.values()}
        self.incarnation = f"{machine.name}/{machine.boot_id()}"

    def fence(self, command, *options, status=DONE, luns=None, environment=""):
        """Runs the tool on LUNs (all of them); returns its answer, or None if there can be none."""
        devices = [self.devices[serial] for serial in luns or self.devices]
        words = shlex.join(["-o", "json", command, *options, *devices])
        result = self.machine.try_run(f"{environment} /san/bin/{TOOL} {words}")
        check(result.status == status, f"{self.machine.name}: `{TOOL} {words}` ended with "
                                       f"{result.status} instead of {status}: {result.output}")
        return json.loads(result.output) if status not in (USAGE, GONE) else None

    def register(self, **more):
        return self.fence("register", "--own", self.incarnation, "--state", STATE, **more)

    def preempt(self, victim, **more):
        return self.fence("preempt", "--own", self.incarnation,
                          "--victim", victim.incarnation, **more)

    def verify(self, victim=None, **more):
        absent = ["--absent", victim.incarnation] if victim else []
        return self.fence("verify", "--own", self.incarnation, *absent, **more)

    def read(self, serial):
        """Reads a block past the page cache; returns exit status and message."""
        return self.machine.try_run(
            f"dd if={self.devices[serial]} of=/dev/null bs=4096 count=1 iflag=direct")


def did(answer):
    return [lun.get("did") for lun in answer["luns"]]


def keys_of(answer):
    return [lun["keys"] for lun in answer["luns"]]


def heads_of(bench):
    if not shutil.which("qemu-system-x86_64"):
        raise Skip("this machine has no qemu-system-x86_64")
    return san(f"{bench.prefix[:6]}-pr", ["a", "b"], [product.program(TOOL)])


def two_heads(target, machines):
    for name, luns in LUNS.items():
        target.serve(name, luns, machines)
    return [Head(machine) for machine in machines]


def registers(one, two):
    for head in (one, two):
        check(did(head.register()) == ["registered"] * 3, "not registered everywhere")
        check(did(head.register()) == ["present"] * 3, "a repetition is no second registration")
    answer = one.verify()
    check(all(lun["type"] == 6 and len(lun["keys"]) == 2 for lun in answer["luns"]), str(answer))
    # The key of another boot, or of a machine that is not this one.
    other = "a/0b5c2b1e-0000-4000-8000-000000000000"
    one.fence("register", "--own", other, "--state", STATE, status=USAGE)


def fenced_in_the_middle_of_a_write(one, two):
    """B cuts A off while A writes: the write in flight or the next one fails, and all later."""
    one.machine.run("rm -f /tmp/written")
    job = one.machine.vm.start_job(WRITER.format(device=one.devices["sanlun00"]))
    eventually(30.0, "the first writes",
               lambda: one.machine.try_run("test -s /tmp/written").status == 0)
    check(job.poll() is None, "the writer ended before anybody fenced it")
    check(did(two.preempt(one)) == ["preempted"] * 3, "not preempted everywhere")
    check(job.wait(60.0) == 0, "the writer goes on")
    error = job.output.decode(errors="replace")
    check("Invalid exchange" in error, f"not a reservation conflict (EBADE): {error}")
    for serial in one.devices:
        check("Invalid exchange" in one.read(serial).output, f"a fenced head reads {serial}")
        check(two.read(serial).status == 0, f"the other head does not read {serial}")
    answer = two.verify(one)
    check(all(len(keys) == 1 for keys in keys_of(answer)), str(answer))
    # A repetition was not told that the aborted writes have ended: it resets.
    check(did(two.preempt(one)) == ["reset"] * 3, "the LUNs were not reset")
    for serial in two.devices:
        check(two.read(serial).status == 0, f"after its reset {serial} is not read")
    one.verify(status=OWN_KEY_MISSING)
    one.preempt(two, status=OWN_KEY_MISSING)  # who is fenced fences nobody
    two.verify(one)


def stays_out(one, two):
    """SCSI would let it in again; the tool does not, and the other head would see it."""
    one.register(status=SECOND_TIME)
    two.verify(one)
    one.machine.run(f"mv {STATE} {STATE}.aside")  # what the journal is for
    one.register()
    two.verify(one, status=CONFLICT)
    check(did(two.preempt(one)) == ["preempted"] * 3, "not preempted again")
    one.machine.run(f"rm -rf {STATE}; mv {STATE}.aside {STATE}")
    one.register(status=SECOND_TIME)


@lab_test("INV-1", "architecture/fencing.md", lab=labs.OWN_LAB)
def reservations_cut_a_head_off(bench):
    """PREEMPT AND ABORT on LIO under writes: EBADE at once, proof on every LUN, no way back."""
    with heads_of(bench) as (target, machines):
        one, two = two_heads(target, machines)
        two.fence("keys")
        check(one.read("sanlun00").status == 0, "an unreserved LUN is not readable")
        registers(one, two)
        fenced_in_the_middle_of_a_write(one, two)
        stays_out(one, two)
        # Alone, it holds every reservation: they would be gone with it, and the LUNs open.
        two.fence("unregister", "--own", two.incarnation, "--state", STATE, status=CONFLICT)
        check("Invalid exchange" in one.read("sanlun00").output, "the LUN is open")


@lab_test("INV-1", "architecture/fencing.md", lab=labs.OWN_LAB)
def reservations_interrupted_or_not_everywhere(bench):
    """Killed between two LUNs: resumed. A LUN out of reach: not proven, nobody cut off."""
    with heads_of(bench) as (target, machines):
        one, two = two_heads(target, machines)
        registers(one, two)
        # One LUN is done, then the command is killed before another one.
        two.preempt(one, luns=["sanlun00"])
        two.preempt(one, status=GONE,
                    environment=f"SYMNAS_CRASH_AT='preempt {two.devices['sanlun01']}'")
        two.verify(one, status=CONFLICT)
        check(one.read("sanlun01").status == 0, "the LUN where it was killed is done already")
        answer = two.preempt(one)
        check(did(answer)[0] == "reset" and did(answer)[1] == "preempted", str(answer))
        two.verify(one)
        one.register(status=SECOND_TIME)

        # The LUNs of the second target do not answer: nothing is proven, nobody is cut off.
        three = "0x5300000000000003"
        target.enable("two", False)
        answer = two.fence("preempt", "--own", two.incarnation, "--victim", three, status=NOT_DONE)
        check(["error" in lun for lun in answer["luns"]] == [False, False, True], str(answer))
        two.verify(one, status=NOT_DONE)


@lab_test("INV-1", "architecture/fencing.md", lab=labs.OWN_LAB)
def reservations_of_two_fencers_at_once(bench):
    """Each preempts the other in the same moment: never both proven, never none registered."""
    with heads_of(bench) as (target, machines):
        one, two = two_heads(target, machines)
        registers(one, two)
        commands = {}
        for own, other in ((one, two), (two, one)):
            devices = " ".join(own.devices.values())
            commands[own] = own.machine.vm.start_job(
                f"/san/bin/{TOOL} preempt --own {own.incarnation} "
                f"--victim {other.incarnation} {devices}")
        ended = {head: job.wait(60.0) for head, job in commands.items()}
        proven = [head for head, status in ended.items() if status == DONE]
        check(len(proven) <= 1, f"both are proven: {list(ended.values())}")
        # Each LUN has kept one of them: whoever still is on all of them may go on.
        left = [lun["keys"] for lun in two.fence("keys")["luns"]]
        check(all(len(keys) == 1 for keys in left), f"not one key on every LUN: {left}")
        if proven:
            check(len({keys[0] for keys in left}) == 1, f"proven, but: {left}")
