# playwright and axe-core, with which the tests of the web console work a browser (tests/console),
# and of which Debian has no package: from the registry of Python packages that pip is configured
# for, with the hashes of packages/playwright.txt, to $cache/playwright; nothing is installed.

step_present() { [ -d "$cache/playwright/playwright" ]; }

step_run() {
  /usr/bin/python3 -m pip install --target new --require-hashes --no-deps --only-binary :all: \
    --no-cache-dir --timeout 20 --retries 2 --disable-pip-version-check \
    -r "$here/packages/playwright.txt"
  rm -rf "$cache/playwright"
  mv new "$cache/playwright"
}
