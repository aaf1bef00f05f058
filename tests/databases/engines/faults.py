"""PostgreSQL while its servers are away, and on a full filesystem."""

import re

from engine_case import engine_case, told, waits
from engines.postgres import CONNECT, DATA, LOG, TARGET, WAL, postgres
from lab_case import check

AWAY_S = 60
GROWTH = "128M"
ROWS = 25_000
# A table of 25 MB, in one transaction: more than a segment of WAL.
BIG = "create table if not exists {table} as select i, repeat(md5(i::text), 30) as text " \
      "from generate_series(1, {rows}) as i"
# Large pieces, then what is left in small ones.
FILL = """
dd if=/dev/zero of=/db{path}/filler bs=1M conv=fsync 2>&1
dd if=/dev/zero of=/db{path}/filler bs=8k conv=fsync,notrunc oflag=append 2>&1
df -k /db{path} | tail -n 1
"""
FILL_S = 240.0
NO_SPACE = "No space left on device"
# What a server says of its end and of its recovery after that.
OF_THE_END = f"{NO_SPACE}|terminating connection|in recovery|starting up|not yet accepting"
TIME = re.compile(r"^.*?\] ")  # before what a line of the log says


class Full:
    """Fills a filesystem under a server, sees what it says, and has the volume grow."""

    def __init__(self, place, guest, server):
        self.place = place
        self.guest = guest
        self.server = server
        self.logs = []

    def write_some(self):
        self.logs.append(f"full-{len(self.logs)}.log")
        with self.guest.write_rows("postgres", TARGET, self.logs[-1], 4,
                                   first=1_000_000 * len(self.logs)) as writer:
            writer.end()

    def fill(self, path, service, table):
        """Returns whether the server is still up, and what it has written about it, worst last."""
        self.write_some()
        filled = self.guest.vm.run(FILL.format(path=path), FILL_S).output
        check(NO_SPACE in filled, f"the filesystem was not filled: {filled}")
        before = len(self.guest.found_in(LOG, NO_SPACE))
        create = BIG.format(table=table, rows=ROWS)
        # On a mount without `sync` the transaction may pass, and what it wrote have no place later.
        done = self.guest.vm.run(f"as_database psql {CONNECT} -d bench -v ON_ERROR_STOP=1 "
                                 f"-c \"{create}\" -c checkpoint", FILL_S)
        check(done.status != 0, f"{path} is full, and yet there was space: {filled}")
        up = self.server.is_up()
        lines = [TIME.sub("", line) for line in self.guest.found_in(LOG, NO_SPACE)[before:]]
        check(lines, f"the server does not say why it failed: {done.output}")
        self._go_on(up, service, create)
        check(self.server.sql(f"select count(*) from {table}") == str(ROWS), f"{table} lost rows")
        said = {line.split(":")[0]: line for line in sorted(lines)}
        return up, " | ".join(said.values())

    def _go_on(self, up, service, create):
        self.place.grow(service, GROWTH)
        if not up:
            self.server.kill()
            self.server.start()
        self.server.sql(create)
        self.write_some()

    def judge(self):
        """Nothing that was acknowledged is lost; returns the number of rows."""
        rows = self.guest.check_rows("postgres", TARGET, *self.logs)
        self.server.judge()
        bad = self.server.complaints(OF_THE_END)
        check(not bad, f"the server said: {told(bad)}")
        return rows


@engine_case()
def postgres_full(place, guest):
    """Full filesystems: of the data on a mount with `sync`, of the data as usual, of the WAL. The
    server says why, and has lost nothing when the volume has grown."""
    with postgres(place, guest) as server:
        full = Full(place, guest, server)
        server.mount_data_again("vers=4.2,sync")
        up, with_sync = full.fill(DATA, server.data_service, "one")
        check(up, f"the server has ended, with `sync`: {with_sync}")
        server.mount_data_again("vers=4.2")
        data_up, data = full.fill(DATA, server.data_service, "two")
        server.use_up_wal()
        wal_up, wal = full.fill(WAL, server.wal_service, "three")
        check(not wal_up and "PANIC" in wal, f"the WAL is full: {wal}")
        rows = full.judge()
        return f"sync, stays up: {with_sync}; data, {'stays up' if data_up else 'ends'}: {data}; " \
               f"WAL, ends: {wal}; {rows} acknowledged rows found"


@engine_case()
def postgres_server_away_for_a_minute(place, guest):
    """No VIP can be reached for a minute: the server waits, and goes on by itself."""
    with postgres(place, guest) as server:
        with server.load(AWAY_S + 30) as load, \
                guest.write_rows("postgres", TARGET, "away.log", AWAY_S + 28) as writer:
            writer.let_run(5)
            with place.unreachable():
                writer.let_run(AWAY_S)
            load.end()
            check('"lost": 0' in writer.end(), "connections were lost")
        bad = server.complaints()
        check(not bad, f"the server said: {told(bad)}")
        rows = guest.check_rows("postgres", TARGET, "away.log")
        server.judge()
        return f"{rows} acknowledged rows found; {waits(guest, place, 'away.log')}"
