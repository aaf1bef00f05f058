# Debian packages that the tests of completion and manual pages (tests/shells) need:
# packages/shells.txt.
list=$here/packages/shells.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
