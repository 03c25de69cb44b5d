"""Rows to domain types and back: pure, and the only place that knows both."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping

from driftwatch.deploys import DeployOutcome, Progress
from driftwatch.model import Certificate, Event, EventKind, ProbeRequest, Release, Silence, State
from driftwatch.store.columns import from_micros, to_micros
from driftwatch.store.ports import (
    DeployRun,
    FrozenMessage,
    HeldDelivery,
    HookDelivery,
    MessageRecord,
    RunRecord,
    RunSummary,
    ServerRecord,
)
from driftwatch.transitions import Incident, Memory, Standing, SubjectState, TlsNotice

Values = dict[str, Any]

TOOLSET = "toolset:"
"""How the subjects of tool lists begin."""

_STORED_FIELDS = tuple(name for name in SubjectState.__slots__ if name != "last_observed_at")


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


def subject_state(row: RowMapping, observed_at: datetime) -> SubjectState:
    """A remembered state; ``observed_at`` is when its subject was last observed, changed or not."""
    values = {name: row[name] for name in _STORED_FIELDS}
    values["last_observed_at"] = observed_at
    values["flap_times"] = tuple(map(from_micros, row["flap_times"]))
    values["flap_values"] = tuple(row["flap_values"])
    return SubjectState(**values)


def subject_state_values(server_id: int, state: SubjectState) -> Values:
    """A state as a row."""
    values = {name: getattr(state, name) for name in _STORED_FIELDS}
    values["flap_times"] = list(map(to_micros, state.flap_times))
    values["turns"] = dict(state.turns)
    values["detail"] = dict(state.detail)
    return {"server_id": server_id, **values}


def standing(row: RowMapping) -> Standing:
    """A server's standing; all zero for a server without a run, where the join found nothing."""
    return Standing(
        counts={state: row[state.value] or 0 for state in State},
        worst=row["worst"] or State.NOT_CHECKED,
        changed_at=row["changed_at"],
    )


def standing_values(server_id: int, value: Standing) -> Values:
    """A standing as a row."""
    counts = {state.value: number for state, number in value.counts.items()}
    return {"server_id": server_id, "worst": value.worst, "changed_at": value.changed_at, **counts}


def incident(row: RowMapping) -> Incident:
    """An incident's row."""
    return Incident(**{name: row[name] for name in Incident.__slots__})


def incident_values(server_id: int, value: Incident) -> Values:
    """An incident as a row."""
    return {"server_id": server_id, **{name: getattr(value, name) for name in Incident.__slots__}}


def silence(row: RowMapping) -> Silence:
    """A silence's row."""
    matcher = row["matcher"]
    return Silence(
        id=row["id"],
        servers=tuple(matcher["servers"]),
        tags=tuple(matcher["tags"]),
        checks=tuple(matcher["checks"]),
        starts_at=row["starts_at"],
        ends_at=row["ends_at"],
        reason=row["reason"],
        created_by=row["created_by"],
        lifted_at=row["lifted_at"],
    )


def silence_values(value: Silence) -> Values:
    """A silence as a row."""
    values = asdict(value)
    matcher = {name: list(values.pop(name)) for name in ("servers", "tags", "checks")}
    return {"matcher": matcher, **values}


def certificate(row: RowMapping) -> Certificate | None:
    """The certificate that was joined to a server's row, if there was one."""
    if row["leaf_sha256"] is None or row["not_after"] is None:
        return None
    return Certificate(
        not_before=row["valid_from"],
        not_after=row["not_after"],
        issuer=row["issuer"],
        subject_alt_names=tuple(row["subject_alt_names"]),
        version=row["version"],
        chain_length=row["chain_length"],
        leaf_sha256=row["leaf_sha256"],
        serial=row["serial"],
    )


def certificate_values(server_id: int, value: Certificate, seen_at: datetime) -> Values:
    """A certificate as a row that is new or seen again."""
    values = asdict(value)
    values["subject_alt_names"] = list(value.subject_alt_names)
    return {"server_id": server_id, **values, "first_seen_at": seen_at, "last_seen_at": seen_at}


