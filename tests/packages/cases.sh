#!/bin/bash
# The cases of `run`, each in a fresh root: cases.sh CASE VERSION NEXT. Ends with the first command
# that fails.
set -euxo pipefail
case=$1
version=$2
next=$3

repository() {
  echo "deb [trusted=yes] file:/srv/$1 ./" >/etc/apt/sources.list.d/symnas.list
  apt-get -q update
}

get() { apt-get -q -y -o Dpkg::Use-Pty=0 "$@"; }

ganesha=/usr/lib/symnas/ganesha

installed() {
  repository this
  get install --no-install-recommends symnas symnas-doc
}

installs() {
  installed
  [ "$(symnas --version)" = "symnas $version" ]
  vnfsd --version | grep -E "^vnfsd $version, level [0-9]+$"
  vnfsd --help | grep -- --config
  { symnas-fence --help || true; } 2>&1 | grep '^usage: symnas-fence'
  { symnas-metrics || true; } 2>&1 | grep '^usage: symnas-metrics'
  for file in alerts.yml prometheus.example.yml dashboards/symnas-overview.json; do
    [ -s "/usr/share/symnas/monitoring/$file" ]
  done
  # A head has no corosync before it is asked for.
  [ ! -e /usr/sbin/symnas-corosync-watch ]
  get install --no-install-recommends symnas-corosync
  { symnas-corosync-watch || true; } 2>&1 | grep '^corosync is not reached'
  # Neither misses a library, nor finds one of another ganesha.
  "$ganesha/bin/ganesha.nfsd" -v | grep '6\.5'
  ldd "$ganesha/bin/ganesha.nfsd" | grep "libganesha_nfsd.*=> $ganesha/"
  for file in "$ganesha"/lib/ganesha/*.so "$ganesha"/lib/*.so /usr/sbin/vnfsd; do
    missing=$(LD_LIBRARY_PATH=$ganesha/lib ldd "$file" 2>&1 | grep -c 'not found' || true)
    [ "$missing" = 0 ]
  done
  [ ! -e /usr/bin/ganesha.nfsd ]
  plugin_is_loaded
  # The unit's, or that of symnas-etcd's drop-in.
  etcd=$({ cat /usr/lib/systemd/system/symnas-etcd.service \
    /usr/lib/systemd/system/symnas-etcd.service.d/*.conf 2>/dev/null || true; } |
    sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' | tail -n 1)
  "$etcd" --version | grep -E 'etcd Version: 3\.([5-9]|[1-9][0-9])'
  systemd-analyze verify vnfsd.service symnas-apid.service symnas-etcd.service symnas.target
  for unit in vnfsd.service symnas-etcd.service symnas.target; do
    [ "$(systemctl is-enabled "$unit")" = enabled ]
  done
  # The API over the network is off, and would run as nobody who matters.
  [ "$(systemctl is-enabled symnas-apid.service)" = disabled ]
  getent passwd symnas-api | grep -E ':/nonexistent:/usr/sbin/nologin$'
  symnas-apid --version | grep -F "$version"
  # Every verb that the help shows is completed.
  symnas --help | sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\) .*/\1/p' | while read -r verb; do
    [ -e "/usr/share/man/man1/symnas-$verb.1.gz" ]
    grep -q "\" $verb\")" /usr/share/bash-completion/completions/symnas
    grep -q "\" $verb\")" /usr/share/zsh/vendor-completions/_symnas
  done
  bash -n /usr/share/bash-completion/completions/symnas
  [ -e /usr/share/man/man1/symnas.1.gz ] && [ -e /usr/share/man/man8/vnfsd.8.gz ]
  perl -c /etc/needrestart/conf.d/symnas.conf
}

# Cockpit finds the plug-in, whose pages are complete.
console() {
  installed
  get install --no-install-recommends symnas-cockpit
  cockpit-bridge --packages | tee /tmp/said
  grep -E '^symnas .* /usr/share/cockpit/symnas$' /tmp/said
  [ "$(dpkg-query -W -f '${Architecture}' symnas-cockpit)" = all ]
  cd /usr/share/cockpit/symnas
  grep '"index"' manifest.json
  sed -n 's/.*\(src\|href\)="\([^":]*\)".*/\2/p' index.html | grep -v '^\.\./base1/' |
    while read -r file; do [ -s "$file" ]; done
  get purge symnas-cockpit
  [ ! -e /usr/share/cockpit/symnas ]
}

