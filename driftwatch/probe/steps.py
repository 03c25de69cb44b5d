"""What a visit asks, in which order, and where it stops asking."""

from dataclasses import dataclass, field, replace

from driftwatch.evidence import Opening, Surface
from driftwatch.probe import eras, http_sse, legacy, modern, outcome
from driftwatch.probe.dialogue import Dialogue, Opened


@dataclass(slots=True)
class Seen:
    """What a visit has found so far."""

    openings: list[Opening] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)


async def take(dialogue: Dialogue, seen: Seen) -> None:
    """Find every era that the server speaks and read its surface in each, then end every session.

    ``server/discover`` comes first; whatever it finds, ``initialize`` follows, because clients in the field
    use that surface; a server that answers neither is asked for the old HTTP+SSE transport. A refusal to talk
    at all ends the visit, except a server error: real servers of the older eras answer 500 to a method they
    do not know.
    """
    discovered = await modern.discover(dialogue)
    await _note_modern(dialogue, seen, discovered)
    refusal = None if seen.surfaces else outcome.blocked(discovered.exchange)
    if refusal is None or refusal.code == "http-5xx":
        await _take_older(dialogue, seen, discovered, patient=refusal is None)
    # An older server issues a session to any first request, also to one that it refuses.
    for session in dialogue.open_sessions:
        await dialogue.end(session)


async def _take_older(dialogue: Dialogue, seen: Seen, discovered: Opened, *, patient: bool) -> None:
    initialized = await legacy.initialize(dialogue, patient=patient)
    if eras.negotiated(initialized.exchange) is not None:
        initialized, surface = await legacy.read(dialogue, initialized)
        seen.surfaces.append(surface)
    elif not seen.surfaces and eras.offers_modern_again(initialized.exchange):
        again = await modern.discover(dialogue, label="discover:again")
        seen.openings.clear()
        await _note_modern(dialogue, seen, replace(again, attempts=discovered.attempts + again.attempts))
    seen.openings.append(legacy.opening(initialized))
    if not seen.surfaces and http_sse.may_speak(initialized.exchange):
        opening, old = await http_sse.read(dialogue)
        seen.openings.append(opening)
        seen.surfaces.extend([] if old is None else [old])


async def _note_modern(dialogue: Dialogue, seen: Seen, discovered: Opened) -> None:
    seen.openings.append(modern.opening(discovered))
    if seen.openings[-1].established:
        seen.surfaces.append(await modern.read(dialogue, discovered))
