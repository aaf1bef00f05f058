"""Long work as jobs: progress, cancel, result; what becomes of one when vnfsd or etcd goes."""

import re
import signal

from api_client import Api
from lab_case import check, eventually, lab_test

FILESYSTEM = "u04"
CHECK = f"/v1/filesystems/{FILESYSTEM}/check?async=true"


def api_of(bench):
    return Api(bench.lab.head("c1n1")["socket"])


def begin(api, target):
    status, said, headers = api("POST", target)
    check(status == 202, f"{target}: {status}: {said}")
    place = headers["Location"]
    check(place == f"/v1/jobs/{said['job']['id']}", f"Location {place} of {said}")
    return place


def job_at(api, place):
    return api.get(place)["job"]


def ended(api, place):
    def has_ended():
        job = job_at(api, place)
        return job if job["state"] != "running" else None
    return eventually(60.0, f"{place} ends", has_ended)


@lab_test("operations/api.md", "formats/jobs.md")
def a_check_as_a_job(bench):
    """`fs check` as a job has the report as its result; `symnas job` shows it."""
    api = api_of(bench)
    place = begin(api, CHECK)
    job = ended(api, place)
    check(job["state"] == "done" and job["result"]["findings_total"] == 0, f"{job}")
    check(job["share"] == 1.0 and job["by"] == "root", f"{job}")
    number = place.rsplit("/", 1)[1]
    check(FILESYSTEM in bench.symnas("job", "show", number), "job show lacks the filesystem")
    check(bench.symnas.json("job", "wait", number)["state"] == "done", "job wait")
    check(any(job["id"] == int(number) for job in bench.symnas.json("job", "ls")["jobs"]), "job ls")
    drain = ended(api, begin(api, "/v1/heads/nobody/drain?async=true"))
    check(drain["state"] == "failed" and drain["error"]["code"] == "not_found", f"{drain}")


@lab_test("operations/api.md")
def a_pipe_sees_no_bar(bench):
    """`fs check` into a pipe prints no control sequence, and begins no job."""
    before = len(bench.symnas.json("job", "ls")["jobs"])
    told = bench.symnas("fs", "check", FILESYSTEM)
    check(not re.search(r"[\x00-\x09\x0b-\x1f]", told), f"control characters: {told!r}")
    check(len(bench.symnas.json("job", "ls")["jobs"]) == before, "a job was begun")


@lab_test("operations/api.md", "formats/jobs.md")
def a_job_whose_vnfsd_is_killed_was_interrupted(bench):
    """vnfsd is killed in the middle of a check: the next one says that the job was interrupted."""
    api = api_of(bench)
    bench.signal_process("etcd.c1n1", signal.SIGSTOP)  # so that the check does not end
    try:
        place = begin(api, CHECK)
        bench.kill_process("vnfsd.c1n1")
    finally:
        bench.signal_process("etcd.c1n1", signal.SIGCONT)
    bench.lab.start_vnfsd("c1n1")
    bench.service.wait_serving()
    job = job_at(api, place)
    check(job["state"] == "interrupted" and "vnfsd ended" in job["error"]["message"], f"{job}")
    check(ended(api, begin(api, CHECK))["state"] == "done", "a check after that")


@lab_test("operations/api.md")
def a_job_without_etcd_says_so(bench):
    """etcd stands still in the middle of a check: the job fails and says that etcd is away."""
    api = api_of(bench)
    bench.signal_process("etcd.c1n1", signal.SIGSTOP)
    try:
        job = ended(api, begin(api, CHECK))
    finally:
        bench.signal_process("etcd.c1n1", signal.SIGCONT)
    check(job["state"] == "failed" and job["error"]["code"] in ("unavailable", "unknown_outcome"),
          f"{job}")
    check("etcd" in job["error"]["message"], f"does not name etcd: {job}")
    bench.service.wait_serving()
