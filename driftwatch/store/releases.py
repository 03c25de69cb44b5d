"""Reading releases, and what they did."""

from collections.abc import Sequence
from datetime import datetime

from driftwatch.deploys import DeployOutcome
from driftwatch.model import Release
from driftwatch.store import mapping
from driftwatch.store.statements import deploys as sql
from driftwatch.store.statements.history import VALUE_AT
from driftwatch.store.unit import Unit


class Releases(Unit):
    """The part of a read that knows of releases."""

    def release(self, release: str) -> Release | None:
        """One release by its id."""
        rows = self._rows(sql.RELEASE, of_release=release)
        return mapping.release(rows[0]) if rows else None

    def releases(
        self,
        server: str | None = None,
        before: datetime | None = None,
        limit: int = 50,
        ref: str | None = None,
    ) -> list[Release]:
        """The newest releases first: of one server, received before a time, with one ref."""
        key = None if server is None else self._find_server(server)
        if server is not None and key is None:
            return []
        return [
            mapping.release(row) for row in self._rows(sql.newest_releases(key, before, ref), limit=limit)
        ]

    def latest_releases(self, names: Sequence[str]) -> dict[str, Release]:
        """The newest release of some servers, by the server's name."""
        rows = self._rows(sql.LATEST_RELEASES, names=names)
        return {row["name"]: mapping.release(row) for row in rows}

    def outcomes(self, server: str, limit: int = 50) -> list[DeployOutcome]:
        """What the newest releases did to one server, the newest first."""
        key = self._find_server(server)
        rows = [] if key is None else self._rows(sql.OUTCOMES_AT, server=key, limit=limit)
        return [mapping.deploy_outcome(row) for row in rows]

    def deploy(self, release: str) -> tuple[DeployOutcome, ...]:
        """What a release did to each of its servers, by name; empty for an unknown one."""
        return tuple(map(mapping.deploy_outcome, self._rows(sql.OUTCOMES_OF, of_release=release)))

    def confirmed_at(self, server: str, subject: str, at: datetime) -> str | None:
        """The value that a subject had at a time; None where the history does not reach so far."""
        key = self._find_server(server)
        row = None if key is None else self._first(VALUE_AT, server=key, of_subject=subject, at=at)
        return None if row is None else str(row.value)
