# Debian packages with which machines are booted (tests/machines): packages/machines.txt.
list=$here/packages/machines.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
