"""What a scrape costs: the first one of a fleet, one at which nothing changed, and one after some probes.

    python bench/metrics.py [--servers 1000] [--changed 20] [--path fleet.db]

The database is that of fleet_db.py, with a short history; ``--path`` names one that is already there.
"""

import argparse
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from bench.fleet_db import build
from driftwatch.store.ports import Reader
from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.metrics import service
from driftwatch.web.metrics.exposition import exposition
from driftwatch.web.metrics.fleet import FleetMetrics
from driftwatch.web.vitals import Vitals

ROUNDS = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--servers", type=int, default=1000)
    parser.add_argument("--changed", type=int, default=20)
    parser.add_argument("--path", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.path or Path(folder) / "fleet.db"
        if options.path is None:
            build(path, servers=options.servers, days=1, minutes=60, tools=5)
        store = SqliteStore.open_readonly(path)
        fleet = FleetMetrics()
        with store.read() as reader:
            first, text = timed(fleet, store, reader)
            again = statistics.median(timed(fleet, store, reader)[0] for _ in range(ROUNDS))
            some = statistics.median(changed(fleet, store, reader, options.changed) for _ in range(ROUNDS))
        store.close()
    series = sum(not line.startswith(b"#") for line in text.splitlines())
    print(f"{series} series, {len(text) / 2**20:.1f} MiB")
    print(
        f"first scrape {first:.0f} ms; nothing changed {again:.1f} ms; {options.changed} probed {some:.1f} ms"
    )


def changed(fleet: FleetMetrics, store: SqliteStore, reader: Reader, number: int) -> float:
    for name in list(fleet._told)[:number]:  # noqa: SLF001 - as if these had been probed meanwhile
        del fleet._told[name]  # noqa: SLF001
    return timed(fleet, store, reader)[0]


def timed(fleet: FleetMetrics, store: SqliteStore, reader: Reader) -> tuple[float, bytes]:
    """Milliseconds of one scrape, and its text."""
    now = datetime.now(UTC)
    began = time.perf_counter()
    fleet.update(reader, now, full=True)
    about = service.families(
        Vitals(started_at=now, config_loaded_at=now),
        servers=len(fleet),
        overdue=reader.overdue(now),
        channels=["ops"],
        backlog=reader.backlog(),
        database_bytes=store.size(),
    )
    text = exposition([*about, *fleet.families()])
    return 1000 * (time.perf_counter() - began), text


if __name__ == "__main__":
    main()
