"""The product's programs as the lab uses them: their places, and calls of the CLI."""

import json
import os
import subprocess

from .errors import LabError

REPO = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
COMMAND_TIMEOUT_S = 60.0


def build_dir():
    return os.environ.get("SYMNAS_BUILD", os.path.join(REPO, "build"))


def cache_dir():
    return os.environ.get("SYMNAS_CACHE", "/var/cache/symnas")


def ganesha_prefix():
    """The place of the instances' ganesha: a sanitizer build (tests/lab/sanitizer) has its own."""
    own = os.path.join(build_dir(), "ganesha")
    return own if os.path.isdir(own) else os.path.join(cache_dir(), "ganesha")


def report_folder():
    """The folder into which the programs of a sanitizer build write their reports."""
    return os.path.join(build_dir(), "reports")


def program(name):
    """Path of one of our programs (build/bin) or of etcd's (cache). LabError: it is not there."""
    if name in ("etcd", "etcdctl"):
        path = os.path.join(cache_dir(), "etcd", "bin", name)
        hint = "deploy/setup/setup fills the cache"
    else:
        path = os.path.join(build_dir(), "bin", name)
        hint = "`make` builds it; SYMNAS_BUILD names another build directory"
    if not os.access(path, os.X_OK):
        raise LabError(f"{path} is missing: {hint}")
    return path


def plugin_dir():
    """Directory of libfsalcluster.so in the build."""
    name = "libfsalcluster.so"
    for directory in ("lib", "fsal_cluster/plugin", "lib/ganesha", "bin"):
        path = os.path.join(build_dir(), directory)
        if os.path.exists(os.path.join(path, name)):
            return path
    raise LabError(f"no {name} in {build_dir()}: `make` builds it")


class CommandFailed(LabError):
    """A CLI call that ended with a status other than 0."""

    def __init__(self, argv, status, output):
        self.status = status
        self.output = output
        super().__init__(f"`{' '.join(argv)}` ended with {status}: {output.strip()}")


def run(argv, timeout_s=COMMAND_TIMEOUT_S):
    """Runs a program and returns its standard output; CommandFailed carries both outputs."""
    try:
        result = subprocess.run(argv, capture_output=True, text=True, timeout=timeout_s,
                                stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise LabError(f"`{' '.join(argv)}` has not ended after {timeout_s:g} s") from error
    if result.returncode != 0:
        raise CommandFailed(argv, result.returncode, result.stdout + result.stderr)
    return result.stdout


class Symnas:
    """The CLI, talking to one head's agent."""

    def __init__(self, socket_path):
        self.socket_path = socket_path

    def __call__(self, *args, timeout_s=COMMAND_TIMEOUT_S):
        return run([program("symnas"), "--socket", self.socket_path, *map(str, args)], timeout_s)

    def json(self, *args):
        return json.loads(self(*args, "-o", "json"))
