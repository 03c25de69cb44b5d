"""A probe that is to be made."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from driftwatch.model.states import Depth, Json, Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequest:
    """One probe that is to be made: plain, self-contained, no secrets, so that any queue can carry it."""

    server: str
    """The server's name."""
    due_at: datetime
    trigger: Trigger
    depth: Depth
    priority: int = 0
    """Higher goes first."""
    release_ref: str | None = None
    """The id of the release behind a deploy's probe."""
    config_revision: str = ""
    attempt: int = 1

    def to_json(self) -> dict[str, Json]:
        """The request as a JSON object."""
        return {
            "server": self.server,
            "due_at": self.due_at.isoformat(),
            "trigger": self.trigger.value,
            "depth": self.depth.value,
            "priority": self.priority,
            "release_ref": self.release_ref,
            "config_revision": self.config_revision,
            "attempt": self.attempt,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "ProbeRequest":
        """Read what to_json wrote. Raises KeyError or ValueError for anything else."""
        return cls(
            server=value["server"],
            due_at=datetime.fromisoformat(value["due_at"]),
            trigger=Trigger(value["trigger"]),
            depth=Depth(value["depth"]),
            priority=value["priority"],
            release_ref=value["release_ref"],
            config_revision=value["config_revision"],
            attempt=value["attempt"],
        )
