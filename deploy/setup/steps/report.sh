# Debian packages in which `make report` looks at its page: packages/report.txt.
list=$here/packages/report.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
