# Debian packages that building symnas and a lab need: packages/build.txt. The steps vm and checks
# are the same with lists of their own.
list=${list:-$here/packages/build.txt}

missing_packages() {
  while read -r package; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || echo "$package"
  done <"$list"
}

step_present() { [ -z "$(missing_packages)" ]; }

step_run() { install_missing; }

install_missing() {
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  # Services of the packages (rpcbind, ...) must not start on this machine.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
    trap 'rm -f "$policy"' EXIT
  fi
  export DEBIAN_FRONTEND=noninteractive
  install="apt-get install -q -y --no-install-recommends -o Acquire::Retries=3 -o Dpkg::Use-Pty=0"
  # shellcheck disable=SC2086  # package names are words
  $install $missing || { apt-get -q update && $install $missing; }
}
