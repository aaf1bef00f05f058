"""DuckDB: scans of a file, and a writer."""

import json

from engine_case import engine_case, waits
from lab_case import Skip, check

SECONDS = 35
LOGS = ("duckdb.acked", "duckdb-killed.acked")


@engine_case()
def duckdb_scans(place, guest):
    """Scans over NFSv4.2 and NFSv3 find the same through a move and a crash; a writer is killed."""
    if not guest.has("/usr/lib/python3/dist-packages/duckdb"):
        raise Skip("DuckDB is not there: its registry was not reached by deploy/setup/setup")
    service = place.services[1]
    over42 = guest.mount_at("duck42", service, "vers=4.2,nosharecache") + "/duck"
    guest.empty_folder(over42)
    over3 = guest.mount_at("duck3", service, "vers=3,nosharecache") + "/duck"
    checksum = guest.as_database(f"scans make {over42}/scanned.db", 300.0).splitlines()[-1]
    scans = f"scans read {{}}/scanned.db --sum {checksum} --seconds {SECONDS}"
    written = f"{over42}/written.db"
    with guest.beside(scans.format(over42), "scans over NFSv4.2", "scans") as one, \
            guest.beside(scans.format(over3), "scans over NFSv3", "scans") as other, \
            guest.write_rows("duckdb", written, LOGS[0], SECONDS - 2) as writer:
        writer.let_run(4)
        place.move(service, "c1n3")
        writer.let_run(4)
        place.crash("c1n3")
        writer.end()
        found = [json.loads(scan.end().splitlines()[-1]) for scan in (one, other)]
    with guest.write_rows("duckdb", written, LOGS[1], 60, first=1_000_000) as killed:
        killed.let_run(3)
        guest.kill_server("python3.11")
    rows = guest.check_rows("duckdb", written, *LOGS)
    check(all(each["scans"] > 1 for each in found), f"too few scans: {found}")
    return f"{found[0]['scans']} + {found[1]['scans']} scans of {found[0]['mib']:.0f} MiB found " \
           f"the same, {rows} acknowledged rows found; {waits(guest, place, LOGS[0])}"
