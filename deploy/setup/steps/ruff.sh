# ruff, which checks the python programs and of which Debian 12 has no package: from the registry of
# Python packages that pip is configured for, unpacked into $cache/ruff, not installed. Nothing but
# tests/check/python needs it: a machine that reaches no such registry goes without.

ruff_version=0.17.6
ruff_sha256=aa3b08254a732acba246891089a152c47c5733dc36b8ecb76ce8602f8326e5e4

step_present() { [ -x "$cache/ruff/ruff" ] || [ -f "$cache/ruff/unreachable" ]; }

step_run() {
  mkdir new
  if /usr/bin/python3 -m pip download --no-deps --only-binary :all: --no-cache-dir --timeout 20 \
    --retries 2 --disable-pip-version-check "ruff==$ruff_version"; then
    verify_sha256 ruff-*.whl "$ruff_sha256"
    /usr/bin/python3 -m zipfile -e ruff-*.whl unpacked
    mv unpacked/ruff-*.data/scripts/ruff new/
    chmod 755 new/ruff
    new/ruff --version
  else
    touch new/unreachable
  fi
  rm -rf "$cache/ruff"
  mv new "$cache/ruff"
}
