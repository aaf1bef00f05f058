# Debian packages that client VMs under QEMU need: packages/vm.txt.
list=$here/packages/vm.txt
# shellcheck source=packages.sh
. "$here/steps/packages.sh"
