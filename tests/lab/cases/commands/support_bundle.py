"""`symnas support-bundle`: it holds what helps, and no secret, whoever answers."""

import base64
import os
import stat
import tarfile

from lab_case import check, lab_test
from steps.exit_status import EXISTS
from symlab import membership, processes
from symlab.etcd_keys import EtcdKeys

TOP = "symnas-support/"
PASSWORD = "Tr0ub4dor.and.3"  # of a management controller, in [fence] options
CLUSTER_KEY = b"c/cluster"
WITHOUT_ETCD_S = 240.0  # vnfsd is waited for 60 s, each program 10 s
PROBE_KEY_TAG = b"\x32\x20"  # field 6 of ClusterRecord, 32 bytes
ALWAYS = ["MANIFEST", "configuration/vnfsd.toml", "configuration/etcd.yml",
          "instances/vnfs1/state.json", "instances/vnfs1/instance.json",
          "instances/vnfs1/pulse.json", "instances/vnfs1/net/tcp", "logs/vnfs1.log",
          "network/addresses.json", "network/routes.json", "network/links.json",
          "network/sockets", "versions/kernel", "versions/distribution", "versions/vnfsd",
          "versions/ganesha", "system/sysctl", "system/proc_self_mountinfo"]
RECORDS = [f"records/{name}" for name in (
    "status.json", "heads.json", "luns.json", "volumes.json", "filesystems.json", "exports.json",
    "vnfs.json", "placement.json", "events.json", "capacity.json", "members.json", "metrics",
    "history/vnfs1.json")]


def forms(secret):
    """How bytes may stand in a text."""
    return [secret, base64.b64encode(secret).rstrip(b"="), secret.hex().encode(),
            secret.hex().upper().encode()]


def secrets_of(head, probe_key):
    """{what: bytes that must be nowhere}."""
    found = {}
    for number, form in enumerate(forms(PASSWORD.encode())):
        found[f"the password, form {number}"] = form
    for number, form in enumerate(forms(probe_key)):
        found[f"the probe key, form {number}"] = form
    tls = os.path.join(head["config_dir"], "tls")
    keys = [name for name in sorted(os.listdir(tls)) if name.endswith(".key")]
    check("ca.key" in keys and "head.key" in keys, f"the keys of the head are {keys}")
    for name in keys:
        with open(os.path.join(tls, name), "rb") as file:
            lines = file.read().split(b"\n")
        for number, line in enumerate(lines):
            if line and not line.startswith(b"-----"):
                found[f"line {number} of {name}"] = line
    found["a private key"] = b"PRIVATE KEY"
    return found


def probe_key_in(record):
    at = record.rfind(PROBE_KEY_TAG)
    check(0 <= at <= len(record) - 34, "the record of the cluster has no probe key")
    return record[at + 2:at + 34]


def contents(path, secrets):
    """{name: bytes}; no secret is in it, compressed or not."""
    mode = stat.S_IMODE(os.stat(path).st_mode)
    check(mode == 0o600, f"its mode is {mode:o}")
    with tarfile.open(path, "r:gz") as archive:
        check(all(m.isfile() and m.name.startswith(TOP) for m in archive), "members of other kinds")
        found = {m.name.removeprefix(TOP): archive.extractfile(m).read() for m in archive}
    for name, text in found.items():
        for what, secret in secrets.items():
            check(secret not in text, f"{what} is in {name}")
    return found


def check_holds(found, names):
    missing = [name for name in names if not found.get(name)]
    check(not missing, f"{missing} are missing or empty; MANIFEST:\n{found['MANIFEST'].decode()}")


@lab_test("operations/support.md")
def support_bundle_holds_no_secret(bench):
    """Made while everything runs, without etcd, without vnfsd, with a refused vnfsd.toml."""
    head = bench.lab.state.data["heads"][0]
    config = os.path.join(head["config_dir"], "vnfsd.toml")
    probe_key = probe_key_in(EtcdKeys(bench.lab).below(CLUSTER_KEY)[CLUSTER_KEY])
    secrets = secrets_of(head, probe_key)
    with open(config, encoding="utf-8") as file:
        former = file.read()
    log = os.path.join(head["log_dir"], "vnfs1.log")
    out = [os.path.join(bench.lab.directory, f"support{number}.tar.gz") for number in range(4)]
    try:
        options = f"['prefix={bench.prefix}', 'passwd={PASSWORD}']"
        check(membership.set_in_config(head, {"options": options}), "no options in vnfsd.toml")
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"somebody has logged {PASSWORD}\n")

        bench.symnas("support-bundle", "--out", out[0], "--config", config)
        found = contents(out[0], secrets)
        check_holds(found, ALWAYS + RECORDS)
        check(b"passwd=(left out)" in found["configuration/vnfsd.toml"], "no fence options in it")
        check(b"somebody has logged (left out)" in found["logs/vnfs1.log"], "the log is not whole")
        told = bench.refused(EXISTS, "support-bundle", "--out", out[0], "--config", config)
        check("not overwritten" in told, told)

        bench.kill_process("etcd.c1n1")
        bench.symnas("support-bundle", "--out", out[1], "--config", config,
                     timeout_s=WITHOUT_ETCD_S)
        found = contents(out[1], secrets)
        check_holds(found, [*ALWAYS, "records/status.json"])
        bench.lab.start_etcd("c1n1")

        bench.kill_process("vnfsd.c1n1")
        bench.symnas("support-bundle", "--out", out[2], "--config", config)
        found = contents(out[2], secrets)
        check_holds(found, ALWAYS)
        check(b"missing    records/status.json: vnfsd: asking through" in found["MANIFEST"],
              found["MANIFEST"].decode())

        with open(config, "a", encoding="utf-8") as file:
            file.write("misspelt = 1\n")
        bench.symnas("support-bundle", "--out", out[3], "--config", config)
        found = contents(out[3], secrets)
        check_holds(found, ["configuration/vnfsd.toml"])
        check(b"is not a known setting" in found["MANIFEST"], found["MANIFEST"].decode())
    finally:
        with open(config, "w", encoding="utf-8") as file:
            file.write(former)
        for path in out:
            if os.path.exists(path):
                os.remove(path)
        for name, start in (("etcd", bench.lab.start_etcd), ("vnfsd", bench.lab.start_vnfsd)):
            if not processes.is_alive(bench.lab.process(f"{name}.c1n1")):
                start("c1n1")
    bench.service.wait_serving()
