# Prometheus and promtool as the machine's Debian packages them, for the tests of deploy/monitoring:
# unpacked into $cache/prometheus, not installed. Only `make monitoring-tests` needs them.

prometheus_package=prometheus

step_present() {
  [ -x "$cache/prometheus/prometheus" ] && [ -x "$cache/prometheus/promtool" ]
}

step_run() {
  # Lists that are missing or older than the mirror: fetch them and try once more.
  download_prometheus || { apt-get -q update; download_prometheus; }
  dpkg-deb -x "$prometheus_package"_*.deb unpacked
  mkdir new
  mv unpacked/usr/bin/prometheus unpacked/usr/bin/promtool new/
  new/promtool --version
  rm -rf "$cache/prometheus"
  mv new "$cache/prometheus"
}

download_prometheus() {
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download "$prometheus_package"
}
