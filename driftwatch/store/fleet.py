"""The fleet as a whole: configured servers, a page at a time, and what is remembered about each of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import RowMapping, bindparam

from driftwatch.model import State
from driftwatch.store import mapping
from driftwatch.store import statements as sql
from driftwatch.store.ports import FleetTotals, RunSummary, ServerOverview, ServerRecord, ServerStatus
from driftwatch.store.statements import incidents, runs, servers, states, toolsets
from driftwatch.store.unit import Unit

_page: sa.BindParameter[Any] = bindparam("page", expanding=True)
"""The ids of some servers that are shown together."""

_is_check = states.c.subject.startswith("check:")
_state_now = sa.case((states.c.blocked_by.is_not(None), State.NOT_CHECKED.value), else_=states.c.confirmed)
_changed_at = sa.case(
    (states.c.blocked_since > states.c.confirmed_since, states.c.blocked_since),
    else_=states.c.confirmed_since,
)


def _in_state(state: State) -> sa.ColumnElement[bool]:
    """Whether a check is in a state now; its reason code may follow the word."""
    return sa.func.substr(_state_now, 1, len(state)) == state.value


def page_of_servers(state: State | None = None) -> sa.Select[Any]:
    """Configured servers after a name, by name; with a state only those with a check that is in it."""
    query = sql.SERVERS.where(servers.c.removed_at.is_(None), servers.c.name > bindparam("after"))
    if state is not None:
        query = query.where(
            sa.exists().where(states.c.server_id == servers.c.id, _is_check, _in_state(state))
        )
    return query.order_by(servers.c.name).limit(bindparam("limit"))


CONFIGURED_SERVERS = sa.select(servers).where(servers.c.removed_at.is_(None)).order_by(servers.c.name)

_COUNTS = [sa.func.sum(sa.case((_in_state(state), 1), else_=0)).label(state.value) for state in State]
COUNTS_OF = (
    sa.select(states.c.server_id, sa.func.max(_changed_at).label("changed_at"), *_COUNTS)
    .where(states.c.server_id.in_(_page), _is_check)
    .group_by(states.c.server_id)
)
STATES_OF = (
    sa.select(states).where(states.c.server_id.in_(_page)).order_by(states.c.server_id, states.c.subject)
)
TOOLSET_STATES_OF = STATES_OF.where(states.c.subject.startswith("toolset:"))
INCIDENTS_OF = sa.select(incidents).where(incidents.c.server_id.in_(_page), incidents.c.closed_at.is_(None))
TOOLSETS_OF = sql.CONFIRMED_TOOLSETS.where(toolsets.c.server_id.in_(_page))
LAST_RUNS_OF = (
    sa.select(runs)
    .join(servers, sa.and_(servers.c.id == runs.c.server_id, servers.c.last_run_at == runs.c.taken_at))
    .where(servers.c.id.in_(_page))
)
_per_server = (
    sa.select(states.c.server_id, *_COUNTS)
    .join(servers, servers.c.id == states.c.server_id)
    .where(servers.c.removed_at.is_(None), _is_check)
    .group_by(states.c.server_id)
    .subquery()
)
FLEET = sa.select(
    *(sa.func.sum(_per_server.c[state.value]).label(f"checks_{state}") for state in State),
    *(
        sa.func.sum(sa.case((_per_server.c[state.value] > 0, 1), else_=0)).label(f"servers_{state}")
        for state in State
    ),
)
CONFIGURED = sa.select(sa.func.count()).select_from(servers).where(servers.c.removed_at.is_(None))


class Fleet(Unit):
    """The part of a read that shows many servers at once."""

    def servers(self) -> list[ServerRecord]:
        """Every configured server's row, by name."""
        return [mapping.server_record(row) for row in self._rows(CONFIGURED_SERVERS)]

    def status(self, after: str = "", limit: int = 200) -> list[ServerStatus]:
        """Configured servers after a name, by name, with everything that is remembered about each."""
        rows = self._rows(page_of_servers(), after=after, limit=limit)
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

    def overview(self, after: str = "", limit: int = 200, state: State | None = None) -> list[ServerOverview]:
        """Configured servers after a name, by name, in one line each.

        With ``state`` only those of which at least one check is in it now.
        """
        rows = self._rows(page_of_servers(state), after=after, limit=limit)
        page = [row["id"] for row in rows]
        counts = {row["server_id"]: row for row in self._rows(COUNTS_OF, page=page)}
        lists = _by_server(self._rows(TOOLSET_STATES_OF, page=page))
        opened = _by_server(self._rows(INCIDENTS_OF, page=page))
        last_runs = self._last_runs(page)
        return [
            ServerOverview(
                record=mapping.server_record(row),
                counts={each: counts[row["id"]][each] if row["id"] in counts else 0 for each in State},
                changed_at=counts[row["id"]]["changed_at"] if row["id"] in counts else None,
                last_run=last_runs.get(row["id"]),
                certificate=mapping.certificate(row),
                toolsets=tuple(mapping.subject_state(each, row["observed_at"]) for each in lists[row["id"]]),
                incidents=tuple(mapping.incident(each) for each in opened[row["id"]]),
            )
            for row in rows
        ]

    def totals(self) -> FleetTotals:
        """All configured servers in a few numbers."""
        (row,) = self._rows(FLEET)
        configured = self._first(CONFIGURED)
        return FleetTotals(
            servers=configured[0] if configured else 0,
            with_state={state: row[f"servers_{state}"] or 0 for state in State},
            checks={state: row[f"checks_{state}"] or 0 for state in State},
        )

    def _last_runs(self, page: Sequence[int]) -> dict[int, RunSummary]:
        return {row["server_id"]: mapping.run_summary(row) for row in self._rows(LAST_RUNS_OF, page=page)}


def _by_server(rows: Iterable[RowMapping]) -> dict[int, list[RowMapping]]:
    grouped: dict[int, list[RowMapping]] = defaultdict(list)
    for row in rows:
        grouped[row["server_id"]].append(row)
    return grouped
