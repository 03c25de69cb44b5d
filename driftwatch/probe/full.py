"""What only a full probe asks: requests beside the plain ones, one at a time, each once.

Most of them are deliberately wrong, to see how they are refused. They ask nothing of the server but an
answer, and a server that is asked too often (429) is left alone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from driftwatch.evidence import Exchange, Missing, Surface
from driftwatch.probe import outcome
from driftwatch.probe.request import Read, Request
from driftwatch.probe.talk import Talk
from driftwatch.probe.target import Target

SWITCHED_OFF = Missing("switched off in the configuration (negative_probes)", "switched-off")
NOT_OVER_SSE = Missing("not asked over the old HTTP+SSE transport", "not-applicable")
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request, and the part of the surface that its reply becomes."""

    part: str
    """A field of Surface."""
    ask: Callable[[Talk, Target], Awaitable[Exchange | Missing]]
    deliberate: bool = True
    """True for a request that is wrong on purpose: ``negative_probes = false`` leaves it out."""


async def modern(talk: Talk, target: Target) -> Surface:
    """The modern surface with everything that a full probe asks of it."""
    return await _take(MODERN, talk, target)


async def legacy(talk: Talk, target: Target) -> Surface:
    """The legacy surface with everything that is asked while its session lives."""
    return await _take(LEGACY, talk, target)


def http_sse(surface: Surface) -> Surface:
    """The surface of the old transport, of which nothing more is asked."""
    parts: dict[str, Any] = dict.fromkeys(PARTS, NOT_OVER_SSE)
    return replace(surface, **parts)


async def _take(steps: tuple[Step, ...], talk: Talk, target: Target) -> Surface:
    taken: dict[str, Any] = dict.fromkeys(
        PARTS, Missing(f"the {talk.surface.era} era has no such request", "not-applicable")
    )
    limited: Missing | None = None
    for step in steps:
        if step.deliberate and not target.negative_probes:
            taken[step.part] = SWITCHED_OFF
        elif limited is not None:
            taken[step.part] = limited
        else:
            taken[step.part] = seen = await step.ask(talk, target)
            refusal = None if isinstance(seen, Missing) else outcome.blocked(seen)
            if refusal is not None and refusal.code == "rate-limited":
                limited = Missing(refusal.message, refusal.code)
    return replace(talk.surface, **taken)


async def _get(talk: Talk, _: Target) -> Exchange:
    # A stream stays open without a byte, so nothing but its headers is read.
    request = Request(
        label="get", http_method="GET", headers=talk.headers, accept=EVENT_STREAM, read=Read.HEADERS
    )
    return (await talk.dialogue.send(request)).exchange


_GET = Step(part="get", ask=_get, deliberate=False)

MODERN = (_GET,)
"""What is asked in the modern era, in order."""
LEGACY = (_GET,)
"""What is asked while the legacy session lives, in order."""
PARTS = tuple({step.part: None for step in (*MODERN, *LEGACY)})
"""Every part of a surface that a full probe fills."""
