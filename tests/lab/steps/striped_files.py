"""Files that lie on all LUNs of a lab with four of them."""

STRIPE = 256 << 10  # one on each LUN
FILE_BYTES = 4 * STRIPE


def prepared_file(shell, name):
    """A file of 'a' over all LUNs."""
    shell.expect("NFS3_OK", "create", name)
    shell.expect("NFS3_OK", "write", name, 0, FILE_BYTES, "a", "stable")
    shell.expect("NFS3_OK", "read", name, 0, FILE_BYTES, "a")
