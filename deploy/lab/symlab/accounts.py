"""Accounts that only a process of the lab sees: copies of the machine's, with some added, which are
bound over them in its mount namespace. So PAM and sudo know users that the machine does not have.
"""

import dataclasses
import os
import subprocess

from .errors import LabError

FIRST_ID = 5001
SUDO_GROUP = "sudo"  # Debian's: its members may become root with their password


@dataclasses.dataclass(frozen=True)
class User:
    name: str
    password: str
    administrator: bool  # may become root by sudo


def write(where, users):
    """Writes passwd, shadow, group and a home for each of `users` below `where`; returns the bind
    mounts [(source, target)] that show them. The homes are to be bound on /home."""
    numbered = list(enumerate(users, FIRST_ID))
    lines = {
        "passwd": [f"{user.name}:x:{uid}:{uid}::/home/{user.name}:/bin/bash"
                   for uid, user in numbered],
        "shadow": [f"{user.name}:{hashed(user.password)}:19000:0:99999:7:::" for user in users],
        "group": [f"{user.name}:x:{uid}:" for uid, user in numbered],
    }
    for uid, user in numbered:
        home = os.path.join(where, "home", user.name)
        os.makedirs(home, mode=0o700)
        os.chown(home, uid, uid)
    administrators = [user.name for user in users if user.administrator]
    return [_extended(where, f"/etc/{name}", added, administrators)
            for name, added in lines.items()]


def _extended(where, target, added, administrators):
    """A copy of the file with its owner and mode; returns (copy, target)."""
    with open(target, encoding="utf-8") as file:
        lines = [with_members(line, administrators) for line in file.read().splitlines()]
    path = os.path.join(where, os.path.basename(target))
    there = os.stat(target)
    with open(path, "w", encoding="utf-8", opener=_private) as file:
        os.fchown(file.fileno(), there.st_uid, there.st_gid)
        os.fchmod(file.fileno(), there.st_mode & 0o777)
        file.write("\n".join(lines + added) + "\n")
    return path, target


def with_members(line, members):
    """A line of /etc/group; that of sudo gets them. Pure."""
    if not line.startswith(f"{SUDO_GROUP}:x:"):
        return line
    before = [name for name in line.rsplit(":", 1)[1].split(",") if name]
    return line.rsplit(":", 1)[0] + ":" + ",".join(before + members)


def _private(path, flags):
    return os.open(path, flags, 0o600)


def hashed(password):
    """As /etc/shadow has it."""
    done = subprocess.run(["openssl", "passwd", "-6", "-stdin"], input=password, text=True,
                          capture_output=True)
    if done.returncode != 0:
        raise LabError(f"openssl passwd: {done.stderr.strip()}")
    return done.stdout.strip()
