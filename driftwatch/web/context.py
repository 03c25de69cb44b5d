"""What the doors of the HTTP server may use of the service behind them."""

from collections.abc import Callable
from dataclasses import dataclass

from driftwatch.clock import Clock
from driftwatch.config import Config
from driftwatch.store.ports import Store
from driftwatch.web.health import Health
from driftwatch.web.vitals import Vitals


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
    wake: Callable[[], None]
    """Something was written that the tick or the outbox should see now."""
    stopping: Callable[[], bool] = lambda: False
    """Whether the service is about to end: nothing new is begun, and whoever waits is let go."""
