"""What a person does: accept, acknowledge, silence, ask for a probe, retry or drop a message.

The command line and the HTTP API both call these. Each works in one write transaction of the caller, returns
what it did, and raises UsageError with a sentence for a person where it cannot be done; then nothing was
written. A running service sees the result within a second.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from driftwatch import checks, transitions
from driftwatch.alerts.wording.subjects import short_pair
from driftwatch.errors import UnknownError, UsageError, no_server, or_meant
from driftwatch.model import Depth, Event, EventKind, ProbeRequest, Silence, Trigger
from driftwatch.store.ports import MessageRecord, MessageStatus, ServerRecord, Tx
from driftwatch.transitions import ConfirmProbe, Incident, Memory, names_pair
from driftwatch.transitions.subjects import is_revision, is_toolset

LONGEST_SILENCE = timedelta(days=30)

MANUAL_PRIORITY = 5
"""Somebody waits for the answer: before confirmations and the interval, after a deploy."""

SHORTEST_ID = 4
"""Characters that a shortened id has at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A toolset, or the revisions that are spoken, which became the baseline."""

    server: str
    fingerprint: str
    """The whole pair; or the revisions, such as ``2025-06-18``."""
    subjects: tuple[str, ...]
    """Those of which it is the baseline now; empty when it was that of all of them before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acked:
    """An open incident that somebody knows of."""

    server: str
    incident: Incident
    again: bool
    """It was acknowledged before; nothing was written."""


def accept(tx: Tx, server: str, fingerprint: str, *, by: str, reason: str, now: datetime) -> Accepted:
    """Make the current toolset of a server its baseline, by the fingerprint of the list that was read.

    ``fingerprint`` may be shortened to 8 digits of each half. Revisions are accepted by their names, joined
    by ``+``.
    """
    reason = _reason(reason)
    memory, planned = _locked(tx, server)
    pair = _pair(fingerprint, memory)
    changes = transitions.accept(memory, pair, by=by, reason=reason, now=now, confirm=planned)
    tx.apply(server, changes, ())
    subjects = tuple(event.subject for event in changes.events if event.subject)
    return Accepted(server=server, fingerprint=pair, subjects=subjects)


def ack(tx: Tx, named: str, *, by: str, now: datetime) -> tuple[Acked, ...]:
    """Acknowledge one open incident, by its id or the beginning of it, or all of a server by its name.

    Nobody is reminded of it until it is over or its value becomes another one; its end is told.
    """
    if tx.server(named) is not None:
        server, subject = named, None
    else:
        server, found = _incident_like(tx, named)
        subject = found.subject
    memory, planned = _locked(tx, server)
    subjects = set(memory.incidents) if subject is None else {subject}
    if not subjects:
        raise UsageError(f"{server}: no incident is open")
    changes = transitions.ack(memory, subjects, by=by, now=now, confirm=planned)
    tx.apply(server, changes, ())
    acked = {incident.subject: incident for incident in changes.incidents}
    return tuple(
        Acked(server=server, incident=acked.get(subject, incident), again=subject not in acked)
        for subject, incident in sorted(memory.incidents.items())
        if subject in subjects
    )


def silence(
    tx: Tx,
    *,
    servers: Sequence[str] = (),
    tags: Sequence[str] = (),
    only: Sequence[str] = (),
    lasting: timedelta,
    reason: str,
    by: str,
    now: datetime,
) -> Silence:
    """Say nothing about some servers for a while; what is still open afterwards is told then.

    ``only`` names the checks it is about; without them it is about everything. Probes and history go on.
    """
    reason = _reason(reason)
    if not servers and not tags:
        raise UsageError("a silence needs a server or a tag: name at least one")
    if not timedelta(0) < lasting <= LONGEST_SILENCE:
        raise UsageError(f"a silence ends: it lasts at most {LONGEST_SILENCE.days} days")
    for server in servers:
        _known(tx, server)
    carried = {tag for record in tx.servers() for tag in record.tags} if tags else set()
    for tag in tags:
        if tag not in carried:
            raise UsageError(f"no server has the tag {tag!r}; tags: {_listed(carried)}")
    for check in only:
        if check not in {declared.id for declared in checks.catalogue}:
            near = checks.nearest(check)
            hint = f"did you mean {near}?" if near else "`driftwatch checks` lists them"
            raise UsageError(f"no check has the id {check!r}; {hint}")
    new = Silence(
        id=str(uuid.uuid4()),
        servers=tuple(servers),
        tags=tuple(tags),
        checks=tuple(only),
        starts_at=now,
        ends_at=now + lasting,
        reason=reason,
        created_by=by,
    )
    tx.add_silence(new)
    tx.record_event(_silence_event(EventKind.SILENCED, new, by=by, now=now), ())
    return new


def unsilence(tx: Tx, named: str, *, by: str, now: datetime) -> Silence:
    """End a silence before its time, by its id or the beginning of it."""
    found = [item for item in tx.silences(now) if item.id.startswith(named)]
    if len(found) != 1 or len(named) < SHORTEST_ID:
        which = "could be several" if len(found) > 1 else "is not one"
        raise UnknownError(f"{named!r} {which} of the silences in force; `driftwatch silences` lists them")
    tx.lift_silence(found[0].id, now)
    tx.record_event(_silence_event(EventKind.UNSILENCED, found[0], by=by, now=now), ())
    return replace(found[0], lifted_at=now)


