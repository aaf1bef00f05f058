import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "./store";
import { ApiError, errorOf, withQuery, type Transport } from "./transport";

class Script implements Transport {
  asked: string[] = [];
  answers: (string | ApiError)[] = [];

  async send(_method: string, path: string): Promise<string> {
    this.asked.push(path);
    const next = this.answers.shift() ?? "{}";
    if (next instanceof ApiError) throw next;
    return next;
  }

  follow(): () => void {
    return () => undefined;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("what is watched is read, and stays when vnfsd is away", async () => {
  const script = new Script();
  script.answers = ['{"a": 1}', new ApiError(0, "unreachable", "gone", "not-found")];
  const store = new Store(script, () => 5);
  let told = 0;
  const end = store.watch("/v1/x", 60_000, () => (told += 1));
  await settled();
  assert.deepEqual(store.seen("/v1/x"), { data: { a: 1 }, readAt: 5 });
  store.refresh();
  await settled();
  const seen = store.seen("/v1/x");
  assert.deepEqual(seen.data, { a: 1 });
  assert.equal(seen.error?.message, "gone");
  assert.equal(told, 2);
  end();
  store.refresh();
  await settled();
  assert.equal(script.asked.length, 2);
});

test("the same answer is the same object", async () => {
  const script = new Script();
  script.answers = ['{"a": 1}', '{"a": 1}'];
  const store = new Store(script);
  const end = store.watch("/v1/x", 60_000, () => undefined);
  await settled();
  const first = store.seen("/v1/x").data;
  store.refresh();
  await settled();
  assert.equal(store.seen("/v1/x").data, first);
  end();
});

test("a refresh during a read reads once more", async () => {
  const script = new Script();
  const store = new Store(script);
  const end = store.watch("/v1/x", 60_000, () => undefined);
  store.refresh();
  store.refresh();
  await settled();
  await settled();
  assert.equal(script.asked.length, 2);
  end();
});

test("what is large is not read with each event", async () => {
  const script = new Script();
  script.answers = [JSON.stringify("x".repeat(200_000))];
  const store = new Store(script);
  const end = store.watch("/v1/locks", 60_000, () => undefined);
  await settled();
  store.refresh();
  await settled();
  assert.equal(script.asked.length, 1);
  end();
});

test("there is trouble as long as something that is shown was not read", async () => {
  const script = new Script();
  const away = new ApiError(503, "unavailable", "etcd is away");
  const store = new Store(script);
  script.answers = ["{}", away];
  const ends = ["/v1/a", "/v1/b"].map((path) => store.watch(path, 60_000, () => undefined));
  await settled();
  assert.equal(store.trouble(), away);
  store.refresh();
  await settled();
  assert.equal(store.trouble(), undefined);
  script.answers = ["{}", away];
  store.refresh();
  await settled();
  ends[1]?.();
  assert.equal(store.trouble(), undefined);
  script.answers = [new ApiError(403, "permission", "no")];
  store.refresh();
  await settled();
  assert.equal(store.trouble(), undefined);
  ends[0]?.();
});

test("a read that takes long is trouble", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const never: Transport = {
    send: () => new Promise(() => undefined),
    follow: () => () => undefined,
  };
  const store = new Store(never);
  const end = store.watch("/v1/x", 60_000, () => undefined);
  assert.equal(store.trouble(), undefined);
  context.mock.timers.tick(3001);
  assert.equal(store.trouble()?.code, "slow");
  end();
});

test("errors say what to do next", () => {
  assert.match(errorOf({ problem: "not-found" }).message, /systemctl status vnfsd/);
  assert.match(errorOf({ problem: "access-denied" }).message, /administrative access/);
  const told = errorOf(
    { problem: null, status: 409 },
    '{"error": {"code": "conflict", "message": "vnfs v: is being moved"}}',
  );
  assert.equal(told.message, "vnfs v: is being moved");
  assert.equal(told.status, 409);
  assert.match(errorOf({ problem: null, status: 502 }, "<html>").message, /502/);
});

test("parameters that are not given are left out", () => {
  assert.equal(withQuery("/v1/locks", { vnfs: "", ino: undefined }), "/v1/locks");
  assert.equal(withQuery("/v1/locks", { vnfs: "a&b", ino: 3 }), "/v1/locks?vnfs=a%26b&ino=3");
});
