"""What a probe that changes nothing costs the store: commits per second, CPU, bytes on disk.

    python bench/store.py [--servers 100] [--probes 20000] [--checks 45] [--tools 30]

Every server gets its baseline (all states, one tool list), then the probes go round the servers. ``disk`` is
what the file grew by, the write-ahead log folded in.
"""

import argparse
import tempfile
import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from driftwatch.model import (
    Certificate,
    Depth,
    Era,
    Fingerprint,
    ProbeRequest,
    Report,
    Result,
    State,
    SurfaceSummary,
    Trigger,
)
from driftwatch.store.ports import RunRecord, Schedule, ServerRecord
from driftwatch.store.sqlite import SqliteStore
from driftwatch.toolset import ToolsetRecord
from driftwatch.transitions import Changes, Interval, Memory, SubjectState

START = datetime(2026, 8, 1, tzinfo=UTC)
PRINT = Fingerprint(algorithm="dw1", contract="a" * 64, surface="b" * 64, checklist="c" * 64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, default in (("servers", 100), ("probes", 20000), ("checks", 45), ("tools", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        store = SqliteStore(path)
        store.migrate()
        measure(store, options)


def measure(store: SqliteStore, options: argparse.Namespace) -> None:
    names = [f"server-{number:05}" for number in range(options.servers)]
    records = [
        ServerRecord(
            name=name,
            url=f"https://{name}.example/mcp",
            host=f"{name}.example:443",
            credential="token",
            revision="r1",
            next_due_at=START,
            next_full_at=START,
        )
        for name in names
    ]
    with store.write() as tx:
        tx.import_servers(records, START)
    for name in names:
        baseline(store, name, options)
    store = reopened(store)
    before = store.path.stat().st_size

    elapsed, cpu = time.perf_counter(), time.process_time()
    for number in range(options.probes):
        at = START + timedelta(minutes=5 * (1 + number // options.servers), milliseconds=number % 1000)
        with store.write() as tx:
            name = names[number % options.servers]
            memory = tx.lock_server(name)
            tx.record_run(run(name, at, options))
            tx.apply(name, seen_again(memory, at + timedelta(seconds=1)), ())
    elapsed = time.perf_counter() - elapsed
    cpu = 1000 * (time.process_time() - cpu) / options.probes
    store = reopened(store)
    grown = (store.path.stat().st_size - before) / options.probes
    print(f"unchanged probe: {options.probes / elapsed:,.0f} commits/s, {cpu:.2f} ms CPU")
    print(f"disk: {grown:.0f} bytes per unchanged probe")

    cpu = time.process_time()
    rounds = options.probes // 10
    for number in range(rounds):
        at = START + timedelta(days=30, minutes=number)
        with store.write() as tx:
            taken = tx.take_due(at, 1, later)
        with store.write() as tx:
            tx.request_done(taken[0])
    print(f"hand-out and its end: {1000 * (time.process_time() - cpu) / rounds:.2f} ms CPU")

    cpu = time.process_time()
    with store.read() as reader:
        count = len(reader.status())
    print(f"status of {count} servers: {1000 * (time.process_time() - cpu):.0f} ms CPU")
    store.close()


def later(record: ServerRecord, now: datetime) -> Schedule:
    return Schedule(next_due_at=now, next_full_at=record.next_full_at)


def baseline(store: SqliteStore, name: str, options: argparse.Namespace) -> None:
    subjects = [f"check:family/check-number-{number}" for number in range(options.checks)]
    states = tuple(state(subject, "verified") for subject in subjects)
    states += (state("toolset:modern:token", PRINT.pair),)
    intervals = tuple(Interval(subject=item.subject, value=item.confirmed, since=START) for item in states)
    tools = tuple({"name": f"tool-{number}", "description": "x" * 400} for number in range(options.tools))
    toolset = ToolsetRecord(
        era="modern",
        credential="token",
        revision="2026-07-28",
        fingerprint=PRINT,
        tools=tools,
        instructions=None,
        per_tool=tuple((tool["name"], "d" * 64) for tool in tools),
    )
    with store.write() as tx:
        tx.lock_server(name)
        tx.record_run(run(name, START, options, toolset))
        tx.apply(name, Changes(states=states, intervals=intervals), ())


def seen_again(memory: Memory | None, at: datetime) -> Changes:
    """What ``decide`` says of an unchanged light probe: what was seen, which is two thirds of the states."""
    states = list(memory.states.values()) if memory else []
    seen = states[len(states) // 3 :]
    return Changes(states=tuple(replace(item, last_observed_at=at) for item in seen))


def state(subject: str, value: str) -> SubjectState:
    return SubjectState(
        subject=subject,
        confirmed=value,
        confirmed_since=START,
        last_observed_at=START,
        accepted=value,
        settings="f" * 16,
        detail={"check": subject, "state": value, "code": None, "reason": None, "findings": []},
    )


def run(name: str, at: datetime, options: argparse.Namespace, *toolsets: ToolsetRecord) -> RunRecord:
    results = tuple(
        Result(check=f"family/check-number-{number}", state=State.VERIFIED)
        for number in range(options.checks)
    )
    report = Report(
        driftwatch="0",
        server=name,
        url="https://bench.example/mcp",
        taken_at=at + timedelta(seconds=1),
        depth=Depth.LIGHT,
        trigger=Trigger.INTERVAL,
        duration_s=0.123456,
        requests=5,
        reachable=True,
        credential="token",
        surfaces=(
            SurfaceSummary(
                era=Era.MODERN,
                revision="2026-07-28",
                tools=options.tools,
                pages=1,
                complete=True,
                server_info=None,
                fingerprint=PRINT,
            ),
        ),
        certificate=Certificate(
            not_before=START,
            not_after=START + timedelta(days=90),
            issuer="CN=Example",
            subject_alt_names=("bench.example",),
            version="TLSv1.3",
            chain_length=2,
            leaf_sha256="e" * 64,
            serial="01",
        ),
        results=results,
    )
    request = ProbeRequest(server=name, due_at=at, trigger=Trigger.INTERVAL, depth=Depth.LIGHT)
    return RunRecord(id=uuid.uuid4().hex, request=request, report=report, toolsets=toolsets)


def reopened(store: SqliteStore) -> SqliteStore:
    """Closing folds the write-ahead log into the file."""
    store.close()
    return SqliteStore(store.path)


if __name__ == "__main__":
    main()
