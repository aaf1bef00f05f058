"""MariaDB with InnoDB: all of its files on one VNFS."""

import contextlib
import re

from engine_case import Fire, engine_case, told, waits
from lab_case import check, eventually

PROGRAM = "mariadbd"
FOLDER = "/mnt/mysql"
LOG = "/run/notes/mariadb.log"
SOCKET = "/tmp/mariadb.sock"
OPTIONS = "--defaults-file=/run/inside/my.cnf"
INSTALL_S = 180.0
START_S = 120.0
CHECK_S = 180.0
SYSBENCH = f"sysbench oltp_read_write --db-driver=mysql --mysql-socket={SOCKET} " \
           "--mysql-user=root --mysql-db=bench --tables=2 --table-size=10000 --threads=4"
BAD = r"\[(Warning|ERROR)\]|InnoDB: (Error|Operating system error)|got signal"
# A small machine; connections of programs that were killed; a crash that was meant.
USUAL = r"max_open_files|Changed limits|Aborted connection|no InnoDB redo log|io_uring|" \
        r"--skip-(networking|name-resolve)|InnoDB: (Starting crash recovery|Starting final batch)"
TPS = re.compile(r"transactions: +\d+ +\(([\d.]+) per sec")
ERRORS = re.compile(r"(?:ignored errors|reconnects): +(\d+)")
OK = re.compile(r"^\S+ +OK$")


class MariaDb:
    def __init__(self, place, guest):
        self.guest = guest
        self.service = place.services[2]
        guest.mount_at("mysql", self.service, "vers=4.1")
        self.data = guest.empty_folder(f"{FOLDER}/db")
        guest.as_database(f"mariadb-install-db {OPTIONS} --datadir={self.data} "
                          "--auth-root-authentication-method=normal --skip-test-db >/dev/null",
                          INSTALL_S)

    def start(self):
        self.guest.run(f"setsid as_database mariadbd {OPTIONS} --datadir={self.data} "
                       f">>/db{LOG} 2>&1 </dev/null &")

        def answers():
            return self.guest.vm.run(f"as_database mariadb -u root -S {SOCKET} -e 'select 1'",
                                     30.0).status == 0
        eventually(START_S, "MariaDB answers", answers)

    def kill(self):
        self.guest.kill_server(PROGRAM)

    def sql(self, text):
        return self.guest.as_database(f'mariadb -u root -S {SOCKET} -BNe "{text}"')

    def fill(self):
        self.sql("create database bench")
        self.guest.as_database(f"{SYSBENCH} prepare >/dev/null", START_S)

    def load(self, seconds):
        return self.guest.beside(f"{SYSBENCH} --time={seconds:.0f} run", "sysbench")

    def judge(self):
        """CHECK TABLE, also of each index, of all tables."""
        lines = self.guest.as_database(
            f"mariadb-check -u root -S {SOCKET} --all-databases --check --extended",
            CHECK_S).splitlines()
        bad = [line for line in lines if not OK.match(line)]
        check(lines and not bad, f"CHECK TABLE: {told(bad)}")

    def complaints(self):
        return self.guest.found_in(LOG, BAD, USUAL)


def transactions_per_second(output):
    """Of sysbench, none of whose calls has failed."""
    check(sum(map(int, ERRORS.findall(output))) == 0, f"calls failed: {output}")
    return float(TPS.search(output)[1])


@contextlib.contextmanager
def mariadb(place, guest):
    """A server with sysbench's tables, up."""
    server = MariaDb(place, guest)
    try:
        server.start()
        server.fill()
        yield server
    finally:
        server.kill()


@engine_case()
def mariadb_moves_crash_kill(place, guest):
    """A move, a crash of the head, then SIGKILL of the server."""
    with mariadb(place, guest) as server:
        with Fire(server, guest, "mariadb", SOCKET, 45) as fire:
            place.move(server.service, "c1n2")
            fire.let_run(8)
            place.crash("c1n2")
        bad = server.complaints()
        check(not bad, f"the server said: {told(bad)}")
        fire.kill_and_start()
        bad = server.complaints()
        check(not bad, f"the server said: {told(bad)}")
        rows = guest.check_rows("mariadb", SOCKET, *fire.logs)
        server.judge()
        return f"{transactions_per_second(fire.output):.1f} transactions/s, {rows} acknowledged " \
               f"rows found; {waits(guest, place, fire.logs[0])}"
