"""The threads of database nodes, as jobs of dnfs_client name them: OLTP, decision support, redo."""

MIB = 1 << 20
K8 = 8 << 10
REDO_BYTES = 16 << 10  # log writer: what some transactions that commit at once have written


def thread(name, file, mode, block_bytes, size_bytes, depth, **more):
    return {"name": name, "file": file, "mode": mode, "block_bytes": block_bytes, "depth": depth,
            "size_bytes": size_bytes, "offset_bytes": 0, "rate_bytes_s": 0, "think_ms": 0,
            "seed": 1, "verify": True, "writers": 1, "writer": 0, "read_percent": 0, **more}


def create(name, file, size_bytes, depth=4, **more):
    """Writes a new file from its beginning to its end."""
    return thread(name, file, "create", MIB, size_bytes, depth, **more)


def create_for(name, file, size_bytes, block_bytes):
    """Threads that make a file which others will read and write in blocks of that size.

    A file has marks in units of the smallest block that a thread of the job writes to it: so a
    second thread writes one such block.
    """
    made = [create(name, file, size_bytes)]
    if block_bytes < MIB:
        made.append(thread(f"{name}.unit", file, "create", block_bytes, block_bytes, 1))
    return made


def scan(name, file, size_bytes, depth=4, **more):
    """Reads 1 MiB after 1 MiB, over and over."""
    return thread(name, file, "seqread", MIB, size_bytes, depth, **more)


def probe(name, file, size_bytes, depth=4, **more):
    """Reads 1 MiB here and there: partitions that a query touches."""
    return thread(name, file, "read", MIB, size_bytes, depth, **more)


def temp(name, file, size_bytes, depth=2, **more):
    """Sorts and joins that do not fit into memory: 1 MiB writes in sequence."""
    return thread(name, file, "seqwrite", MIB, size_bytes, depth, **more)


def data(name, file, size_bytes, read_percent, depth=16, **more):
    """OLTP on a datafile: 8 KiB here and there, so many percent of them reads."""
    return thread(name, file, "mix", K8, size_bytes, depth, read_percent=read_percent, **more)


def redo(name, file, size_bytes, rate_bytes_s, **more):
    """The log writer: one write after another, as many as the transactions ask for."""
    return thread(name, file, "seqwrite", REDO_BYTES, size_bytes, 1, rate_bytes_s=rate_bytes_s,
                  **more)
