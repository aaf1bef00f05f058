# iscsistart as the machine's Debian packages it, for the SAN of virtual machines that tests of
# reservations make: unpacked into $cache/iscsi, not installed.

iscsi_packages="open-iscsi libopeniscsiusr"

step_present() {
  [ -x "$cache/iscsi/iscsistart" ] && [ -f "$cache/iscsi/libopeniscsiusr.so.0.2.0" ]
}

step_run() {
  # Lists that are missing or older than the mirror: fetch them and try once more.
  download_iscsi || { apt-get -q update; download_iscsi; }
  for package in ./*.deb; do dpkg-deb -x "$package" unpacked; done
  mkdir new
  find unpacked -name iscsistart -type f -exec mv {} new/ \;
  find unpacked -name 'libopeniscsiusr.so.*' -exec mv {} new/ \;
  rm -rf "$cache/iscsi"
  mv new "$cache/iscsi"
}

download_iscsi() {
  # shellcheck disable=SC2086  # package names are words
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download $iscsi_packages
}
