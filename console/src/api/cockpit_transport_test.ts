import assert from "node:assert/strict";
import { test } from "node:test";
import { CockpitTransport } from "./cockpit_transport";
import { ApiError } from "./transport";

type Failed = (problem: CockpitProblem, data?: string) => void;

// A request as Cockpit's are: settled by hand.
class FakeRequest {
  done: (data: string) => void = () => undefined;
  failed: Failed = () => undefined;
  piece: (data: string) => void = () => undefined;
  closed = "";

  then(done: (data: string) => void, failed: Failed) {
    this.done = done;
    this.failed = failed;
  }

  stream(callback: (data: string) => void) {
    this.piece = callback;
    return this;
  }

  close(problem: string) {
    this.closed = problem;
    this.failed({ problem });
  }
}

function open() {
  const requests: FakeRequest[] = [];
  const options: { method: string; path: string; body?: string }[] = [];
  const opened: { unix: string; superuser?: string }[] = [];
  const http = {
    request(one: { method: string; path: string; body?: string }) {
      options.push(one);
      const request = new FakeRequest();
      requests.push(request);
      return request;
    },
  };
  const fake = {
    http: (how: { unix: string; superuser?: string }) => {
      opened.push(how);
      return http;
    },
  };
  (globalThis as unknown as { cockpit: typeof fake }).cockpit = fake;
  return { transport: new CockpitTransport(), requests, options, opened };
}

test("vnfsd's socket is asked, as root where that may be", async () => {
  const { transport, requests, options, opened } = open();
  assert.deepEqual(opened, [{ unix: "/run/symnas/vnfsd.sock", superuser: "try" }]);
  const answer = transport.send("POST", "/v1/x", { a: 1 });
  assert.equal(options[0]?.body, '{"a":1}');
  requests[0]?.done("{}");
  assert.equal(await answer, "{}");
});

test("an error of vnfsd keeps its words", async () => {
  const { transport, requests } = open();
  const answer = transport.send("GET", "/v1/x");
  requests[0]?.failed({ status: 404 }, '{"error": {"code": "not_found", "message": "no x"}}');
  await assert.rejects(
    answer,
    (error: ApiError) => error.message === "no x" && error.status === 404,
  );
});

test("a read that is never answered ends, a change does not", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { transport, requests } = open();
  const read = transport.send("GET", "/v1/x");
  void transport.send("POST", "/v1/x");
  context.mock.timers.tick(15_000);
  await assert.rejects(read, (error: ApiError) => error.problem === "timeout");
  assert.equal(requests[1]?.closed, "");
});

test("a stream that ends is told once, one that was stopped is not", () => {
  const { transport, requests } = open();
  const pieces: string[] = [];
  const ends: ApiError[] = [];
  transport.follow(
    "/v1/s",
    (piece) => pieces.push(piece),
    (why) => ends.push(why),
  );
  requests[0]?.piece("a");
  requests[0]?.done("");
  assert.deepEqual(pieces, ["a"]);
  assert.equal(ends.length, 1);
  const stop = transport.follow(
    "/v1/s",
    () => undefined,
    (why) => ends.push(why),
  );
  stop();
  assert.equal(requests[1]?.closed, "cancelled");
  assert.equal(ends.length, 1);
});
