# rpc.statd and sm-notify as the machine's Debian packages them, for the client VM: unpacked into
# $cache/statd, not installed. What they need of libraries comes with rpcbind and libtirpc-dev.

statd_package=nfs-common

step_present() { [ -x "$cache/statd/rpc.statd" ] && [ -x "$cache/statd/sm-notify" ]; }

step_run() {
  # Lists that are missing or older than the mirror: fetch them and try once more.
  download_statd || { apt-get -q update; download_statd; }
  dpkg-deb -x "$statd_package"_*.deb unpacked
  mkdir new
  for program in rpc.statd sm-notify; do
    find unpacked -type f -name "$program" -exec mv {} new/ \;
  done
  rm -rf "$cache/statd"
  mv new "$cache/statd"
}

download_statd() {
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download "$statd_package"
}
