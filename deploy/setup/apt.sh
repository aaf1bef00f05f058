# apt with private lists: packages of another Debian release, from the mirror that this machine is
# configured for, without touching the machine's own sources or package state. Sourced by the steps.

# Prints the base URI of the machine's Debian mirror, e.g. what stands before "/dists/bookworm".
# The mirror is read from apt itself, so both source formats and any proxy settings work.
debian_mirror() {
  # The machine's own release; an "-updates" or security suite may live elsewhere.
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get --print-uris update 2>/dev/null |
    sed -n "s#^'\(.*\)/dists/$codename/InRelease'.*#\1#p" | head -n 1
}

# private_apt_init DIR SUITE: writes DIR/sources.list and fetches the lists of SUITE into DIR.
private_apt_init() {
  private_apt=$1
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || die "apt knows no Debian mirror: check /etc/apt/sources.list*"
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p "$private_apt/lists/partial" "$private_apt/cache/archives/partial"
  for type in deb deb-src; do
    echo "$type [signed-by=$keyring arch=amd64] $mirror $2 main"
  done >"$private_apt/sources.list"
  private_apt_get -q update
}

# The options keep every file of apt's inside $private_apt; other machine settings stay in force.
private_apt_options() {
  echo "-o Dir::Etc::sourcelist=$private_apt/sources.list -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferencesparts=/dev/null -o Dir::State::Lists=$private_apt/lists
    -o Dir::Cache=$private_apt/cache -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    -o APT::Sandbox::User=root -o Acquire::Retries=3"
}

private_apt_get() {
  # shellcheck disable=SC2046  # the options are words without blanks
  apt-get $(private_apt_options) "$@"
}

# verify_sha256 FILE SUM: fails with the file's name when the bytes are not the pinned ones.
verify_sha256() {
  echo "$2  $1" | sha256sum --check --quiet || die "$1 is not the pinned file: expected SHA-256 $2"
}
