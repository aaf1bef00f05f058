# Debian packages that the fuzz targets (tests/fuzz) need: packages/fuzz.txt.
list=$here/packages/fuzz.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
