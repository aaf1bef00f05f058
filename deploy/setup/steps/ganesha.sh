# nfs-ganesha and ntirpc from Debian 13's pinned sources plus deploy/ganesha/patches, with the VFS
# and MEM FSALs as baselines. Result: $cache/ganesha with bin/, lib/ and sdk/ (headers + config.h,
# which "make install" leaves out; a plugin must be compiled with exactly these).

. "$top/deploy/ganesha/apply.sh"

prefix=$cache/ganesha

# What was built says from which inputs: a stamp alone would vouch for another build.
step_present() {
  [ "$(cat "$prefix/inputs" 2>/dev/null)" = "$hash" ] &&
    [ -x "$prefix/bin/ganesha.nfsd" ] && [ -f "$prefix/sdk/include/config.h" ] &&
    [ -f "$prefix/lib/ganesha/libfsalvfs.so" ]
}

# hash_tree FOLDER FILE...: of the names and contents of everything in FOLDER, and of the files.
hash_tree() {
  folder=$1
  shift
  {
    (cd "$folder" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum &&
      find . -type l -printf '%p %l\n' | LC_ALL=C sort)
    cat "$@"
  } | sha256sum | cut -d ' ' -f 1
}

step_run() {
  private_apt_init "$PWD/apt" "$pinned_suite"
  # The packaging diffs are not needed, the upstream tarballs are.
  private_apt_get -q source --download-only --tar-only "$ganesha_source" "$ntirpc_source"
  verify_sha256 "$ganesha_tarball" "$ganesha_sha256"
  verify_sha256 "$ntirpc_tarball" "$ntirpc_sha256"

  unpack_sources "$ganesha_tarball" "$ntirpc_tarball" source ntirpc
  apply_patches source ntirpc
  src=$PWD/source/src
  rm -rf "$src/libntirpc"
  mv ntirpc "$src/libntirpc"

  # The same sources, built in the same way: what is there stays (a patch's text has changed, say).
  built_from=$(hash_tree "$src" "$top/deploy/setup/steps/ganesha.sh")
  if [ "$(cat "$prefix/built_from" 2>/dev/null)" = "$built_from" ]; then
    echo "$hash" >"$prefix/inputs"
    return 0
  fi

  off="USE_FSAL_CEPH USE_FSAL_GLUSTER USE_FSAL_RGW USE_FSAL_GPFS USE_FSAL_PROXY_V3
    USE_FSAL_PROXY_V4 USE_FSAL_LUSTRE USE_FSAL_XFS USE_FSAL_LIZARDFS USE_FSAL_KVSFS
    USE_FSAL_SAUNAFS USE_9P USE_MONITORING USE_MAN_PAGE USE_ADMIN_TOOLS USE_GUI_ADMIN_TOOLS
    USE_RADOS_RECOV RADOS_URLS USE_NFS_RDMA USE_RPC_RDMA USE_LTTNG USE_UNWIND
    USE_LEGACY_PYTHON_INSTALL USE_DBUS"
  options=
  for option in $off; do options="$options -D$option=OFF"; done
  # shellcheck disable=SC2086  # options are words
  cmake -S "$src" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS="-g -fno-omit-frame-pointer" -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DLIB_INSTALL_DIR="$prefix/lib" -DCMAKE_INSTALL_RPATH="$prefix/lib" \
    -DUSE_FSAL_VFS=ON -DUSE_FSAL_MEM=ON -DUSE_FSAL_NULL=ON $options
  ninja -C build
  DESTDIR=$PWD/out ninja -C build install
  new=$PWD/out$prefix

  mkdir -p "$new/sdk"
  cp -a "$src/include" "$new/sdk/include"
  cp -a "$src/libntirpc/ntirpc" "$new/sdk/ntirpc"
  cp -a build/include/. "$new/sdk/include/"
  [ -f "$new/sdk/include/config.h" ] || die "no config.h in the build"
  echo "$built_from" >"$new/built_from"
  echo "$hash" >"$new/inputs"
  rm -rf "$prefix"
  mv "$new" "$prefix"
}
