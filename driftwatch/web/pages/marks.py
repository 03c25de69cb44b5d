"""What is said beside a server's name: that somebody knows, or that nobody is to be told (pure)."""

from collections.abc import Collection, Sequence
from datetime import datetime

from driftwatch.alerts.quiet import Quiet
from driftwatch.alerts.text import count
from driftwatch.transitions import Incident
from driftwatch.web.pages.rendering import coarse


def marks(incidents: Collection[Incident], quiet: Sequence[Quiet], now: datetime) -> tuple[str, ...]:
    """``acknowledged``, ``silenced for 5 h``, ``maintenance for 20 min``; ``quiet`` is about the server."""
    said = []
    acked = sum(incident.acked_at is not None for incident in incidents)
    if acked:
        said.append(
            "acknowledged" if acked == len(incidents) else f"{acked} of {len(incidents)} acknowledged"
        )
    for each in quiet:
        about = f"{count(len(each.checks), 'check')} " if each.checks else ""
        what = "silenced" if each.name.startswith("silence") else "maintenance"
        said.append(f"{about}{what} for {coarse(each.until - now)}")
    return tuple(said)
