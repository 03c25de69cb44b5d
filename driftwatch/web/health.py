"""``/healthz`` and ``/readyz``: is the process alive, and is it doing its work?"""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

TICK_AGE_LIMIT_S = 30.0
"""A loop whose last tick is older than this is stuck."""

OLDEST_MESSAGE_LIMIT_S = 3600.0
"""Messages that wait longer than this mean that nobody is being told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What the service knows about its own condition."""

    migrated: bool
    tick_age_s: float | None
    """None before the first tick."""
    database: bool
    """False while the database refuses writes."""
    oldest_message_s: float | None
    """How long the oldest undelivered message has been due; None without one."""

    @property
    def alive(self) -> bool:
        """True also while migrating: a restart would only begin the migration again."""
        return self.tick_age_s is None or self.tick_age_s < TICK_AGE_LIMIT_S

    @property
    def ready(self) -> bool:
        """True when probes are made, results are stored and messages leave."""
        late = self.oldest_message_s is not None and self.oldest_message_s > OLDEST_MESSAGE_LIMIT_S
        return self.migrated and self.tick_age_s is not None and self.alive and self.database and not late


def routes(health: Callable[[], Health]) -> list[Route]:
    """Both endpoints; they answer in words and with no detail that could help an attacker."""

    async def healthz(_: Request) -> JSONResponse:
        alive = health().alive
        return JSONResponse({"status": "alive" if alive else "stuck"}, 200 if alive else 503)

    async def readyz(_: Request) -> JSONResponse:
        ready = health().ready
        return JSONResponse({"status": "ready" if ready else "not ready"}, 200 if ready else 503)

    return [Route("/healthz", healthz), Route("/readyz", readyz)]
