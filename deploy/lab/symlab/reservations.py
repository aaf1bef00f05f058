"""Persistent reservations of a lab's LUNs: an imitation of symnas-fence and of the array behind it.

The server of the LUNs refuses a head (EBADE) on every LUN where others are registered and it is
not. A LUN is identified as `lab.<name>`. State is kept in the lab's directory, under a lock.
`break_with` decides what the next preemptions do: "fails", "hangs" (longer than any caller waits),
"lies" (leaves the last LUN as it is, and reports that all is done). A LUN named by `lose` answers
nobody any more.
"""

import contextlib
import fcntl
import json
import os
import stat
import sys
import time

from . import fuse_luns
from .errors import LabError
from .fencing import WAYS_TO_BREAK

TYPE = 6  # Exclusive Access - Registrants Only
DONE, NOT_DONE, USAGE, OWN_KEY_MISSING, SECOND_TIME, CONFLICT = range(6)
VERDICTS = {DONE: "done", NOT_DONE: "not_done", OWN_KEY_MISSING: "own_key_missing",
            SECOND_TIME: "second_time", CONFLICT: "conflict"}
PROGRAM = "symnas-fence"  # in the lab's directory, for vnfsd.toml
_HANG_S = 600.0
_MASK = (1 << 64) - 1


def key_of(incarnation):
    """The key of HEAD/BOOT-ID (docs/formats/reservation.md). Pure."""
    value = 0xcbf29ce484222325
    for byte in incarnation.encode():
        value = (value ^ byte) * 0x100000001b3 & _MASK
    for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53):
        value = (value ^ value >> 33) * factor & _MASK
    value ^= value >> 33
    return f"0x{0x53 << 56 | value & (1 << 56) - 1:016x}"


def install(directory, script, root, prefix):
    """Makes the program that vnfsd of this lab calls; returns its path."""
    path = os.path.join(directory, PROGRAM)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec {sys.executable} {script} {root} {prefix} \"$@\"\n")
    os.chmod(path, stat.S_IRWXU)
    return path


class Array:
    """The registrations of a lab's LUNs."""

    def __init__(self, lab):
        self.lab = lab
        self.path = os.path.join(lab.directory, "reservations.json")

    @contextlib.contextmanager
    def changing(self):
        """Yields {"luns": {LUN: {key: HEAD/BOOT-ID}}, "ever": {LUN: [key]}, "breaks": WAY}."""
        with open(self.path + ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = {"luns": {}, "ever": {}, "breaks": ""}
            with contextlib.suppress(FileNotFoundError), open(self.path, encoding="utf-8") as file:
                state = json.load(file)
            yield state
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(state, file)
            os.rename(self.path + ".new", self.path)

    def break_with(self, way):
        if way not in WAYS_TO_BREAK:
            raise LabError(f"a way to break {way!r}: {WAYS_TO_BREAK} are possible")
        with self.changing() as state:
            state["breaks"] = way

    def lose(self, name):
        with self.changing() as state:
            state.setdefault("lost", []).append(name)

    def breaks(self):
        with self.changing() as state:
            return state["breaks"]

    def show(self, name, keys):
        """The LUN's server refuses heads that are not registered, once some head is."""
        registered = {who.split("/")[0] for who in keys.values()}
        for head in self.lab.state.data["heads"]:
            word = "fence" if keys and head["name"] not in registered else "unfence"
            fuse_luns.command(self.lab.state, word, name, head["name"])

    def preempt_by_hand(self, incarnation):
        """As `sg_persist --preempt-abort` by a person who tells nobody."""
        with self.changing() as state:
            for name, keys in state["luns"].items():
                if keys.pop(key_of(incarnation), None):
                    self.show(name, keys)


class Call:
    """One call of the program."""

    def __init__(self, array, arguments):
        self.array = array
        self.options, self.devices = {}, []
        words = iter(arguments)
        self.command = None
        for word in words:
            if word.startswith("-"):
                self.options[word] = next(words)
            elif self.command is None:
                self.command = word
            else:
                self.devices.append(word.split("=")[0])  # its identification is always that
        self.own = self.options.get("--own", "")
        self.victim = self.options.get("--victim", "")

    def name_of(self, device):
        """The LUN's name. None: no LUN of this lab is served there."""
        served = os.path.dirname(device) == fuse_luns.shared_dir(self.array.lab.directory)
        return os.path.basename(device) if served else None

    def run(self):
        """Prints the answer; returns the exit status."""
        how = {"keys": self.look, "register": self.register, "preempt": self.preempt}
        way = self.array.breaks() if self.command == "preempt" else ""
        if way == "hangs":
            time.sleep(_HANG_S)
        if way == "fails":
            return self.say(NOT_DONE, [{"device": d, "error": f"{d}: no answer within 5000 ms"}
                                       for d in self.devices])
        if way == "lies":
            self.devices.pop()
        if self.command not in how or "--state" not in self.options and self.command == "register":
            return USAGE
        with self.array.changing() as state:
            dead = [d for d in self.devices if self.name_of(d) in state.get("lost", [])]
            if dead and self.command != "keys":
                status, luns = NOT_DONE, [{"device": d, "error": f"{dead[0]}: no answer"}
                                          for d in self.devices]
            else:
                status, luns = how[self.command](state)
        return self.say(status, luns)

    def say(self, status, luns):
        answer = {"command": self.command, "verdict": VERDICTS[status]}
        answer.update({word: key_of(who) for word, who in (("own", self.own),
                                                           ("victim", self.victim)) if who})
        print(json.dumps({**answer, "luns": luns}))
        return status

    def lun(self, state, device, **more):
        name = self.name_of(device)
        if name in state.get("lost", []):
            return {"device": device, "error": f"{device}: no answer"}
        if name is None:
            return {"device": device, "error": f"{device}: is no block device"}
        keys = list(state["luns"].get(name, {}))
        held = {"holder": keys[0], "type": TYPE} if keys else {}
        return {"device": device, "lun": f"lab.{name}", "generation": 1, "keys": keys, **held,
                **more}

    def look(self, state):
        luns = [self.lun(state, device, survives_power_loss=True, knows_type=True)
                for device in self.devices]
        return (NOT_DONE if any("error" in lun for lun in luns) else DONE), luns

    def register(self, state):
        key = key_of(self.own)
        names = [self.name_of(device) for device in self.devices]
        for device, name in zip(self.devices, names, strict=True):
            if key in state["ever"].get(name, []) and key not in state["luns"][name]:
                return SECOND_TIME, [{"device": d, "error": f"{device}: {key} was here before"}
                                     for d in self.devices]
        for name in names:
            keys = state["luns"].setdefault(name, {})
            head = self.own.split("/")[0]
            if key not in keys:  # on the same path, the key of an earlier boot is replaced
                for old in [old for old, who in keys.items() if who.split("/")[0] == head]:
                    del keys[old]
            keys[key] = self.own
            if key not in state["ever"].setdefault(name, []):
                state["ever"][name].append(key)
            self.array.show(name, keys)
        return DONE, [self.lun(state, device, did="registered") for device in self.devices]

    def preempt(self, state):
        names = [self.name_of(device) for device in self.devices]
        missing = [d for d, name in zip(self.devices, names, strict=True)
                   if key_of(self.own) not in state["luns"].get(name, {})]
        if missing:
            return OWN_KEY_MISSING, [{"device": d, "error": f"{missing[0]}: own key is missing"}
                                     for d in self.devices]
        for name in names:
            keys = state["luns"][name]
            if keys.pop(key_of(self.victim), None):
                self.array.show(name, keys)
        return DONE, [self.lun(state, device, did="preempted") for device in self.devices]
