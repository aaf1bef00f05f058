# Debian packages with which playbooks are run against booted machines: packages/ansible.txt.
list=$here/packages/ansible.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
