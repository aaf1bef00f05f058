# Debian's own kernel for the client VM, unpacked into $cache/kernel: vmlinuz and
# lib/modules/<version>.

step_present() { [ -f "$cache/kernel/vmlinuz" ] && [ -d "$cache/kernel/lib/modules" ]; }

step_run() {
  # Lists that are missing or older than the mirror: fetch them and try once more.
  download_kernel || { apt-get -q update; download_kernel; }
  mkdir new
  dpkg-deb -x "$image"_*.deb new
  mv new/boot/vmlinuz-* new/vmlinuz
  [ -d new/lib ] || mv new/usr/lib new/lib
  rm -rf new/boot new/usr
  # Module dependencies are made by the package's post-installation script, which does not run here.
  for version in new/lib/modules/*; do
    depmod -b new "$(basename "$version")"
  done
  rm -rf "$cache/kernel"
  mv new "$cache/kernel"
}

download_kernel() {
  image=$(real_kernel)
  [ -n "$image" ] || { echo "apt knows no $kernel_package"; return 1; }
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download "$image"
}

# The package of the newest kernel that the meta package stands for.
real_kernel() {
  apt-cache depends "$kernel_package" 2>/dev/null |
    sed -n 's/^ *Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1
}
