"""How long things may take, and how long they are left alone, in several cases."""

# READ and in-place WRITE go on: far above a busy machine's hiccups.
UNDISTURBED_MS = 2000.0
# Of metadata while etcd elects a leader, on whatever head; a machine that starves the leader makes
# etcd elect also when only a follower was killed.
ELECTION_MS = 2500.0
PAUSE_S = 15.0
BETWEEN_S = 1.5
TAKEN_OVER_S = 30.0
# What clients wait for at most, also on a busy machine; how long it takes: make bench-failover.
MOVED_MS = 3_000.0
CRASHED_MS = 8_000.0
HEARD_S = 5.0  # every head has heard every other one for a while, and would be missed
# --- NFSv4
LEASE_S = 20  # lease_s of vnfsd.toml
SILENT_S = 15.0  # 8 s of the gate, 1 s until the VIPs go, and a busy machine
BACK_S = 3.0
STEADY_S = 12.0  # longer than a head is missed, and than a gate's window
ILL_S = 30.0  # a LUN is ill, all heads that have the fault have said so, the move
