// Builds the plug-in: node build.mjs --outdir DIR. DIR is then a complete Cockpit package.
import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const { values } = parseArgs({
  options: { outdir: { type: "string", default: "../build/console" } },
});
const outdir = resolve(values.outdir);
const root = new URL(".", import.meta.url).pathname;
const STATIC = ["index.html", "manifest.json"];

// Fonts are the browser's own, and there are no pictures: PatternFly's are half a megabyte.
const withoutAssets = {
  name: "without-assets",
  setup(plugins) {
    plugins.onLoad({ filter: /\/styles\/base(-no-reset)?\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8")
        .replace(/@font-face\s*{[^}]*}/g, "")
        .replace(/url\(["']?\.\/assets\/[^)]*\)/g, "none"),
      loader: "css",
    }));
  },
};

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
const result = await build({
  absWorkingDir: root,
  entryPoints: { symnas: "src/main.tsx" },
  outdir,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2021",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
  legalComments: "linked",
  metafile: true,
  logLevel: "warning",
  logLimit: 10,
  plugins: [withoutAssets],
});
for (const name of STATIC) cpSync(join(root, name), join(outdir, name));
for (const [name, { bytes }] of Object.entries(result.metafile.outputs)) {
  console.log(`${name.split("/").at(-1)}: ${Math.round(bytes / 1024)} KiB`);
}
