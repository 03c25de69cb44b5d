"""What the service counts about itself while it runs; a restart begins again, as Prometheus expects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """The service at one moment."""

    started_at: datetime
    config_ok: bool = True
    """False after a configuration that was refused, until one is taken."""
    config_loaded_at: datetime
    """When the configuration in force was loaded."""
    queue_depth: int = 0
    """Probes that wait or run."""
    tick_age_s: float = 0.0
    storing: bool = True
    """False while the database refuses what is to be written."""
    clock_steps: int = 0
    probes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Probes by trigger and outcome: reachable, unreachable or unstored."""
    deliveries: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Attempts to send by channel and outcome."""
    heartbeat_at: datetime | None = None
    """When the last sign of life was taken; None before the first, or where none is configured."""
