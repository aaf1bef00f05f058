# etcd and etcdctl as Debian 13 packages them, unpacked into $cache/etcd, not installed.

step_present() { [ -x "$cache/etcd/bin/etcd" ] && [ -x "$cache/etcd/bin/etcdctl" ]; }

step_run() {
  private_apt_init "$PWD/apt" "$pinned_suite"
  # shellcheck disable=SC2086  # package names are words
  private_apt_get -q download $etcd_packages
  for package in ./*.deb; do
    version=$(dpkg-deb -f "$package" Version)
    [ "${version%%-*}" = "$etcd_upstream" ] || die "$package: expected version $etcd_upstream"
    dpkg-deb -x "$package" unpacked
  done
  mkdir -p new/bin
  mv unpacked/usr/bin/etcd* new/bin/
  new/bin/etcd --version
  rm -rf "$cache/etcd"
  mv new "$cache/etcd"
}
