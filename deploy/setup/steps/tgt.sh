# An iSCSI target and an initiator that need no kernel, for `make workloads`: tgtd, tgtadm and
# iscsi-perf of Debian, unpacked into $cache/tgt, not installed.

tgt_packages="tgt libiscsi-bin libiscsi7"

step_present() {
  [ -x "$cache/tgt/usr/sbin/tgtd" ] && [ -x "$cache/tgt/usr/bin/iscsi-perf" ]
}

step_run() {
  # Lists that are missing or older than the mirror: fetch them and try once more.
  download_tgt || { apt-get -q update; download_tgt; }
  for package in *.deb; do dpkg-deb -x "$package" new; done
  rm -rf "$cache/tgt"
  mv new "$cache/tgt"
}

download_tgt() {
  # shellcheck disable=SC2086  # package names are words
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download $tgt_packages
}
