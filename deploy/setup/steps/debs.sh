# Debian packages with which packages are made and tested: packages/debs.txt.
list=$here/packages/debs.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
