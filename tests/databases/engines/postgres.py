"""PostgreSQL: its data on one VNFS, its WAL on another one."""

import contextlib
import re

from engine_case import Fire, engine_case, told, waits
from lab_case import check

PROGRAM = "postgres"
DATA = "/mnt/pgdata"
WAL = "/mnt/pgwal"
LOG = "/run/notes/postgres.log"
NEW = "/run/postgres-new"
TARGET = "'host=/tmp user=database dbname=bench'"
CONNECT = "-h /tmp -U database"
CLIENTS = 4
SCALE = 3
START_S = 120.0
CHECK_S = 180.0
# What the server says of errors of its own, of files, and of a client that it had to refuse.
BAD = r"(WARNING|ERROR|FATAL|PANIC):"
# A writer that is early for the server that was started again; what is left of the killed one.
AFTER_KILL = r"FATAL:  (the database system is (starting up|not yet accepting|in recovery)|" \
             r"terminating connection due to unexpected postmaster exit)"
SUMS = "select (select sum(abalance) from pgbench_accounts), " \
       "(select sum(tbalance) from pgbench_tellers), (select sum(bbalance) from " \
       "pgbench_branches), (select coalesce(sum(delta), 0) from pgbench_history)"
TPS = re.compile(r"tps = ([\d.]+)")
METHOD = re.compile(r"(?m)^ +(\w+) +([\d.]+) ops/sec")
SYNC_MAX_S = 120.0
SEGMENTS_KEPT = 10  # at most: max_wal_size of inside/postgresql.conf, and two
FAILED = re.compile(r"number of failed transactions: (\d+)")


class Postgres:
    def __init__(self, place, guest):
        self.guest = guest
        self.data_service, self.wal_service = place.services[:2]
        guest.mount_at("pgdata", self.data_service, "vers=4.2")
        guest.mount_at("pgwal", self.wal_service, "vers=4.2")
        self.data, wal = f"{DATA}/db", f"{WAL}/wal"
        for path in (self.data, wal):
            guest.empty_folder(path)
        if guest.has(NEW):
            guest.as_database(f"sh -c 'cp -a {NEW}/db/. {self.data} && cp -a {NEW}/wal/. {wal}'",
                              START_S)
        else:
            self._make(self.data, wal)

    def _make(self, data, wal):
        """initdb takes a while in the VM: what it has made is kept there for the next case."""
        self.guest.as_database(f"initdb -D {data} -X {wal} --data-checksums --no-locale -E UTF8 "
                               "-A trust >/dev/null", START_S)
        self.guest.as_database(f"sh -c 'cat /run/inside/postgresql.conf >>{data}/postgresql.conf'")
        self.guest.as_database(f"sh -c 'mkdir {NEW} && cp -a {data} {wal} {NEW}/'")

    def start(self):
        self.guest.as_database(f"pg_ctl start -w -t {START_S:.0f} -s -D {self.data} -l {LOG}",
                               START_S)

    def stop(self):
        self.guest.as_database(f"pg_ctl stop -w -m fast -s -D {self.data}", START_S)

    def kill(self):
        self.guest.kill_server(PROGRAM)

    def mount_data_again(self, options):
        """Stops the server, mounts its data with other options, and starts it."""
        self.stop()
        self.guest.run(f"umount /db{DATA}")
        self.guest.mount_at("pgdata", self.data_service, options)
        self.start()

    def use_up_wal(self):
        """From now on every segment is a new file: what was kept for use is used, and no segment is
        used again."""
        self.sql("alter system set wal_keep_size = '1GB'")
        self.sql("select pg_reload_conf()")
        self.sql("select pg_create_restore_point('x'), pg_switch_wal() "
                 f"from generate_series(1, {SEGMENTS_KEPT})")

    def is_up(self):
        return self.guest.vm.run(f"as_database pg_isready -q {CONNECT} -d bench", 30.0).status == 0

    def sql(self, text, database="bench"):
        return self.guest.as_database(f'psql {CONNECT} -d {database} -qAtc "{text}"')

    def fill(self):
        self.guest.as_database(f"createdb {CONNECT} bench")
        self.guest.as_database(f"pgbench {CONNECT} -q -i -s {SCALE} bench", START_S)
        self.sql("create extension amcheck")

    def load(self, seconds):
        return self.guest.beside(
            f"pgbench {CONNECT} -n -c {CLIENTS} -j 1 -T {seconds:.0f} bench", "pgbench")

    def judge(self):
        """Indexes and tables agree, every page has its checksum, the sums are those of TPC-B."""
        self.guest.as_database(f"pg_amcheck {CONNECT} --heapallindexed --parent-check "
                               "bench", CHECK_S)
        sums = self.sql(SUMS).split("|")
        check(len(set(sums)) == 1, f"sums of balances differ: {sums}")

    def judge_at_rest(self):
        self.stop()
        self.guest.as_database(f"pg_checksums --check -D {self.data} >/dev/null", CHECK_S)

    def complaints(self, but=None):
        return self.guest.found_in(LOG, BAD, but)


