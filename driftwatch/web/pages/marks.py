"""What is said beside a server's name: that somebody knows, or that nobody is to be told (pure)."""

from collections.abc import Collection, Sequence

from driftwatch.model import Silence
from driftwatch.transitions import Incident
from driftwatch.web.pages.rendering import coarse
from driftwatch.web.pages.site import Scene


def of_server(name: str, tags: Collection[str], silences: Sequence[Silence]) -> list[Silence]:
    """The silences that are about a server, or about some of its checks."""
    return [each for each in silences if name in each.servers or not set(tags).isdisjoint(each.tags)]


def marks(
    name: str,
    tags: Collection[str],
    incidents: Collection[Incident],
    silences: Sequence[Silence],
    scene: Scene,
) -> tuple[str, ...]:
    """``acknowledged``, ``silenced for 5 h``, in the order in which they matter."""
    said = []
    acked = sum(incident.acked_at is not None for incident in incidents)
    if acked:
        said.append(
            "acknowledged" if acked == len(incidents) else f"{acked} of {len(incidents)} acknowledged"
        )
    for silence in of_server(name, tags, silences):
        about = f"{len(silence.checks)} of its checks " if silence.checks else ""
        said.append(f"{about}silenced for {coarse(silence.over_at - scene.now)}")
    return tuple(said)
