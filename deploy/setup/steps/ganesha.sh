# nfs-ganesha and ntirpc from Debian 13's pinned sources plus deploy/ganesha/patches, with the VFS
# and MEM FSALs as baselines. Result: $cache/ganesha with bin/, lib/ and sdk/ (headers + config.h,
# which "make install" leaves out; a plugin must be compiled with exactly these).

prefix=$cache/ganesha

step_present() {
  [ -x "$prefix/bin/ganesha.nfsd" ] && [ -f "$prefix/sdk/include/config.h" ] &&
    [ -f "$prefix/lib/ganesha/libfsalvfs.so" ]
}

step_run() {
  private_apt_init "$PWD/apt" "$pinned_suite"
  # The packaging diffs are not needed, the upstream tarballs are.
  private_apt_get -q source --download-only --tar-only "$ganesha_source" "$ntirpc_source"
  verify_sha256 "$ganesha_tarball" "$ganesha_sha256"
  verify_sha256 "$ntirpc_tarball" "$ntirpc_sha256"

  mkdir source ntirpc
  tar -xf "$ganesha_tarball" -C source --strip-components=1
  tar -xf "$ntirpc_tarball" -C ntirpc --strip-components=1
  src=$PWD/source/src
  rm -rf "$src/libntirpc"
  mv ntirpc "$src/libntirpc"
  for patch_file in "$top"/deploy/ganesha/patches/*.patch; do
    echo "applying $(basename "$patch_file")"
    patch -d "$src" -p1 --no-backup-if-mismatch <"$patch_file"
  done

  off="USE_FSAL_CEPH USE_FSAL_GLUSTER USE_FSAL_RGW USE_FSAL_GPFS USE_FSAL_PROXY_V3
    USE_FSAL_PROXY_V4 USE_FSAL_LUSTRE USE_FSAL_XFS USE_FSAL_LIZARDFS USE_FSAL_KVSFS
    USE_FSAL_SAUNAFS USE_9P USE_MONITORING USE_MAN_PAGE USE_ADMIN_TOOLS USE_GUI_ADMIN_TOOLS
    USE_RADOS_RECOV RADOS_URLS USE_NFS_RDMA USE_RPC_RDMA USE_LTTNG USE_UNWIND
    USE_LEGACY_PYTHON_INSTALL"
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
  rm -rf "$prefix"
  mv "$new" "$prefix"
}
