"""Servers, what is asked of them and what each probe showed."""

from dataclasses import asdict

from sqlalchemy import RowMapping

from driftwatch.model import ProbeRequest, State
from driftwatch.store.mapping.values import Values
from driftwatch.store.ports import (
    RunRecord,
    RunSummary,
    ServerRecord,
)


def server_record(row: RowMapping) -> ServerRecord:
    """A server's row as the rest of driftwatch knows it."""
    return ServerRecord(
        name=row["name"],
        url=row["url"],
        host=row["host"],
        credential=row["credential"],
        revision=row["revision"],
        next_due_at=row["next_due_at"],
        next_full_at=row["next_full_at"],
        tags=tuple(row["tags"]),
        confirm_due_at=row["confirm_due_at"],
        confirm_depth=row["confirm_depth"],
        not_before=row["not_before"],
        removed_at=row["removed_at"],
    )


def server_values(record: ServerRecord) -> Values:
    """What the configuration says about a server."""
    return {
        "name": record.name,
        "url": record.url,
        "host": record.host,
        "credential": record.credential,
        "revision": record.revision,
        "tags": list(record.tags),
    }


def probe_request(row: RowMapping) -> ProbeRequest:
    """A persisted request; the row also has the server's name."""
    return ProbeRequest(
        server=row["name"],
        due_at=row["due_at"],
        trigger=row["trigger"],
        depth=row["depth"],
        priority=row["priority"],
        release_ref=row["release_ref"],
        config_revision=row["config_revision"],
        attempt=row["attempt"],
    )


def request_values(server_id: int, request: ProbeRequest) -> Values:
    """A request as a row, without its claim."""
    values = asdict(request)
    del values["server"]
    return {"server_id": server_id, **values}


def run_values(server_id: int, run: RunRecord) -> Values:
    """A run as a row: counts, never results."""
    report = run.report
    counts = {state.value: sum(result.state is state for result in report.results) for state in State}
    return {
        "server_id": server_id,
        "due_at": run.request.due_at,
        "trigger": run.request.trigger,
        "id": run.id,
        "taken_at": report.taken_at,
        "depth": report.depth,
        "duration_ms": round(report.duration_s * 1000),
        "requests": report.requests,
        "reachable": report.reachable,
        "release_ref": run.request.release_ref,
        **counts,
    }


def run_summary(row: RowMapping) -> RunSummary:
    """A run's row for people."""
    return RunSummary(
        id=row["id"],
        taken_at=row["taken_at"],
        trigger=row["trigger"].value,
        depth=row["depth"].value,
        duration_s=row["duration_ms"] / 1000,
        requests=row["requests"],
        reachable=row["reachable"],
        counts={state.value: row[state.value] for state in State},
        release_ref=row["release_ref"],
    )
