"""Building blocks of the lab cluster: namespaces, processes, LUN files, etcd, heads, state."""