def tls_notice(row: RowMapping) -> TlsNotice:
    """A notice; the row also has the end of its certificate."""
    return TlsNotice(**{name: row[name] for name in TlsNotice.__slots__})


def tls_notice_values(server_id: int, notice: TlsNotice) -> Values:
    """A notice as a row."""
    values = asdict(notice)
    del values["not_after"]
    return {"server_id": server_id, **values}


def event(row: RowMapping) -> Event:
    """An event; the row also has the server's name."""
    return Event(
        id=row["id"],
        server=row["name"],
        kind=EventKind(row["kind"]),
        level=row["level"],
        alerts=row["alerts"],
        at=row["at"],
        run=row["run"],
        subject=row["subject"],
        before=row["before"],
        after=row["after"],
        since=row["since"],
        details=row["details"],
    )


def event_values(server_id: int | None, value: Event) -> Values:
    """An event as a row."""
    values = {name: getattr(value, name) for name in Event.__slots__}
    del values["server"]
    values["kind"] = value.kind.value
    values["details"] = dict(value.details)
    return {"server_id": server_id, **values}


def held_delivery(row: RowMapping) -> HeldDelivery:
    """An event that is held back from a channel; the row also has the event."""
    return HeldDelivery(
        event=event(row),
        channel=row["channel"],
        not_before=row["not_before"],
        suppressed_by=row["suppressed_by"],
    )


def message(row: RowMapping) -> FrozenMessage:
    """A message as it was written."""
    return FrozenMessage(
        id=row["id"],
        channel=row["channel"],
        title=row["title"],
        body=row["body"],
        level=row["level"],
        created_at=row["created_at"],
        events=tuple(row["events"]),
        html=row["html"],
    )


def message_values(value: FrozenMessage) -> Values:
    """A message as a row, without its fate."""
    values = asdict(value)
    values["events"] = list(value.events)
    return values


def message_record(row: RowMapping) -> MessageRecord:
    """A message and its fate."""
    return MessageRecord(
        message=message(row),
        status=row["status"],
        attempts=row["attempts"],
        next_attempt_at=row["next_attempt_at"],
        last_error=row["last_error"],
        sent_at=row["sent_at"],
        possible_repeat=row["possible_repeat"],
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


def memory(
    server: RowMapping,
    states: Iterable[RowMapping],
    incidents: Iterable[RowMapping],
    toolsets: Iterable[RowMapping],
    *,
    notices: Iterable[RowMapping] = (),
    reprobes: Iterable[RowMapping] = (),
) -> Memory:
    """Everything that is remembered about one server, put together from its rows.

    A state is written only when it changes: when each was last observed stands in the server's row.
    """
    unobserved = server["unobserved"]
    remembered = {}
    for row in states:
        subject = row["subject"]
        observed_at = from_micros(unobserved[subject]) if subject in unobserved else server["observed_at"]
        remembered[subject] = subject_state(row, observed_at)
    seen: dict[str, datetime] = {}
    for row in toolsets:
        pair, confirmed_at = row["pair"], row["last_confirmed_at"]
        seen[pair] = max(confirmed_at, seen.get(pair, confirmed_at))
    return Memory(
        server=server["name"],
        states=remembered,
        incidents={row["subject"]: incident(row) for row in incidents},
        certificate=certificate(server),
        notices=tuple(map(tls_notice, notices)),
        last_run_at=server["last_run_at"],
        reprobes=tuple(row["taken_at"] for row in reprobes),
        seen_fingerprints=seen,
    )


def unobserved_values(states: Iterable[SubjectState], observed_at: datetime | None) -> dict[str, int]:
    """The subjects that were observed at another time than the server's others, and when."""
    return {
        state.subject: to_micros(state.last_observed_at)
        for state in states
        if state.last_observed_at != observed_at
    }
