"""What damping says instead of many messages: flapping, settled, replicas that disagree."""

from collections.abc import Mapping
from shlex import quote

from driftwatch.alerts.text import count, duration, joined, label, listed
from driftwatch.alerts.wording.doors import closed_door, way_in
from driftwatch.alerts.wording.note import (
    Note,
    Voice,
    began,
    release,
    span,
    strings,
    words,
)
from driftwatch.model import Era, Event, Json
from driftwatch.transitions.subjects import check_of, is_toolset

_SPOKEN = {Era.MODERN.value: "2026-07-28", Era.LEGACY.value: "`initialize`", Era.HTTP_SSE.value: "HTTP+SSE"}
"""What clients of an era speak."""


def flapping(event: Event, voice: Voice) -> Note:
    """A subject changed too often to tell every time."""
    what = _about(event)
    window = span(event.details.get("window_s"))
    number = event.details.get("changes")
    how_often = f"{count(number, 'change')} in {window}" if isinstance(number, int) and window else "often"
    settle = event.details.get("settle")
    quiet = f"{count(settle, 'probe')} in a row agree" if isinstance(settle, int) else "it has settled"
    check = _check(event.subject)
    ways = [way.partition(" - ")[0] for value in (event.before, event.after) if (way := way_in(check, value))]
    closed = closed_door(check, event.before) or closed_door(check, event.after)
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{' and '.join(ways)} in turn - {how_often}" if ways else f"{what} is flapping - {how_often}",
        tally="flapping",
        lines=(
            f"{what}: {value_words(event.before)} <-> {value_words(event.after)}, {how_often}",
            f"Every change is recorded. The next message about it comes when {quiet}, or for a new value.",
            *rules(event),
        ),
        since=began(event),
        release=release(event.details),
        fix=closed.fix if closed else voice.fix(check),
    )


def settled(event: Event, voice: Voice) -> Note:
    """A toolset, or the eras of a server, are steady again."""
    what, lasted = _about(event), duration(event.at - began(event))
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{what} has settled",
        tally="settled",
        lines=(
            f"{what}: steady again, {value_words(event.after)}",
            f"It had been unsteady for {lasted}, since {voice.at(began(event))}.",
            *rules(event),
        ),
        release=release(event.details),
    )


def unsettled(event: Event, voice: Voice) -> Note:
    """Answers take turns and none of them lasts: most often two instances behind one address."""
    what = _about(event)
    toolset = is_toolset(event.subject)
    values = _values(event)
    many = count(len(values), "toolset" if toolset else "state")
    settle = event.details.get("settle")
    quiet = (
        f" The next message about it comes when {count(settle, 'probe')} in a row agree." if settle else ""
    )
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"replicas disagree - {many} in turn" if toolset else f"{what} is unsettled - {many} in turn",
        tally="replicas disagree" if toolset else "unsettled",
        lines=(
            f"{what}: {many} in turn, none of them lasts",
            f"Most often a rollout that stopped half-way, or one instance that was left behind.{quiet}",
        ),
        items=values,
        since=began(event),
        release=release(event.details),
        affected="clients get one or the other by chance" if toolset else None,
        fix=voice.fix("release/replicas" if toolset else _check(event.subject)),
    )


def era_changed(event: Event, voice: Voice) -> Note:
    """The server speaks in other eras of the protocol than before."""
    before, after = value_words(event.before), value_words(event.after)
    lost = [_SPOKEN.get(era, label(era)) for era in strings(event.details.get("vanished"))]
    told = event.details.get("surfaces")
    surfaces = [item for item in told if isinstance(item, Mapping)] if isinstance(told, list | tuple) else []
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"protocol eras changed - {before} -> {after}",
        tally="with other protocol eras",
        lines=(f"Protocol eras: {before} -> {after}", *rules(event)),
        items=tuple(_surface(item) for item in surfaces),
        since=began(event),
        release=release(event.details),
        affected=f"clients that speak only {' or '.join(lost)}" if lost else "existing clients keep working",
        fix=_era_fix(event, voice) if lost else None,
    )


def _era_fix(event: Event, voice: Voice) -> str | None:
    if Era.LEGACY in strings(event.details.get("vanished")):
        return voice.fix("mcp/era-coverage")
    return (
        "If it was not meant, look at the last release and at what stands in front: requests of "
        "the era that is gone are refused, or taken for something else."
    )


def rules(event: Event) -> list[str]:
    """The checks whose rules the other eras have, or do not have."""
    told = {"applicable": "Checked now, because the rule applies", "inapplicable": "No longer checked"}
    return [
        f"{said}: {listed(map(label, ids))}."
        for key, said in told.items()
        if (ids := strings(event.details.get(key)))
    ]


def _about(event: Event) -> str:
    """The subject; a toolset with every era of which the same is told."""
    eras = event.details.get("era")
    if is_toolset(event.subject) and eras:
        return f"Toolset ({label(str(eras))})"
    return subject_words(event.subject)


def subject_words(subject: str | None) -> str:
    """``transport/endpoint`` for a check, ``Toolset (modern)`` for a toolset."""
    kind, _, rest = (subject or "").partition(":")
    if kind == "toolset":
        era = rest.partition(":")[0]
        return f"Toolset ({label(era)})" if era else "Toolset"
    if kind == "revision":
        return f"{'Offered revisions' if rest == Era.MODERN else 'Protocol revision'} ({label(rest)})"
    return "Protocol eras" if kind == "eras" else label(rest or kind or "it")


def value_words(value: str | None) -> str:
    """A state in words, the short form of a fingerprint, or the eras or revisions of a server."""
    algorithm, _, digest = (value or "").partition(":")
    if "." in digest and algorithm.startswith("dw"):
        return short_pair(str(value))
    parts = (value or "").replace("http+sse", "http/sse").split("+")
    return joined(map(words, parts)).replace("http/sse", "http+sse")


def short_pair(pair: str) -> str:
    """``dw1:1a2b3c4d.5e6f7a8b``: enough of a fingerprint to tell two apart."""
    algorithm, _, digests = pair.partition(":")
    return f"{label(algorithm)}:{'.'.join(label(part)[:8] for part in digests.split('.'))}"


def accepting(server: str, value: str) -> str:
    """The command that makes a toolset, or revisions, the accepted one, without the program's name."""
    _, pair, _ = value.partition(":")
    named = f"--fingerprint {short_pair(value)}" if pair else f"--revision {quote(label(value))}"
    return f'accept {quote(server)} {named} --reason "..."'


def _values(event: Event) -> tuple[str, ...]:
    """The values that take turns, with how often each was seen."""
    told = event.details.get("values")
    if isinstance(told, Mapping) and len(told) > 1:
        return tuple(f"{value_words(str(value))} ({number} times)" for value, number in told.items())
    return value_words(event.before), value_words(event.after)


def _surface(surface: Mapping[str, Json]) -> str:
    tools = surface.get("tools")
    counted = f", {count(tools, 'tool')}" if isinstance(tools, int) else ""
    return f"{label(str(surface.get('era')))}: revision {label(str(surface.get('revision')))}{counted}"


def _check(subject: str | None) -> str:
    return label(check_of(subject or ""))
