"""Exit statuses of symnas (docs/operations/commands.md)."""

USAGE = 2
NOT_FOUND = 3
EXISTS = CONFLICT = 4
UNREACHABLE = 5
NOT_PERMITTED = 7
FINDINGS = 8  # of fs check, oranfstab --check
