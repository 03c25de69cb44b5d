"""Deploys: what was announced, how far each is, and what it did."""

from dataclasses import asdict

from sqlalchemy import RowMapping

from driftwatch.deploys import DeployOutcome, Progress
from driftwatch.model import Release
from driftwatch.store.mapping.values import Values
from driftwatch.store.ports import (
    DeployRun,
    HookDelivery,
)


def hook_delivery(row: RowMapping) -> HookDelivery:
    """A call of the webhook."""
    return HookDelivery(
        id=row["id"],
        body_sha256=row["body_sha256"],
        received_at=row["received_at"],
        release=row["release_id"],
    )


def hook_delivery_values(value: HookDelivery) -> Values:
    """A call of the webhook as a row."""
    values = asdict(value)
    values["release_id"] = values.pop("release")
    return values


def release(row: RowMapping) -> Release:
    """A release's row."""
    values = {name: row[name] for name in Release.__slots__}
    return Release(**values | {"servers": tuple(values["servers"])})


def release_values(value: Release) -> Values:
    """A release as a row."""
    return asdict(value) | {"servers": list(value.servers)}


def deploy_run(row: RowMapping, of: Release) -> DeployRun:
    """A run that is not over; the row also has the server's name."""
    return DeployRun(
        server=row["name"],
        release=of,
        due_at=row["due_at"],
        progress=Progress.from_json(row["progress"]) if row["progress"] else None,
        events=tuple(row["events"]),
    )


def deploy_outcome(row: RowMapping) -> DeployOutcome:
    """What became of a release on one server; the row also has the server's name."""
    return DeployOutcome(
        release=row["release_id"],
        server=row["name"],
        run_release=row["run_release"],
        state=row["state"],
        verdict=row["verdict"],
        counts=row["counts"],
        changed=row["changed"],
        breaking=row["breaking"],
        summary=row["summary"],
        level=row["level"],
        reads=row["reads"],
        finished_at=row["finished_at"],
        run=row["run"],
        events=tuple(row["events"]),
    )


def deploy_outcome_values(value: DeployOutcome) -> Values:
    """What a run that is over leaves behind, for every release that it looked after."""
    return {
        "state": value.state,
        "reads": value.reads,
        "verdict": value.verdict,
        "counts": dict(value.counts),
        "changed": value.changed,
        "breaking": value.breaking,
        "summary": value.summary,
        "level": value.level,
        "finished_at": value.finished_at,
        "run": value.run,
        "events": list(value.events),
    }
