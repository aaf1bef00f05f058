# User Mode Linux (the Linux kernel as a program) as the machine's Debian packages it, for client
# VMs: unpacked into $cache/uml (linux.uml, modules/<version>), not installed. Debian moves its
# version with every security update of the kernel: taken by name, verified by apt's signatures.

uml_package=user-mode-linux

step_present() { [ -x "$cache/uml/linux.uml" ] && [ -d "$cache/uml/modules" ]; }

step_run() {
  # Lists that are missing or older than the mirror: fetch them and try once more.
  download_uml || { apt-get -q update; download_uml; }
  dpkg-deb -x "$uml_package"_*.deb unpacked
  mkdir new
  mv unpacked/usr/bin/linux.uml new/
  mv unpacked/usr/lib/uml/modules new/
  new/linux.uml --version
  rm -rf "$cache/uml"
  mv new "$cache/uml"
}

download_uml() {
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download "$uml_package"
}