# ganesha loads the module and comes to the module's own complaint: no VNFS is given to it.
plugin_is_loaded() {
  cat >/tmp/ganesha.conf <<EOC
NFS_CORE_PARAM {
  Plugins_Dir = "$ganesha/lib/ganesha";
  Allow_Set_Io_Flusher_Fail = true;
  Protocols = 4;
  Enable_NLM = false;
  Enable_UDP = false;
}
CLUSTER { Instance_File = "/nonexistent/instance.json"; }
EXPORT { Export_Id = 1; Path = /x; Pseudo = /x; FSAL { Name = CLUSTER; } }
EOC
  # In a network of its own: nothing is registered on this machine.
  # shellcheck disable=SC2016  # expanded in there
  unshare --net --pid --fork --kill-child /bin/sh -c '
    ip link set lo up; rpcbind -w; until rpcinfo >/dev/null; do sleep 0.1; done
    timeout 20 "$1/bin/ganesha.nfsd" -x -F -f /tmp/ganesha.conf -p /tmp/ganesha.pid \
      -L /tmp/ganesha.log' sh "$ganesha" || true
  cat /tmp/ganesha.log
  grep 'CLUSTER: .*/nonexistent/instance.json' /tmp/ganesha.log
}

upgrades() {
  installed
  mkdir -p /etc/symnas
  echo 'an administrator wrote this' >/etc/symnas/vnfsd.toml
  echo '# and this' >>/etc/logrotate.d/symnas
  inode=$(stat -c %i "$ganesha/bin/ganesha.nfsd")
  repository next
  get -o Dpkg::Options::=--force-confold dist-upgrade
  [ "$(symnas --version)" = "symnas $next" ]
  # What runs keeps its own file.
  [ "$inode" != "$(stat -c %i "$ganesha/bin/ganesha.nfsd")" ]
  grep 'an administrator wrote this' /etc/symnas/vnfsd.toml
  grep '# and this' /etc/logrotate.d/symnas
  # All of one version: the module fits only the ganesha that it was compiled for.
  [ "$(dpkg-query -W -f '${Version}\n' symnas symnas-ganesha | sort -u | wc -l)" = 1 ]
}

# Something that runs as an instance does: the same file.
start_instance() {
  cp /bin/sleep "$ganesha/bin/ganesha.nfsd"
  "$ganesha/bin/ganesha.nfsd" 600 &
  instance=$!
}

removal_is_refused() {
  # Files, without a repository; Debian 13's etcd is Debian's.
  apt-get -q update
  mapfile -t etcd < <(find /srv/this -name 'symnas-etcd_*.deb')
  get install --no-install-recommends /srv/this/symnas_*.deb /srv/this/symnas-ganesha_*.deb \
    "${etcd[@]}"
  start_instance
  if get remove symnas; then exit 1; fi
  [ "$(dpkg-query -W -f '${db:Status-Status}' symnas)" = installed ]
  kill -0 "$instance"
  kill "$instance"
  wait "$instance" || true
  get remove symnas
}

# Programs in a folder that dpkg looks into first: stand-ins.
stand_in=/usr/local/stand-in
get_with_stand_in() { get -o "DPkg::Path=$stand_in:$PATH" "$@"; }

# dpkg gets SIGKILL when it has half of the package's files.
killed_half_way() {
  installed
  start_instance
  repository next
  mkdir "$stand_in"
  cat >"$stand_in/dpkg-deb" <<'EOS'
#!/bin/sh
case "$*" in
  *--fsys-tarfile*/symnas_*)
    /usr/bin/dpkg-deb "$@" | head -c 3000000
    sleep 1  # it has written them
    kill -KILL "$PPID" ;;
  *) exec /usr/bin/dpkg-deb "$@" ;;
esac
EOS
  chmod +x "$stand_in/dpkg-deb"
  if get_with_stand_in dist-upgrade; then exit 1; fi
  dpkg --audit | grep ' symnas '
  is_finished
}

