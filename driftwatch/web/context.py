"""What the doors of the HTTP server may use of the service behind them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from driftwatch.clock import Clock
from driftwatch.config import Config
from driftwatch.store.ports import Store
from driftwatch.web.health import Health
from driftwatch.web.vitals import Vitals


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """What became of a look at the configuration file."""

    problems: tuple[str, ...] = ()
    """Why the configuration before it stays in force; empty when the file is in force."""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    """Servers of which a setting is a new one."""
    restart: tuple[str, ...] = ()
    """Keys whose new value counts after a restart."""


async def _no_file() -> Reloaded:
    return Reloaded(problems=("there is no configuration file to read again",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The service as the doors see it; callables, because all of it changes while the service runs."""

    config: Callable[[], Config]
    """The configuration in force."""
    store: Callable[[], Store | None]
    """None until the database is open and migrated."""
    health: Callable[[], Health]
    vitals: Callable[[], Vitals]
    """What the service has counted so far."""
    clock: Clock
    reload: Callable[[], Awaitable[Reloaded]] = _no_file
    """Read the configuration file again, now."""
    wake: Callable[[], None]
    """Something was written that the tick or the outbox should see now."""
    stopping: Callable[[], bool] = lambda: False
    """Whether the service is about to end: nothing new is begun, and whoever waits is let go."""
