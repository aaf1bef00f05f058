# What the web console is made with: npm, and the packages of console/package-lock.json, from the
# registry that npm is configured for, to $cache/console/node_modules; no script of theirs is run.
# A machine that has npm keeps its own, another one gets Debian's.
list=$here/packages/console.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"

step_present() { command -v npm >/dev/null && [ -d "$cache/console/node_modules" ]; }

step_run() {
  command -v npm >/dev/null || install_missing
  cp "$top/console/package.json" "$top/console/package-lock.json" .
  npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 20000 \
    --cache "$PWD/npm"
  rm -rf "$cache/console"
  mkdir "$cache/console"
  mv node_modules "$cache/console/"
}