full_var() {
  installed
  start_instance
  repository next
  mount -t tmpfs -o "size=$(($(du -sk /var | cut -f 1) + 20000))k" tmpfs /mnt
  cp -a /var/. /mnt
  mount --move /mnt /var
  dd if=/dev/zero of=/var/full bs=4k || true
  if get dist-upgrade 2>&1 | tee /tmp/said; then exit 1; fi
  grep 'No space left on device' /tmp/said
  rm /var/full
  is_finished
}

# As docs/operations/packages.md says; the instance has lived on.
is_finished() {
  dpkg --configure -a || true
  get -f install
  get dist-upgrade
  [ -z "$(dpkg --audit)" ]
  [ "$(symnas --version)" = "symnas $next" ]
  kill -0 "$instance"
  readlink "/proc/$instance/exe" | grep "^$ganesha/bin/ganesha.nfsd (deleted)"
}

# The packages of the other release.
other_release_is_refused() {
  repository other
  if get install symnas >/tmp/said 2>&1; then exit 1; fi
  cat /tmp/said
  grep -E 'Depends: lib[^ ]* .*(not installable|not going to be installed|is to be installed)' \
    /tmp/said
  [ ! -e /usr/sbin/vnfsd ]
}

# Answers as in a cluster of that level.
cluster_has_level() {
  mkdir -p "$stand_in"
  printf '#!/bin/sh\necho "{\\"cluster\\": {\\"level\\": %s, \\"level_possible\\": 99}}"\n' "$1" \
    >"$stand_in/symnas"
  chmod +x "$stand_in/symnas"
}

downgrade_goes_by_level() {
  repository next
  get install --no-install-recommends symnas
  level=$(vnfsd --version | sed 's/.*, level //')
  repository this
  former=("symnas=$version-*" "symnas-ganesha=$version-*")
  cluster_has_level "$level"
  if get_with_stand_in --allow-downgrades install "${former[@]}" 2>&1 | tee /tmp/said; then
    exit 1
  fi
  grep "symnas: this cluster has records of level $level" /tmp/said
  [ "$(symnas --version)" = "symnas $next" ]
  [ "$(dpkg-query -W -f '${db:Status-Status} ${Version}\n' symnas symnas-ganesha | sort -u)" = \
    "installed $(dpkg-query -W -f '${Version}' symnas)" ]
  cluster_has_level $((level - 1))
  get_with_stand_in --allow-downgrades install "${former[@]}"
  [ "$(symnas --version)" = "symnas $version" ]
}

files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev \) -prune -o -print | LC_ALL=C sort
}

removes_and_purges() {
  repository this
  get install --no-install-recommends --download-only symnas symnas-doc
  # What other packages bring is not to be told apart: they come first.
  depends=$(apt-get -s install --no-install-recommends symnas symnas-doc |
    sed -n 's/^Inst \([^ ]*\).*/\1/p' | grep -v '^symnas')
  # shellcheck disable=SC2086  # package names are words
  get install --no-install-recommends $depends
  files >/tmp/before
  installed
  mkdir -p /etc/symnas/tls /var/lib/symnas/etcd /var/log/symnas
  touch /etc/symnas/tls/ca.key /var/lib/symnas/etcd/member /var/log/symnas/vnfs1.log
  get remove symnas symnas-ganesha symnas-doc 'symnas-etcd*'
  [ -e /var/log/symnas/vnfs1.log ] && [ ! -e /usr/sbin/vnfsd ]
  get purge symnas symnas-ganesha symnas-doc 'symnas-etcd*' 2>&1 | tee /tmp/said
  grep 'left in place.*/etc/symnas' /tmp/said
  grep 'left in place.*/var/lib/symnas' /tmp/said
  files >/tmp/after
  # Caches and records of apt, dpkg and man are theirs.
  comm -13 /tmp/before /tmp/after | grep -vE '^/(var/(lib|cache|log)/(dpkg|apt|man|ucf)|tmp)' |
    tee /tmp/more
  diff /tmp/more - <<EOF2
/etc/symnas
/etc/symnas/tls
/etc/symnas/tls/ca.key
/var/lib/symnas
/var/lib/symnas/etcd
/var/lib/symnas/etcd/member
EOF2
}

"$case"