def probe_now(tx: Tx, server: str, *, depth: Depth = Depth.FULL, now: datetime) -> ProbeRequest:
    """Ask for a probe of a server; the service makes it at its next tick.

    One such request waits for each server: where one does already, it is returned.
    """
    record = _known(tx, server)
    request = ProbeRequest(
        server=server,
        due_at=now,
        trigger=Trigger.MANUAL,
        depth=depth,
        priority=MANUAL_PRIORITY,
        config_revision=record.revision,
    )
    if tx.enqueue(request):
        return request
    waiting = (
        item for item in tx.waiting_requests() if (item.server, item.trigger) == (server, Trigger.MANUAL)
    )
    return next(waiting, request)


def retry(tx: Tx, named: str, *, now: datetime) -> MessageRecord:
    """Send a waiting message without further delay, or a dead one again; by its id or the beginning of it."""
    found = _message_like(tx, named)
    if not tx.retry_message(found.message.id, now):
        raise UsageError(f"message {found.message.id} {_FATE[found.status]}: there is nothing to retry")
    return _message_like(tx, found.message.id)


def drop(tx: Tx, named: str, *, now: datetime) -> MessageRecord:
    """Give up a message that waits or is dead; by its id or the beginning of it."""
    found = _message_like(tx, named)
    if not tx.drop_message(found.message.id, now):
        raise UsageError(f"message {found.message.id} {_FATE[found.status]}: there is nothing to drop")
    return _message_like(tx, found.message.id)


_FATE = {
    MessageStatus.PENDING: "waits",
    MessageStatus.SENDING: "is being sent at this moment",
    MessageStatus.SENT: "was sent",
    MessageStatus.DEAD: "was given up",
    MessageStatus.DROPPED: "was dropped",
}


def _pair(fingerprint: str, memory: Memory) -> str:
    """The current pair that a whole or shortened fingerprint names, or the revisions that are spoken."""
    current = {state.confirmed for subject, state in memory.states.items() if is_toolset(subject)}
    spoken = {state.confirmed for subject, state in memory.states.items() if is_revision(subject)}
    found = [pair for pair in current if names_pair(fingerprint, pair)]
    if fingerprint in spoken:
        return fingerprint
    if len(found) == 1:
        return found[0]
    if "-" in fingerprint and fingerprint[:1].isdigit():  # a revision is a date
        raise UsageError(f"{fingerprint!r} is not spoken; current revisions: {_listed(spoken)}")
    shown = _listed(map(short_pair, current))
    raise UsageError(f"{fingerprint!r} is not the fingerprint of a current toolset; current: {shown}")


def _known(tx: Tx, server: str) -> ServerRecord:
    record = tx.server(server)
    if record is None or record.removed_at is not None:
        raise no_server(server, (record.name for record in tx.servers()))
    return record


def _locked(tx: Tx, server: str) -> tuple[Memory, ConfirmProbe | None]:
    """What is remembered of a configured server, and the re-probe that is planned and stays so."""
    record = _known(tx, server)
    memory = tx.lock_server(server)
    assert memory is not None  # noqa: S101 - its row was there a line before, in the same transaction
    if record.confirm_due_at is None or record.confirm_depth is None:
        return memory, None
    return memory, ConfirmProbe(due_at=record.confirm_due_at, depth=Depth(record.confirm_depth))


def _incident_like(tx: Tx, named: str) -> tuple[str, Incident]:
    found = tx.incidents_like(named) if len(named) >= SHORTEST_ID else []
    if len(found) > 1:
        raise UnknownError(f"{named!r} could be several incidents; `driftwatch status` lists them")
    if not found:
        meant = or_meant(named, (record.name for record in tx.servers()))
        raise UnknownError(
            f"{named!r} is neither a server nor an open incident, which `driftwatch status` lists; {meant}"
        )
    return found[0]


def _message_like(tx: Tx, named: str) -> MessageRecord:
    id_ = named.removeprefix("dw:")
    found = tx.messages_like(id_) if len(id_) >= SHORTEST_ID else []
    if len(found) != 1:
        which = "could be several messages" if found else "is not a message"
        raise UnknownError(f"{named!r} {which}; `driftwatch outbox list` lists them")
    return found[0]


def _silence_event(kind: EventKind, silence: Silence, *, by: str, now: datetime) -> Event:
    """In the history of the server that it is about, where it is about one alone."""
    alone = silence.servers[0] if len(silence.servers) == 1 and not silence.tags else None
    return Event.without_run(
        kind,
        now,
        server=alone,
        details={
            "by": by,
            "silence": silence.id,
            "servers": list(silence.servers),
            "tags": list(silence.tags),
            "checks": list(silence.checks),
            "ends_at": silence.ends_at.isoformat(),
            "reason": silence.reason,
        },
    )


def _reason(given: str) -> str:
    if not given.strip():
        raise UsageError("a reason is missing: say why, it is kept with the event")
    return given.strip()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)[:10]) or "none"
