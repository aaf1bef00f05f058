import assert from "node:assert/strict";
import { test } from "node:test";
import { Feed } from "./feed";
import { ApiError, type Transport } from "./transport";

class Streams implements Transport {
  paths: string[] = [];
  data: (piece: string) => void = () => undefined;
  end: (why: ApiError) => void = () => undefined;
  stopped = 0;

  send(): Promise<string> {
    return Promise.reject(new ApiError(404, "not_found", "no"));
  }

  follow(path: string, data: (piece: string) => void, ended: (why: ApiError) => void): () => void {
    this.paths.push(path);
    this.data = data;
    this.end = ended;
    return () => {
      this.stopped += 1;
    };
  }
}

const event = (revision: number) =>
  `id: ${revision}\ndata: ${JSON.stringify({ revision, text: `event ${revision}` })}\n\n`;

test("events come newest first, and have the page read anew", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const streams = new Streams();
  let told = 0;
  const feed = new Feed(streams, () => (told += 1));
  feed.start();
  assert.equal(feed.get().live, false);
  streams.data(event(7) + event(8));
  assert.equal(feed.get().live, true);
  assert.deepEqual(
    feed.get().events.map((one) => one.revision),
    [8, 7],
  );
  assert.equal(told, 2); // once because the stream is there
  streams.data('data: not JSON\n\nevent: lost\ndata: ["c1n1"]\n\n');
  assert.equal(feed.get().events.length, 2);
});

test("a stream that ended goes on where it was", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const streams = new Streams();
  const feed = new Feed(streams, () => undefined);
  feed.start();
  streams.data(event(7));
  streams.end(new ApiError(0, "unreachable", "gone", "disconnected"));
  assert.equal(feed.get().live, false);
  context.mock.timers.tick(1000);
  assert.deepEqual(streams.paths, ["/v1/events/stream", "/v1/events/stream?after=7"]);
});

test("whoever may not follow it asks seldom", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const streams = new Streams();
  const feed = new Feed(streams, () => undefined);
  feed.start();
  streams.end(new ApiError(403, "permission", "no"));
  context.mock.timers.tick(14_000);
  assert.equal(streams.paths.length, 1);
  context.mock.timers.tick(1000);
  assert.equal(streams.paths.length, 2);
  assert.equal(feed.get().error?.status, 403);
});

test("a stream that is silent is opened anew", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const streams = new Streams();
  const feed = new Feed(streams, () => undefined);
  feed.start();
  context.mock.timers.tick(11_000);
  streams.data(": alive\n\n");
  context.mock.timers.tick(11_000);
  assert.equal(streams.stopped, 0);
  context.mock.timers.tick(1000);
  assert.equal(streams.stopped, 1);
  context.mock.timers.tick(1000);
  assert.equal(streams.paths.length, 2);
});
