# The source of zlib as Debian 13 has it, which `make conformance` builds over NFS: downloaded into
# $cache/project, not unpacked.

project_source=zlib
project_tarball=zlib_1.3.dfsg+really1.3.1.orig.tar.gz
project_sha256=60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb

step_present() { [ -f "$cache/project/zlib.tar.gz" ]; }

step_run() {
  private_apt_init "$PWD/apt" "$pinned_suite"
  private_apt_get -q source --download-only --tar-only "$project_source"
  verify_sha256 "$project_tarball" "$project_sha256"
  mkdir new
  mv "$project_tarball" new/zlib.tar.gz
  rm -rf "$cache/project"
  mv new "$cache/project"
}
