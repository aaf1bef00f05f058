# A Kerberos KDC and what clients with tickets run (rpc.gssd, kinit), as the machine's Debian
# packages them, and GSS-API for tests in Python: unpacked into $cache/kerberos, not installed.

kerberos_packages="krb5-kdc krb5-admin-server krb5-user libgssrpc4 libkadm5clnt-mit12
  libkadm5srv-mit12 libkdb5-10 libverto1 libverto-libev1 libev4 libevent-core-2.1-7 libkeyutils1
  nfs-common python3-gssapi python3-decorator"
kerberos_programs="usr/sbin/krb5kdc usr/sbin/kadmin.local usr/sbin/kdb5_util usr/sbin/rpc.gssd
  usr/bin/kinit usr/bin/klist usr/bin/kdestroy usr/bin/ktutil"

step_present() {
  for program in $kerberos_programs; do
    [ -x "$cache/kerberos/$program" ] || return 1
  done
  [ -e "$cache/kerberos/usr/lib/python3/dist-packages/gssapi/__init__.py" ]
}

step_run() {
  # Lists that are missing or older than the mirror: fetch them and try once more.
  download_kerberos || { apt-get -q update; download_kerberos; }
  for package in *.deb; do dpkg-deb -x "$package" new; done
  rm -rf "$cache/kerberos"
  mv new "$cache/kerberos"
}

download_kerberos() {
  # shellcheck disable=SC2086  # package names are words
  apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=3 download $kerberos_packages
}
