"""A cluster with so small a quota of etcd that it runs out."""

QUOTA_BYTES = 16 << 20
LEVEL_DEADLINE_S = 60.0
