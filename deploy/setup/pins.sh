# What is taken from Debian 13 by exact version and checksum, and from the machine's own Debian by
# name. Sourced by the set-up steps.

pinned_suite=trixie

ganesha_source=nfs-ganesha
ganesha_tarball=nfs-ganesha_6.5.orig.tar.gz
ganesha_sha256=ece6cf138dd8602f33294eee75233051229867ea7fd1b3f7d6545e989303bfd9
ntirpc_source=ntirpc
ntirpc_tarball=ntirpc_6.3.orig.tar.gz
ntirpc_sha256=4caf7de4a6bd2de85b3f538a7f137852dcdcdea0b841e44fb3f73293cd7bf5b4

etcd_packages="etcd-server etcd-client"
etcd_upstream=3.5.16

# Debian moves the kernel's version with every security update: taken by name from the machine's own
# release, verified by apt's signatures.
kernel_package=linux-image-amd64
