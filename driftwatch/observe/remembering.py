"""What the checks may know of earlier probes."""

from driftwatch import transitions
from driftwatch.checks import Remembered
from driftwatch.evidence import Missing
from driftwatch.model import Era
from driftwatch.transitions import Memory

NO_EARLIER = Missing("no earlier fingerprint; baseline recorded now", "no-baseline")


def remembered(memory: Memory | None, credential: str) -> dict[Era, Remembered | Missing]:
    """What the checks may know of earlier probes: the accepted and the confirmed fingerprint of each era."""
    found: dict[Era, Remembered | Missing] = dict.fromkeys(Era, NO_EARLIER)
    for era in Era:
        state = memory and memory.states.get(transitions.toolset_subject(era, credential))
        if state:
            found[era] = Remembered(
                accepted=state.accepted or state.confirmed,
                confirmed=state.confirmed,
                confirmed_at=state.confirmed_since,
            )
    return found
