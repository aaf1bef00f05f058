"""The event stream: what comes, in what order, and what a reader may cost."""

import contextlib
import signal
import threading

from api_client import Api, events_of
from lab_case import check, eventually, lab_test

STREAMS_MAX = 8  # kStreamsMax


def api_of(bench):
    return Api(bench.lab.head("c1n1")["socket"])


def change(bench, name):
    """Something that is an event."""
    bench.symnas("network", "create", name, "--device", "eth9")
    bench.symnas("network", "rm", name)


@lab_test("operations/api.md")
def events_come_as_they_happen(bench):
    """A stream shows changes at once, lives while nothing happens, and goes on from an id."""
    api = api_of(bench)
    now = api.get("/v1/events")["revision"]
    with api.stream(after=now) as reply:
        check(reply.getheader("Content-Type") == "text/event-stream", f"{reply.headers}")
        events = events_of(reply)
        check(next(events)[1] == ":", "no comment to begin with")
        change(bench, "apistream")
        seen = [next(events), next(events)]
        check("created" in seen[0][2]["text"] and "removed" in seen[1][2]["text"], f"{seen}")
        check(next(events)[1] == ":", "no heartbeat")
    with api.stream(last_id=seen[0][0]) as reply:
        events = events_of(reply)
        next(events)
        check(next(events)[2] == seen[1][2], "Last-Event-ID: another event follows")
    listed = api.get(f"/v1/events?after={now}")["events"]
    check([event[2] for event in seen] == listed, f"{seen} is not {listed}")


@lab_test("operations/api.md")
def streams_do_not_starve_requests(bench):
    """As many readers as there may be, none of which reads: requests are answered, one more is
    refused, and a place is free again when a reader has gone."""
    api = api_of(bench)
    with contextlib.ExitStack() as open_streams:
        def gets_a_place():
            return open_streams.enter_context(api.stream()).status == 200
        for _ in range(STREAMS_MAX):
            # That a reader of another test has gone is noticed by a heartbeat.
            eventually(30.0, "a place for a reader is free", gets_a_place)
        answers = []
        askers = [threading.Thread(target=lambda: answers.append(api.get("/v1/vnfs")))
                  for _ in range(8)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join(20)
        check(len(answers) == 8, f"{len(answers)} of 8 requests were answered")
        status, said, _ = api("GET", "/v1/events/stream")
        check(status == 503 and "readers" in said["error"]["message"], f"{status}: {said}")

    def is_free():
        with api.stream() as another:
            return another.status == 200
    eventually(30.0, "a place is free after all readers have gone", is_free)


@lab_test("operations/api.md")
def a_stream_ends_with_vnfsd(bench):
    """When vnfsd stops, a reader sees the end of the stream, not a broken connection."""
    api = api_of(bench)
    with api.stream() as reply:
        bench.signal_process("vnfsd.c1n1", signal.SIGTERM)
        for _ in events_of(reply):
            pass  # IncompleteRead if the stream is cut off
    bench.lab.start_vnfsd("c1n1")
    bench.service.wait_serving()
