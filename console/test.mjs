// Runs src/**/*_test.ts with node's own test runner: node test.mjs [NAME...]
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const root = new URL(".", import.meta.url).pathname;
const wanted = process.argv.slice(2);
const tests = readdirSync(join(root, "src"), { recursive: true })
  .filter((name) => name.endsWith("_test.ts"))
  .filter((name) => wanted.length === 0 || wanted.some((word) => name.includes(word)))
  .map((name) => join(root, "src", name));
const out = mkdtempSync(join(tmpdir(), "symnas-console-"));
try {
  await build({
    entryPoints: tests,
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    sourcemap: "inline",
    logLevel: "warning",
  });
  const built = readdirSync(out, { recursive: true })
    .filter((name) => name.endsWith("_test.mjs"))
    .map((name) => join(out, name));
  const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...built], {
    stdio: "inherit",
  });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
