# Programs of NFSv3 clients as the machine's Debian packages them, for tests and the client VM:
# unpacked into $cache/statd, not installed. What they need of libraries comes with rpcbind,
# libtirpc-dev and Debian's base.

statd_packages="nfs-common quota"
statd_programs="rpc.statd sm-notify mount.nfs showmount quota"

step_present() {
  for program in $statd_programs; do
    [ -x "$cache/statd/$program" ] || return 1
  done
}

step_run() {
  # Lists that are missing or older than the mirror: fetch them and try once more.
  download_statd || { apt-get -q update; download_statd; }
  for package in $statd_packages; do dpkg-deb -x "$package"_*.deb unpacked; done
  mkdir new
  for program in $statd_programs; do
    find unpacked -type f -name "$program" -exec mv {} new/ \;
  done
  rm -rf "$cache/statd"
  mv new "$cache/statd"
}

download_statd() {
  # shellcheck disable=SC2086  # packages are words
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download $statd_packages
}
