# Debian packages that the checks of the tree and deploy/setup/fresh need: packages/checks.txt.
list=$here/packages/checks.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
