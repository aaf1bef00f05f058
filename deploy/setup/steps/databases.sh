# PostgreSQL, MariaDB, SQLite and DuckDB for client VMs (tests/databases): the packages of
# packages/databases.txt and what they need, as a root of Debian 12 in a read-only disk,
# $cache/databases/root.img. They are unpacked, not installed: no script of theirs runs on this
# machine. DuckDB is no Debian package, and comes from the registry of Python packages that pip is
# configured for, with the hash of packages/duckdb.txt; a machine that reaches none goes without.
# Needs mmdebstrap (step machines).

step_present() { [ -f "$cache/databases/root.img" ]; }

step_run() {
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || die "apt knows no Debian mirror: check /etc/apt/sources.list*"
  mmdebstrap --variant=extract --include="$(paste -sd, "$here/packages/databases.txt")" \
    bookworm root "$mirror"
  complete_root root
  add_duckdb root
  size=$(($(du -sm --apparent-size root | cut -f 1) * 5 / 4 + 32))
  mkdir new
  mke2fs -q -t ext4 -O ^has_journal -m 0 -d root new/root.img "${size}M"
  rm -rf "$cache/databases"
  mv new "$cache/databases"
}

# What the scripts of the packages would have made, as far as it is of use, and places for mounts.
complete_root() {
  mkdir -p "$1"/{proc,sys,run,tmp,mnt}
  rm -rf "$1"/usr/share/{doc,man,locale,i18n}
  ln -sf gawk "$1/usr/bin/awk"
  printf '%s\n' 'root:x:0:0:root:/tmp:/bin/sh' 'database:x:1000:1000::/tmp:/bin/sh' >"$1/etc/passwd"
  printf '%s\n' 'root:x:0:' 'database:x:1000:' >"$1/etc/group"
  echo '127.0.0.1 localhost' >"$1/etc/hosts"
}

add_duckdb() {
  /usr/bin/python3 -m pip install --target duckdb --require-hashes --no-deps \
    --only-binary :all: --no-cache-dir --timeout 20 --retries 2 --disable-pip-version-check \
    -r "$here/packages/duckdb.txt" || return 0
  cp -r duckdb/. "$1/usr/lib/python3/dist-packages/"
}
