# schemathesis, which asks the API at random (tests/api_fuzz) and of which Debian has no package:
# from the registry of Python packages that pip is configured for, with the hashes of
# packages/api_fuzz.txt, to $cache/api_fuzz; nothing is installed.

step_present() { [ -d "$cache/api_fuzz/schemathesis" ]; }

step_run() {
  /usr/bin/python3 -m pip install --target new --require-hashes --no-deps --only-binary :all: \
    --no-cache-dir --timeout 20 --retries 2 --disable-pip-version-check \
    -r "$here/packages/api_fuzz.txt"
  rm -rf "$cache/api_fuzz"
  mv new "$cache/api_fuzz"
}