def transactions_per_second(output):
    """Of pgbench, of whose transactions none has failed."""
    failed = FAILED.search(output)
    check(failed and failed[1] == "0", f"transactions failed: {output}")
    return float(TPS.search(output)[1])


@contextlib.contextmanager
def postgres(place, guest):
    """A server with pgbench's tables, up."""
    server = Postgres(place, guest)
    server.start()
    try:
        server.fill()
        yield server
    finally:
        server.kill()


@engine_case(short=True, whole=False)
def postgres_moves(place, guest):
    """A move of both VNFSs under 20 s of pgbench: no transaction fails, none is lost."""
    with postgres(place, guest) as server:
        with server.load(20) as load, \
                guest.write_rows("postgres", TARGET, "pg.log", 18) as writer:
            writer.let_run(5)
            place.move(server.data_service, "c1n3")
            place.move(server.wal_service, "c1n3")
            tps = transactions_per_second(load.end())
            writer.end()
        return _judged(place, guest, server, tps, "pg.log")


@engine_case()
def postgres_moves_crash_kill(place, guest):
    """Moves, a crash of the head that has both VNFSs, then SIGKILL of the server."""
    with postgres(place, guest) as server:
        with Fire(server, guest, "postgres", TARGET, 45) as fire:
            place.move(server.data_service, "c1n3")
            place.move(server.wal_service, "c1n3")
            fire.let_run(8)
            place.crash("c1n3")
        check(not server.complaints(), f"the server said: {told(server.complaints())}")
        fire.kill_and_start()
        return _judged(place, guest, server, transactions_per_second(fire.output), *fire.logs)


@engine_case()
def postgres_sync_methods(place, guest):
    """What one write of 8 KiB and each wal_sync_method gives (pg_test_fsync)."""
    folder = guest.mount_at("pgwal", place.services[1], "vers=4.2") + "/sync"
    guest.empty_folder(folder)
    output = guest.as_database(f"pg_test_fsync -s 1 -f {folder}/file", SYNC_MAX_S)
    found = METHOD.findall(output.split("two 8kB writes")[0])
    check({method for method, _ in found} >= {"fdatasync", "open_datasync"}, output)
    return ", ".join(f"{method} {rate}" for method, rate in found) + " operations/s"


def _judged(place, guest, server, tps, *logs):
    bad = server.complaints(AFTER_KILL if len(logs) > 1 else None)
    check(not bad, f"the server said: {told(bad)}")
    rows = guest.check_rows("postgres", TARGET, *logs)
    server.judge()
    server.judge_at_rest()
    return f"{tps:.0f} transactions/s, {rows} acknowledged rows found; " \
           f"{waits(guest, place, logs[0])}"
