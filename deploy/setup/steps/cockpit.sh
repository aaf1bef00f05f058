# Debian packages that show the web console: Cockpit, and a browser for its tests:
# packages/cockpit.txt.
list=$here/packages/cockpit.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
