"""Handing out probes: due times are data, and what is handed out is remembered until its run is written."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import RowMapping

from driftwatch import deploys
from driftwatch.model import DeployState, Depth, ProbeRequest, Trigger
from driftwatch.store import mapping
from driftwatch.store.ports import Imported, Schedule, ServerRecord
from driftwatch.store.statements import due as sql
from driftwatch.store.statements.deploys import GIVE_UP_RUNS, HASTEN_READS, UPDATE_RUN_OUTCOMES
from driftwatch.store.statements.incidents import SILENCES_AHEAD, UPDATE_SILENCE
from driftwatch.store.statements.outbox import HASTEN
from driftwatch.store.statements.servers import ADD_SERVER, ALL_SERVERS, UPDATE_SERVER
from driftwatch.store.unit import Process, Unit

LEASE = timedelta(minutes=2)
"""A handed-out probe that its process neither runs nor holds waiting is lost after this, and due again."""

CONFIRM_PRIORITY = 1
"""A confirming probe is timed to the second; the interval can wait for it."""

LONGEST_WAIT = timedelta(days=1)
"""Nothing in the outbox waits longer than this, unless the clock was wrong when the wait began."""

Plan = Callable[[ServerRecord, datetime], Schedule]


class DueTimes(Unit):
    """The part of a transaction that says who is probed next."""

    def import_servers(self, servers: Sequence[ServerRecord], now: datetime) -> Imported:
        """Make the rows equal to the configuration.

        Due times of known servers stay; servers that are no longer configured are marked as removed. One
        that continues a known one under another name is that one: its history, states and silences go on.
        """
        renamed = self._rename(servers, now)
        known = {row["name"]: row for row in self._rows(ALL_SERVERS)}
        configured = {record.name: record for record in servers}
        added, returned, changed = [], [], []
        for name, record in configured.items():
            values = mapping.server_values(record)
            due = {"next_due_at": record.next_due_at, "next_full_at": record.next_full_at}
            row = known.get(name)
            if row is None:
                added.append(name)
                self._run(ADD_SERVER, {**values, **due, "added_at": now, "unobserved": {}})
            elif row["removed_at"] is not None:
                returned.append(name)
                self._run(UPDATE_SERVER, {"key": row["id"], **values, **due, "removed_at": None})
            elif any(row[column] != value for column, value in values.items()):
                changed.append(name)
                self._run(UPDATE_SERVER, {"key": row["id"], **values})
        removed = [
            name for name, row in known.items() if name not in configured and row["removed_at"] is None
        ]
        for name in removed:
            key = known[name]["id"]
            gone = {"key": key, "removed_at": now, "confirm_due_at": None, "confirm_depth": None}
            self._run(UPDATE_SERVER, gone)
            self._run(sql.DELETE_REQUESTS_OF, {"server": key})
            self._run(GIVE_UP_RUNS, {"of_server": key, "now": now})
        return Imported(
            added=tuple(added),
            returned=tuple(returned),
            removed=tuple(removed),
            renamed=renamed,
            changed=tuple(changed),
        )

    def _rename(self, servers: Sequence[ServerRecord], now: datetime) -> tuple[tuple[str, str], ...]:
        """Give known servers their new names; a name that is taken, by a removed server too, stays taken."""
        known = {row["name"]: row["id"] for row in self._rows(ALL_SERVERS)}
        renamed = {
            record.previous_name: record.name
            for record in servers
            if record.previous_name in known and record.name not in known
        }
        for before, name in renamed.items():
            self._run(UPDATE_SERVER, {"key": known[before], "name": name})
        self._ids.clear()
        for row in self._rows(SILENCES_AHEAD, now=now) if renamed else ():
            silence = mapping.silence(row)
            names = tuple(renamed.get(name, name) for name in silence.servers)
            if names != silence.servers:
                matcher = mapping.silence_values(replace(silence, servers=names))["matcher"]
                self._run(UPDATE_SILENCE, {"key": silence.id, "matcher": matcher})
        return tuple((before, name) for before, name in renamed.items() if before is not None)

    def take_due(
        self, now: datetime, limit: int, schedule: Plan, busy: Collection[str] = ()
    ) -> list[ProbeRequest]:
        """Hand out what is due, at most ``limit``, and advance its due times in the same transaction.

        Waiting requests go first, by priority, then servers by their due time; at most one for each server,
        and none for one in ``busy`` or with a probe on its way. While a deploy is read, nothing else probes
        its server, so that one change is told once. What was handed out and lost (to a crash, or
        for longer than LEASE to a fault) is handed out again with the same key, unless the server is due
        anyway: then one probe serves both.
        """
        waiting, lost, held, deploying = self._persisted(now, busy)
        taken: list[ProbeRequest] = []

        def may_take(server: str) -> bool:
            return len(taken) < limit and server not in held

        for row in waiting:
            if may_take(row["name"]) and _ripe(row, now):
                taken.append(self._claim(row, now))
                held.add(row["name"])
        held |= deploying
        room = max(0, limit - len(taken))
        for row in self._rows(sql.DUE_SERVERS, now=now, limit=room + len(held)):
            if may_take(row["name"]):
                taken.append(self._hand_out(row, now, schedule, lost.pop(row["name"], None)))
                held.add(row["name"])
        for name, row in lost.items():
            if may_take(name):
                taken.append(self._claim(row, now))
        return taken

    def postpone(self, server: str, not_before: datetime) -> None:
        """Do not probe the server before this time (its Retry-After)."""
        self._run(UPDATE_SERVER, {"key": self._server_id(server), "not_before": not_before})

    def hasten(self, servers: Sequence[str], at: datetime, *, full: bool = False) -> None:
        """Probe some servers at this time, unless they are due earlier; with ``full`` by a full probe."""
        for column in ("next_due_at", "next_full_at") if full else ("next_due_at",):
            self._run(sql.HASTEN_PROBE[column], {"names": list(servers), column: at, "at": at})

    def repair_due(self, now: datetime, schedule: Plan) -> int:
        """Bring due times that lie further away than the schedule allows back to it; how many.

        They do after the wall clock was stepped back, or after an interval was made shorter. What waits in
        the outbox for more than LONGEST_WAIT is brought forward too, and so are the reads of a deploy.
        """
        repaired = 0
        for row in self._rows(ALL_SERVERS):
            if row["removed_at"] is not None:
                continue
            plan = schedule(replace(mapping.server_record(row), next_full_at=now), now)
            values = {}
            if row["next_due_at"] > plan.next_due_at:
                values["next_due_at"] = plan.next_due_at
                if row["not_before"] is not None and row["not_before"] > plan.next_due_at:
                    values["not_before"] = plan.next_due_at
            if row["next_full_at"] > plan.next_full_at:
                values["next_full_at"] = plan.next_full_at
            if values:
                self._run(UPDATE_SERVER, {"key": row["id"], **values})
                repaired += 1
        for statement in HASTEN:
            self._run(statement, {"now": now, "horizon": now + LONGEST_WAIT})
        self._run(HASTEN_READS, {"now": now, "horizon": now + deploys.LONGEST_PAUSE})
        return repaired

    def enqueue(self, request: ProbeRequest) -> bool:
        """Persist a request that is not on the interval; False when the same one already waits.

        One request for each server and trigger waits; a newer one gives it its release, its higher priority
        and its greater depth.
        """
        key = self._server_id(request.server)
        waiting = self._rows(sql.WAITING_REQUEST, server=key, why=request.trigger)
        if not waiting:
            values = mapping.request_values(key, request)
            return self._first(self._process.upserts.request, **values) is not None
        row = waiting[0]
        newer = {
            "priority": max(row["priority"], request.priority),
            "depth": Depth.FULL if Depth.FULL in (row["depth"], request.depth) else Depth.LIGHT,
            "release_ref": request.release_ref or row["release_ref"],
            "config_revision": request.config_revision,
        }
        self._run(sql.UPDATE_REQUEST, {**_key(key, row["due_at"], request.trigger), **newer})
        return False

    def request_done(self, request: ProbeRequest) -> None:
        """Forget a persisted request that was carried out."""
        key = self._find_server(request.server)
        if key is not None:
            self._run(sql.DELETE_REQUEST, _key(key, request.due_at, request.trigger))

    def _persisted(
        self, now: datetime, busy: Collection[str]
    ) -> tuple[list[RowMapping], dict[str, RowMapping], set[str], set[str]]:
        """What waits, what was scheduled and lost, the servers to leave alone, and those in a deploy."""
        held = set(busy)
        waiting, lost = [], {}
        rows = self._rows(sql.REQUESTS_FOR_UPDATE)
        deploying = {row["name"] for row in rows if row["trigger"] is Trigger.DEPLOY}
        for row in rows:
            if row["claimed_by"] is None:
                if row["trigger"] is Trigger.DEPLOY or row["name"] not in deploying:
                    waiting.append(row)
            elif row["name"] in held or not is_lost(row, now, self._process):
                held.add(row["name"])
            elif row["trigger"] in (Trigger.INTERVAL, Trigger.CONFIRM):
                lost[row["name"]] = row
            else:
                waiting.append(row)
        return waiting, lost, held, deploying

    def _claim(self, row: RowMapping, now: datetime) -> ProbeRequest:
        """Hand out a persisted request, again if it was lost."""
        request = mapping.probe_request(row)
        if row["claimed_by"] is not None:
            request = replace(request, attempt=request.attempt + 1)
        values = {"attempt": request.attempt, **self._lease(now)}
        self._run(sql.UPDATE_REQUEST, {**_key(row["server_id"], row["due_at"], row["trigger"]), **values})
        if request.trigger is Trigger.DEPLOY:
            begun = {"key": request.release_ref, "of_server": row["server_id"], "state": DeployState.SETTLING}
            self._run(UPDATE_RUN_OUTCOMES, begun)
        return request

    def _hand_out(
        self, row: RowMapping, now: datetime, schedule: Plan, lost: RowMapping | None
    ) -> ProbeRequest:
        """Hand out the scheduled probe of a server that is due, and plan its next one."""
        record = mapping.server_record(row)
        on_interval = record.next_due_at <= now
        depths = {lost["depth"]} if lost else set()
        values: mapping.Values = {}
        if on_interval:
            plan = schedule(record, now)
            values |= {"next_due_at": plan.next_due_at, "next_full_at": plan.next_full_at}
            depths.add(Depth.FULL if record.next_full_at <= now else Depth.LIGHT)
        trigger, due_at, priority = Trigger.INTERVAL, record.next_due_at, 0
        if record.confirm_due_at is not None and record.confirm_due_at <= now:
            trigger, due_at, priority = Trigger.CONFIRM, record.confirm_due_at, CONFIRM_PRIORITY
            depths.add(Depth(record.confirm_depth or Depth.LIGHT))
            values |= {"confirm_due_at": None, "confirm_depth": None}
        if lost is not None:
            self._run(sql.DELETE_REQUEST, _key(row["id"], lost["due_at"], lost["trigger"]))
        if self._first(sql.RUN_EXISTS, server=row["id"], was_due_at=due_at, why=trigger) is not None:
            # The clock was stepped back: this slot was used before, and would be taken for a replay.
            due_at = now
        request = ProbeRequest(
            server=record.name,
            due_at=due_at,
            trigger=trigger,
            depth=Depth.FULL if Depth.FULL in depths else Depth.LIGHT,
            priority=priority,
            config_revision=record.revision,
        )
        self._run(UPDATE_SERVER, {"key": row["id"], **values})
        handed = mapping.request_values(row["id"], request) | self._lease(now)
        self._first(self._process.upserts.request, **handed)
        return request

    def _lease(self, now: datetime) -> mapping.Values:
        return {"claimed_by": self._process.owner, "claimed_until": now + LEASE}


def is_lost(row: RowMapping, now: datetime, process: Process) -> bool:
    """Whether a handed-out request has no process any more that would carry it out.

    A lease that ends later than one taken now was taken before the clock was stepped back.
    """
    if process.alone and row["claimed_by"] != process.owner:
        return True
    until: datetime = row["claimed_until"]
    return not now < until <= now + LEASE


def _ripe(row: RowMapping, now: datetime) -> bool:
    not_before = row["not_before"]
    return row["due_at"] <= now and (not_before is None or not_before <= now)


def _key(server_id: int, due_at: datetime, trigger: Trigger) -> mapping.Values:
    return {"key": server_id, "was_due_at": due_at, "why": trigger}
