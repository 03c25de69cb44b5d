"""The values of subjects: short strings that are persisted and compared for equality."""

import re
from collections.abc import Iterable, Mapping

from driftwatch.model import Era, Result, State, SurfaceSummary, position

FINGERPRINT = "release/fingerprint"
"""The check that shows a toolset's change; it moves with the toolset and is never told on its own."""

REPLICAS = "release/replicas"
"""The check that shows instances answering differently."""

LISTS_DIFFER = frozenset(
    f"{state}:{code}"
    for state in (State.FAILED, State.OBSERVED_RISK)
    for code in ("tools-differ", "definitions-differ")
)
"""Its values where they answer with different lists."""

INSTANCES_DIFFER = LISTS_DIFFER | frozenset(
    f"{State.OBSERVED_RISK}:{code}" for code in ("eras-differ", "revisions-differ", "offers-differ")
)
"""Its values where they answer with different lists, eras or revisions."""

INSTANCE_GONE = f"{State.OBSERVED_RISK}:no-answer"
"""Its value where one of them serves nobody."""

STABLE_LISTING = "release/stable-listing"
"""The check that shows a list that changes at every read."""

CHANGES = frozenset({f"{State.OBSERVED_RISK}:volatile"})
"""Its values where it does."""

ERA_COVERAGE = "mcp/era-coverage"
"""The check that shows who is left out by the eras that are spoken."""

ERAS_DIFFER = f"{State.OBSERVED_RISK}:eras-differ"
"""The value of mcp/era-coverage where the lists of two eras are not the same."""

_ODD = re.compile(r"[^!-*,-~]")
"""What stands in no revision's name: it could not be stored, or not be typed, or has a meaning in a value."""

_LONGEST_REVISION = 40
_MOST_REVISIONS = 16

SHORTEST_DIGEST = 8
"""Hex digits that each half of a shortened fingerprint has at least."""

ENDPOINT = "transport/endpoint"
"""The root check: whether there is an answer at all."""

CHAIN = "tls/chain"
"""The check that shows what a handshake makes of a certificate."""

DOORS = (ENDPOINT, CHAIN)
"""The root checks that are about getting in at all."""

EXPIRY = "tls/expiry"
"""The check that shows a certificate's end coming; it moves with the reminders, untold."""

ARITHMETIC = frozenset({EXPIRY})
"""Checks that compare a date with the clock: a second look cannot say anything else."""

NOT_APPLICABLE = f"{State.NOT_CHECKED}:not-applicable"
"""The value of a check whose rule another era or revision has."""

SWITCHED_OFF = f"{State.NOT_CHECKED}:switched-off"
"""The value of a check that the settings keep from being looked at."""

_STATES = {state.value: state for state in State}
_RANK: Mapping[State | None, int] = {State.VERIFIED: 0, State.OBSERVED_RISK: 1, State.FAILED: 2}


def value_of(result: Result) -> str:
    """``verified``, or a state with its reason code such as ``failed:dns``."""
    if result.state is State.VERIFIED or result.code is None:
        return result.state.value
    return f"{result.state}:{result.code}"


def names_pair(fingerprint: str, pair: str) -> bool:
    """Whether a fingerprint is the pair, or its short form ``dw1:1a2b3c4d.5e6f7a8b``."""
    given, whole = (text.partition(":")[2].split(".") for text in (fingerprint, pair))
    same_form = fingerprint.partition(":")[0] == pair.partition(":")[0] and len(given) == len(whole)
    return same_form and all(
        len(short) >= SHORTEST_DIGEST and digest.startswith(short)
        for short, digest in zip(given, whole, strict=True)
    )


def eras_value(eras: Iterable[Era]) -> str:
    """``modern+legacy``: always in the same order."""
    spoken = set(eras)
    return "+".join(era for era in Era if era in spoken)


def eras_of(value: str) -> frozenset[Era]:
    """The eras that a value names."""
    return frozenset(era for era in Era if f"+{era}+" in f"+{value}+")


def revisions_value(surface: SurfaceSummary) -> str:
    """``2025-11-25``, or ``2025-11-25+2026-07-28`` where a list is offered: oldest first."""
    told = (surface.revision, *surface.supported_versions)
    spoken = {_ODD.sub(_escaped, revision[:_LONGEST_REVISION]) for revision in told}
    return "+".join(sorted(spoken, key=lambda revision: (position(revision), revision))[:_MOST_REVISIONS])


def _escaped(odd: re.Match[str]) -> str:
    return f"\\u{ord(odd[0]):04x}"


def revisions_of(value: str | None) -> tuple[str, ...]:
    """The revisions that a value names, in its order."""
    return tuple(value.split("+")) if value else ()


def state_of(value: str) -> State | None:
    """The state of a check's value; None for values of other subjects."""
    return _STATES.get(value.partition(":")[0])


def code_of(value: str) -> str | None:
    """The reason code of a check's value."""
    return value.partition(":")[2] or None


def same_state(one: str, other: str) -> bool:
    """Whether two values are one state, whatever its code; other subjects' values have no codes."""
    return one == other or ((state := state_of(one)) is not None and state is state_of(other))


def agrees(value: str, pending: str, confirmed: str) -> bool:
    """Whether an observation counts for what is pending.

    An outage counts as one, also when each probe meets it differently. A change of nothing but the code has
    to show the same code again.
    """
    return value == pending if same_state(value, confirmed) else same_state(value, pending)


def is_better(value: str, accepted: str | None) -> bool:
    """Whether a check's value is nearer to verified than what was accepted."""
    rank = _RANK.get(state_of(value))
    if rank is None or accepted is None:
        return False
    # What was never checked is bettered by verified alone.
    return rank < _RANK.get(state_of(accepted), 1)
