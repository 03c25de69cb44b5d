"""Writing what a probe found: the run, its tool lists and certificate, and what they changed."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import RowMapping

from driftwatch.model import Certificate, Event, Json, Trigger
from driftwatch.store import mapping
from driftwatch.store.columns import encode
from driftwatch.store.ports import DeliveryPlan, RunRecord
from driftwatch.store.statements import recording as sql
from driftwatch.store.statements.due import DELETE_REQUEST
from driftwatch.store.statements.incidents import REMIND
from driftwatch.store.statements.servers import UPDATE_SERVER
from driftwatch.store.unit import Unit, unknown_server
from driftwatch.toolset import ToolsetRecord
from driftwatch.transitions import Changes, Interval, Memory, SubjectState, TlsNotice, shown_since, standing
from driftwatch.transitions.subjects import is_toolset, surface_of


class Recording(Unit):
    """The transaction of a run: lock, record, apply."""

    _locked: tuple[RowMapping, Memory] | None = None
    _observed_at: datetime | None = None
    """When the run was made that this transaction recorded for the locked server."""

    def lock_server(self, server: str) -> Memory | None:
        """Lock a server's row and read what is remembered; the first call of every run's transaction."""
        self._locked, self._observed_at = self._memory(server, lock=True), None
        return self._locked[1] if self._locked else None

    def record_run(self, run: RunRecord) -> bool:
        """Write the run and its toolsets. False when this key was written before: stop there.

        The hand-out of a scheduled probe ends here; a deploy or manual request stays until ``request_done``.
        """
        server, memory = self._known(run.request.server)
        key = server["id"]
        written = self._first(self._process.upserts.run, **mapping.run_values(key, run))
        if written is None:
            return False
        report = run.report
        for toolset in run.toolsets:
            self._remember_toolset(key, toolset, report.taken_at)
        if run.transcript is not None:
            said = {"run": run.id, "depth": report.depth, "taken_at": report.taken_at}
            self._run(self._process.upserts.transcript, {"server_id": key, **said, "content": run.transcript})
        values: mapping.Values = {"last_run_at": report.taken_at}
        if report.certificate is not None:
            self._remember_certificate(server, memory.certificate, report.certificate, report.taken_at)
            values |= {
                "leaf_sha256": report.certificate.leaf_sha256,
                "leaf_seen_at": report.taken_at,
                "leaf_since": shown_since(memory, report),
            }
        self._run(UPDATE_SERVER, {"key": key, **values})
        self._observed_at = report.taken_at
        if run.request.trigger in (Trigger.INTERVAL, Trigger.CONFIRM):
            done = {"key": key, "was_due_at": run.request.due_at, "why": run.request.trigger}
            self._run(DELETE_REQUEST, done)
        return True

    def apply(self, server: str, changes: Changes, deliveries: Sequence[DeliveryPlan]) -> None:
        """Write states, intervals, incidents, events and the rows of the outbox.

        A state that was only seen again is not written: the server's row says when.
        """
        row, memory = self._known(server)
        key = row["id"]
        moved = [state for state in changes.states if _moved(memory.states.get(state.subject), state)]
        self._run(self._process.upserts.state, [mapping.subject_state_values(key, state) for state in moved])
        for state in moved:
            self._mark_confirmed(key, memory.states.get(state.subject), state)
        self._write_intervals(key, changes.intervals)
        # Closed ones first: a subject has one open incident, and may get its next in the same breath.
        incidents = sorted(changes.incidents, key=lambda incident: incident.closed_at is None)
        self._run(
            self._process.upserts.incident, [mapping.incident_values(key, incident) for incident in incidents]
        )
        self._write_events(changes.events, deliveries)
        self._write_notices(key, changes.notices)
        observed_at = self._observed_at or row["observed_at"]
        states = {**memory.states, **{state.subject: state for state in changes.states}}
        now = standing(states.values())
        if now != standing(memory.states.values()):
            self._run(self._process.upserts.standing, mapping.standing_values(key, now))
        values = {
            "observed_at": observed_at,
            "unobserved": mapping.unobserved_values(states.values(), observed_at),
            "confirm_due_at": changes.confirm.due_at if changes.confirm else None,
            "confirm_depth": changes.confirm.depth if changes.confirm else None,
        }
        self._run(UPDATE_SERVER, {"key": key, **values})
        self._locked = self._observed_at = None

    def note_certificate(self, server: str, notices: Sequence[TlsNotice]) -> None:
        """Note something about a certificate of a server; what was noted before stays as it is."""
        self._write_notices(self._server_id(server), notices)

    def record_event(self, event: Event, deliveries: Sequence[DeliveryPlan]) -> None:
        """Write one event that no run produced, with its rows of the outbox."""
        self._write_events([event], deliveries)

    def remind(self, incidents: Sequence[str], at: datetime) -> None:
        """Plan the next reminder of open incidents that have one."""
        self._run(REMIND, {"ids": list(incidents), "at": at})

    def _known(self, server: str) -> tuple[RowMapping, Memory]:
        """What is remembered about the server, read once in a transaction."""
        if self._locked is None or self._locked[1].server != server:
            self.lock_server(server)
        if self._locked is None:
            raise unknown_server(server)
        return self._locked

    def _write_intervals(self, key: int, intervals: Iterable[Interval]) -> None:
        for interval in intervals:
            ends = {"server": key, "of_subject": interval.subject, "at": interval.since}
            self._run(sql.CLOSE_INTERVAL, ends)
            begins = {
                "server_id": key,
                "subject": interval.subject,
                "value": interval.value,
                "since": interval.since,
                "event": interval.event,
            }
            self._run(sql.OPEN_INTERVAL, begins)

    def _write_notices(self, key: int, notices: Iterable[TlsNotice]) -> None:
        self._run(self._process.upserts.notice, [mapping.tls_notice_values(key, item) for item in notices])

    def _write_events(self, events: Sequence[Event], deliveries: Sequence[DeliveryPlan]) -> None:
        rows = [
            mapping.event_values(None if event.server is None else self._server_id(event.server), event)
            for event in events
        ]
        self._run(self._process.upserts.event, rows)
        plans = [
            {
                "event_id": plan.event,
                "channel": plan.channel,
                "not_before": plan.not_before,
                "suppressed_by": plan.suppressed_by,
            }
            for plan in deliveries
        ]
        self._run(self._process.upserts.delivery, plans)

    def _remember_toolset(self, key: int, toolset: ToolsetRecord, seen_at: datetime) -> None:
        pair = toolset.fingerprint.pair
        known = {"server": key, "which_era": toolset.era, "label": toolset.credential, "which_pair": pair}
        if self._first(sql.TOOLSET_ID, **known) is not None:
            return
        instructions = [] if toolset.instructions is None else [toolset.instructions]
        further = [{kind: list(entries) for kind, entries in toolset.further}] if toolset.further else []
        ids = self._remember_bodies([*toolset.tools, *further, *instructions])
        written = self._first(
            sql.ADD_TOOLSET,
            server_id=key,
            era=toolset.era,
            credential=toolset.credential,
            pair=pair,
            revision=toolset.revision,
            algorithm=toolset.fingerprint.algorithm,
            contract=toolset.fingerprint.contract,
            surface=toolset.fingerprint.surface,
            checklist=toolset.fingerprint.checklist,
            instructions_id=ids[-1] if instructions else None,
            further_id=ids[len(toolset.tools)] if further else None,
            first_seen_at=seen_at,
        )
        assert written is not None  # noqa: S101 - an INSERT with RETURNING gives its row
        tools = [
            {
                "toolset_id": written.id,
                "position": position,
                "name": name,
                "digest": digest,
                "body_id": body,
            }
            for position, ((name, digest), body) in enumerate(
                zip(toolset.per_tool, ids[: len(toolset.tools)], strict=True)
            )
        ]
        self._run(sql.ADD_TOOLSET_TOOLS, tools)

    def _remember_bodies(self, contents: Sequence[Json]) -> list[int]:
        """Store each content once; the ids in the order of the contents."""
        hashes = [hashlib.sha256(encode(content).encode("ascii")).hexdigest() for content in contents]
        once = dict(zip(hashes, contents, strict=True))
        self._run(self._process.upserts.body, [{"sha256": hash_, "content": once[hash_]} for hash_ in once])
        ids = {row["sha256"]: row["id"] for row in self._rows(sql.BODY_IDS, hashes=list(once))}
        return [ids[hash_] for hash_ in hashes]

    def _remember_certificate(
        self, server: RowMapping, before: Certificate | None, now: Certificate, seen_at: datetime
    ) -> None:
        if now == before:
            return
        gone = server["leaf_sha256"]
        if gone is not None and gone != now.leaf_sha256:
            last_seen = {"server": server["id"], "leaf": gone, "at": server["leaf_seen_at"]}
            self._run(sql.CERTIFICATE_GONE, last_seen)
        self._run(self._process.upserts.certificate, mapping.certificate_values(server["id"], now, seen_at))

    def _mark_confirmed(self, key: int, before: SubjectState | None, now: SubjectState) -> None:
        """Note on the tool lists themselves when one took the place of another."""
        if not is_toolset(now.subject) or (before and before.confirmed == now.confirmed):
            return
        era, credential = surface_of(now.subject)
        for state in (before, now):
            if state is not None:
                self._run(
                    sql.CONFIRM_TOOLSET,
                    {
                        "server": key,
                        "which_era": era,
                        "label": credential,
                        "which_pair": state.confirmed,
                        "at": now.confirmed_since,
                    },
                )


def _moved(before: SubjectState | None, now: SubjectState) -> bool:
    """Whether anything but the time of the last look is different, as it would be stored."""
    if before is None:
        return True
    if replace(before, last_observed_at=now.last_observed_at, detail=now.detail) != now:
        return True
    return before.detail != now.detail and encode(dict(before.detail)) != encode(dict(now.detail))
