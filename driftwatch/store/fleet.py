"""The fleet as a whole: configured servers, a page at a time, and what is remembered about each of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import RowMapping, bindparam

from driftwatch.model import Certificate, Event, EventKind, State
from driftwatch.store import mapping
from driftwatch.store.ports import Glance, RunSummary, ServerOverview, ServerRecord, ServerStatus
from driftwatch.store.statements import servers as sql
from driftwatch.store.statements.due import OVERDUE
from driftwatch.store.statements.schema import events, incidents, runs, servers, standings, states, toolsets
from driftwatch.store.unit import Unit
from driftwatch.transitions import standing
from driftwatch.transitions.subjects import CHECK, TOOLSET

_NO_RUN = standing(())

_page: sa.BindParameter[Any] = bindparam("page", expanding=True)
"""The ids of some servers that are shown together."""


def page_of_servers(state: State | None = None, *, named: bool = False) -> sa.Select[Any]:
    """Configured servers after a name, by name; with a state only those with a check that is in it.

    ``named`` asks for some names only.
    """
    query = sql.SERVERS.where(servers.c.removed_at.is_(None), servers.c.name > bindparam("after"))
    if state is not None:
        query = query.where(
            sa.exists().where(standings.c.server_id == servers.c.id, standings.c[state.value] > 0)
        )
    if named:
        query = query.where(servers.c.name.in_(bindparam("names", expanding=True)))
    return query.order_by(servers.c.name).limit(bindparam("limit"))


SERVERS_WITH_CERTIFICATE = sql.SERVERS.where(
    servers.c.removed_at.is_(None), servers.c.leaf_sha256.is_not(None)
).order_by(servers.c.name)
LAST_PROBED = sa.select(servers.c.name, servers.c.last_run_at).where(servers.c.removed_at.is_(None))
STATES_NOW = (
    sa.select(
        servers.c.name,
        states.c.subject,
        sa.case((states.c.blocked_by.is_not(None), State.NOT_CHECKED.value), else_=states.c.confirmed),
    )
    .join(states, states.c.server_id == servers.c.id)
    .where(servers.c.name.in_(bindparam("names", expanding=True)), states.c.subject.startswith(CHECK))
    .order_by(states.c.server_id, states.c.subject)
)
CONFIGURED_SERVERS = sa.select(servers).where(servers.c.removed_at.is_(None)).order_by(servers.c.name)
CONFIGURED_SERVER = sql.SERVER.where(servers.c.removed_at.is_(None))

STANDINGS_OF = sa.select(standings).where(standings.c.server_id.in_(_page))
GLANCE = (
    sa.select(servers.c.name, servers.c.tags, servers.c.last_run_at, servers.c.next_due_at, standings)
    .outerjoin(standings, standings.c.server_id == servers.c.id)
    .where(servers.c.removed_at.is_(None))
    .order_by(servers.c.name)
)
GLANCE_AT = GLANCE.where(servers.c.name == bindparam("name"))
STATES_OF = (
    sa.select(states).where(states.c.server_id.in_(_page)).order_by(states.c.server_id, states.c.subject)
)
TOOLSET_STATES_OF = STATES_OF.where(states.c.subject.startswith(TOOLSET))
INCIDENTS_OF = sa.select(incidents).where(incidents.c.server_id.in_(_page), incidents.c.closed_at.is_(None))
TOOLSETS_OF = sql.CONFIRMED_TOOLSETS.where(toolsets.c.server_id.in_(_page))
LAST_RUNS_OF = (
    sa.select(runs)
    .join(servers, sa.and_(servers.c.id == runs.c.server_id, servers.c.last_run_at == runs.c.taken_at))
    .where(servers.c.id.in_(_page))
)
_candidate = events.alias()
_newest = (
    sa.select(_candidate.c.id)
    .where(_candidate.c.server_id == servers.c.id, _candidate.c.kind.in_(bindparam("kinds", expanding=True)))
    .order_by(_candidate.c.at.desc(), _candidate.c.id.desc())
    .limit(1)
    .correlate(servers)
    .scalar_subquery()
)
LATEST_EVENTS = (
    sa.select(events, servers.c.name)
    .select_from(servers)
    .join(events, events.c.id == _newest)
    .where(servers.c.name.in_(bindparam("names", expanding=True)))
)


class Fleet(Unit):
    """The part of a read that shows many servers at once."""

    def servers(self) -> list[ServerRecord]:
        """Every configured server's row, by name."""
        return [mapping.server_record(row) for row in self._rows(CONFIGURED_SERVERS)]

    def leaves(self) -> dict[str, Certificate]:
        """The last leaf certificate of every configured server that showed one, by name."""
        found = {row["name"]: mapping.certificate(row) for row in self._rows(SERVERS_WITH_CERTIFICATE)}
        return {name: leaf for name, leaf in found.items() if leaf is not None}

    def status(self, after: str = "", limit: int = 200) -> list[ServerStatus]:
        """Configured servers after a name, by name, with everything that is remembered about each."""
        return self._statuses(self._rows(page_of_servers(), after=after, limit=limit))

    def server_status(self, name: str) -> ServerStatus | None:
        """One configured server with everything that is remembered about it."""
        found = self._statuses(self._rows(CONFIGURED_SERVER, server=name))
        return found[0] if found else None

    def glance(self, name: str | None = None) -> list[Glance]:
        """Every configured server in a few words, or one of them, by name."""
        rows = self._rows(GLANCE) if name is None else self._rows(GLANCE_AT, name=name)
        return [
            Glance(
                name=row["name"],
                tags=tuple(row["tags"]),
                worst=now.worst,
                counts=now.counts,
                last_run_at=row["last_run_at"],
                next_due_at=row["next_due_at"],
            )
            for row in rows
            for now in [mapping.standing(row)]
        ]

    def overview(
        self,
        after: str = "",
        limit: int = 200,
        state: State | None = None,
        names: Sequence[str] | None = None,
    ) -> list[ServerOverview]:
        """Configured servers after a name, by name, in one line each.

        With ``state`` only those of which at least one check is in it now, with ``names`` only these.
        """
        only = {} if names is None else {"names": names}
        query = page_of_servers(state, named=names is not None)
        rows = self._rows(query, after=after, limit=limit, **only)
        page = [row["id"] for row in rows]
        now = {row["server_id"]: mapping.standing(row) for row in self._rows(STANDINGS_OF, page=page)}
        lists = _by_server(self._rows(TOOLSET_STATES_OF, page=page))
        opened = _by_server(self._rows(INCIDENTS_OF, page=page))
        last_runs = self._last_runs(page)
        return [
            ServerOverview(
                record=mapping.server_record(row),
                counts=sums.counts,
                worst=sums.worst,
                changed_at=sums.changed_at,
                last_run=last_runs.get(row["id"]),
                certificate=mapping.certificate(row),
                toolsets=tuple(mapping.subject_state(each, row["observed_at"]) for each in lists[row["id"]]),
                incidents=tuple(mapping.incident(each) for each in opened[row["id"]]),
            )
            for row in rows
            for sums in [now.get(row["id"], _NO_RUN)]
        ]

    def latest_events(self, names: Sequence[str], kinds: Sequence[EventKind]) -> dict[str, Event]:
        """The newest event of some kinds, by the server's name."""
        rows = self._rows(LATEST_EVENTS, names=names, kinds=[kind.value for kind in kinds])
        return {row["name"]: mapping.event(row) for row in rows}

    def states_now(self, names: Sequence[str]) -> dict[str, dict[str, State]]:
        """The state of every check of some servers now: by server, then by check."""
        found: dict[str, dict[str, State]] = defaultdict(dict)
        for name, subject, value in self._connection.execute(STATES_NOW, {"names": names}):
            found[name][subject.partition(":")[2]] = State(value.partition(":")[0])
        return found

    def last_probed(self) -> dict[str, datetime | None]:
        """When each configured server was last probed, by name; None for one that never was."""
        return {name: at for name, at in self._connection.execute(LAST_PROBED)}  # noqa: C416 - rows, not pairs

    def overdue(self, since: datetime) -> int:
        """How many servers have been due since before this moment, and no probe of them is on its way."""
        found = self._first(OVERDUE, now=since)
        return found[0] if found else 0

    def _statuses(self, rows: Sequence[RowMapping]) -> list[ServerStatus]:
        page = [row["id"] for row in rows]
        remembered = _by_server(self._rows(STATES_OF, page=page))
        opened = _by_server(self._rows(INCIDENTS_OF, page=page))
        lists = _by_server(self._rows(TOOLSETS_OF, page=page))
        last_runs = self._last_runs(page)
        return [
            ServerStatus(
                record=mapping.server_record(row),
                memory=mapping.memory(row, remembered[row["id"]], opened[row["id"]], lists[row["id"]]),
                last_run=last_runs.get(row["id"]),
                certificate=mapping.certificate(row),
            )
            for row in rows
        ]

    def _last_runs(self, page: Sequence[int]) -> dict[int, RunSummary]:
        return {row["server_id"]: mapping.run_summary(row) for row in self._rows(LAST_RUNS_OF, page=page)}


def _by_server(rows: Iterable[RowMapping]) -> dict[int, list[RowMapping]]:
    grouped: dict[int, list[RowMapping]] = defaultdict(list)
    for row in rows:
        grouped[row["server_id"]].append(row)
    return grouped
