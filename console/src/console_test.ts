import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { rehost } from "./api/commands";
import { editExport } from "./api/commands_storage";
import { ApiError, type Method, type Transport } from "./api/transport";
import { Console } from "./console";

type Answer = (method: Method, path: string) => string;

class Vnfsd implements Transport {
  asked: string[] = [];

  constructor(private readonly answer: Answer) {}

  async send(method: Method, path: string): Promise<string> {
    this.asked.push(`${method} ${path}`);
    return this.answer(method, path);
  }

  follow(): () => void {
    return () => undefined;
  }
}

const NOTHING = '{"rows": [], "missing": [], "vnfses": []}';

const refused = (status: number) => {
  throw new ApiError(status, "permission", "refused");
};

const settled = async () => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

async function roleOf(answer: Answer, context: TestContext) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const page = new Console(new Vnfsd(answer));
  page.start();
  await settled();
  return page.role.get();
}

test("the role is learnt by what may be read", async (context) => {
  assert.equal(await roleOf(() => NOTHING, context), "admin");
});

test("an operator may read events, a viewer may not", async (context) => {
  const tokens = (path: string) => path.startsWith("/v1/api-tokens");
  assert.equal(
    await roleOf((_m, path) => (tokens(path) ? refused(403) : NOTHING), context),
    "operator",
  );
});

test("who may read neither is a viewer", async (context) => {
  const secret = (path: string) => /api-tokens|events/.test(path);
  assert.equal(
    await roleOf((_m, path) => (secret(path) ? refused(403) : NOTHING), context),
    "viewer",
  );
});

test("as long as vnfsd is away nothing is known", async (context) => {
  assert.equal(await roleOf(() => refused(0), context), undefined);
});

test("a change that was accepted is kept with its way back, until that was taken", async () => {
  const vnfsd = new Vnfsd((method) =>
    method === "GET" ? '{"vnfs": [{"name": "v", "epoch": 4}]}' : '{"done": ["ordered"]}',
  );
  const page = new Console(vnfsd);
  const change = rehost("v", "c1n2", "c1n1");
  const asked = await page.send(change);
  assert.equal(asked.epoch, 4);
  assert.deepEqual(asked.lines, ["ordered"]);
  assert.equal(page.asked.get().length, 1);
  await page.send(change.undo!);
  assert.deepEqual(
    page.asked.get().map((one) => one.change.title),
    ["Move v to c1n1"],
  );
});

test("a refusal is kept with its reason", async () => {
  const page = new Console(new Vnfsd(() => refused(409)));
  const asked = await page.send(rehost("v", "c1n2"));
  assert.equal(asked.error, "refused");
  assert.equal(page.asked.get()[0]?.error, "refused");
  assert.equal(asked.outcome, "refused");
});

test("without an answer it is not known whether a change was made", async () => {
  const page = new Console(new Vnfsd(() => refused(0)));
  assert.equal((await page.send(rehost("v", "c1n2"))).outcome, "unknown");
});

test("the last edit of an export can be rolled back, once", async () => {
  const page = new Console(new Vnfsd(() => '{"done": []}'));
  const edit = editExport("u04", { access: "ro" }, { access: "rw" });
  await page.send(edit);
  assert.equal(page.editsOfExports.get().get("u04"), edit.undo);
  await page.send(edit.undo!);
  assert.equal(page.editsOfExports.get().size, 0);
});
