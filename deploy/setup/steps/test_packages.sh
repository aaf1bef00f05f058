# Debian packages of test_packages.txt: QEMU, and what the checks of the source use.

. "$top/deploy/setup/steps/packages.sh"
