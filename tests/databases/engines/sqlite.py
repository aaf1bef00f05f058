"""SQLite: two writers on one file, over mounts of two versions."""

from engine_case import engine_case, waits
from lab_case import check

SECONDS = 30
LOGS = ("sqlite-a.acked", "sqlite-b.acked", "sqlite-c.acked")


def mounts(place, guest):
    """The file over NFSv4.2 and over NFSv3: locks of one are seen by the other."""
    service = place.services[0]
    first = guest.mount_at("sqlite42", service, "vers=4.2,nosharecache")
    second = guest.mount_at("sqlite3", service, "vers=3,lock,nosharecache")
    guest.empty_folder(f"{first}/sqlite")
    return [f"{path}/sqlite/bench.db" for path in (first, second)]


def judge(guest, path, *logs):
    rows = guest.check_rows("sqlite", path, *logs)
    found = guest.as_database(f"sqlite3 {path} 'pragma integrity_check'")
    check(found == "ok", f"integrity_check: {found}")
    return rows


@engine_case(short=True)
def sqlite_moves_crash_kill(place, guest):
    """A move and a crash of the head under two writers, then SIGKILL of one of them."""
    over42, over3 = mounts(place, guest)
    with guest.write_rows("sqlite", over42, LOGS[0], SECONDS, first=0, step=2) as one, \
            guest.write_rows("sqlite", over3, LOGS[1], SECONDS, first=1, step=2) as other:
        one.let_run(4)
        place.move(place.services[0], "c1n2")
        one.let_run(4)
        place.crash("c1n2")
        one.end()
        other.end()
    with guest.write_rows("sqlite", over42, LOGS[2], 60, first=1_000_000) as killed:
        killed.let_run(3)
        guest.kill_server("python3.11")
    rows = judge(guest, over3, *LOGS)
    return f"{rows} acknowledged rows found; NFSv4.2: {waits(guest, place, LOGS[0])}; " \
           f"NFSv3: {waits(guest, place, LOGS[1])}"
