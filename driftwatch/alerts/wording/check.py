"""Checks: changed, recovered, not checked any more or again, and what was wrong in the first probe."""

from collections.abc import Mapping, Sequence

from driftwatch.alerts.details import objects, strings
from driftwatch.alerts.text import count, duration, foreign, joined, label, listed
from driftwatch.alerts.wording.doors import DOWN, ROOT, closed_door, down_words, way_in
from driftwatch.alerts.wording.note import (
    Note,
    Voice,
    began,
    check_of,
    code,
    ended,
    gap_line,
    gist,
    release,
    state,
    words,
)
from driftwatch.model import Era, Event, Json, Level, State

EVERYONE = frozenset(
    {
        "mcp/envelope",
        "mcp/initialized-ack",
        "mcp/message-text",
        "tools/pagination",
        "transport/accept-sse",
        "transport/content-type",
        "transport/redirect",
    }
)
"""Checks whose failure meets every client of an era, at its first steps."""

BY_ERA = {
    Era.MODERN.value: "clients of 2026-07-28",
    Era.LEGACY.value: "clients that begin with initialize",
    Era.HTTP_SSE.value: "clients of the HTTP+SSE transport",
}
"""Every client that meets the findings of one era."""

OURS = "auth/credential"
"""The check of the probe's own credential: it hides everything and hurts nobody."""

OURS_ALONE = "driftwatch alone, unless other credentials ended with its own"

PER_TOOL = frozenset({"tool", "schema"})
"""The families whose findings make no sense without the tool's name."""

_OWN_FAULTS = frozenset({"http-4xx", "protocol"})
"""Of a server that is down; anything else that many servers have at once is one cause on the way to them."""

TALLY = {
    State.FAILED.value: "failed",
    State.OBSERVED_RISK.value: "at risk",
    State.NOT_CHECKED.value: "not checked",
    State.VERIFIED.value: "verified",
}


def change(event: Event, voice: Voice) -> Note:
    """A check's state or code changed, not for the better."""
    check, result = check_of(event), _result(event)
    findings = _findings(result)
    said = _said(check, findings)
    down = down_words(check, event.after)
    blocked = strings(event.details.get("blocked"))
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"down - {down}" if down else _phrase(check, event.after, result, said),
        tally="down" if down else TALLY.get(state(event.after), "changed"),
        lines=(
            f"{check}: {words(event.before)} -> {words(event.after)}",
            *_what(said, result),
            *_folded(blocked),
            *gap_line(event.details),
        ),
        items=(*_items(said), *_shown(event)),
        since=began(event),
        release=release(event.details),
        blocks=len(blocked),
        affected=OURS_ALONE
        if check == OURS
        else _affected(
            findings,
            everyone=bool(down or blocked or check in EVERYONE) and state(event.after) == State.FAILED,
        ),
        fix=voice.fix(check) if state(event.after) != State.NOT_CHECKED else None,
        # What these say has its cause at the server itself, so that it tells two servers apart.
        alike=_alike(event, said if not down or code(event.after) in _OWN_FAULTS else ()),
    )


def recovery(event: Event, voice: Voice) -> Note:
    """A check is verified again, or as good as it was accepted."""
    check = check_of(event)
    down = down_words(check, event.before)
    unseen = gap_line(event.details)
    lasted = f"{'at most ' if unseen else ''}{duration(ended(event) - began(event))}"
    blocked = strings(event.details.get("blocked"))
    told = f"It lasted {lasted}"
    if _edited(event):
        told = f"It had lasted {lasted} when the settings were changed"
    lines = [
        f"{check}: {words(event.before)} -> {words(event.after)}",
        f"{told}: {voice.during(began(event), ended(event))}.",
        *unseen,
    ]
    if blocked:
        lines.append("What was not checked because of it can be checked again.")
    lines += _over_with_it(event)
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"back after {lasted}" if down else f"{check} {_again(event, lasted)}",
        tally="back" if down else _again_tally(event),
        lines=tuple(lines),
        blocks=len(blocked),
        release=release(event.details),
        alike=_alike(event, (lasted,)),
    )


def _again(event: Event, lasted: str) -> str:
    """How a check came out of it that is well again, or as it was accepted."""
    match state(event.after):
        case State.VERIFIED:
            return f"verified again after {lasted}"
        case State.NOT_CHECKED:
            was = TALLY.get(state(event.before), "changed")
            why = "not checked, as before"
            if _edited(event):
                why = gist(foreign(str(_result(event).get("reason") or "not checked")))
            elif code(event.after) == "not-applicable":
                why = "the rule does not apply any more"
            return f"no longer {was} after {lasted} - {why}"
        case _:
            return f"{words(event.after)} again, as accepted, after {lasted}"


def _edited(event: Event) -> bool:
    """Whether it is only the settings that ended it."""
    return event.details.get("edited") is True


def _again_tally(event: Event) -> str:
    if _edited(event):
        return "not checked any more"
    return "recovered" if state(event.after) == State.VERIFIED else "as accepted again"


def blip(first: Event, last: Event, voice: Voice) -> Note:
    """A change and its undo, told together."""
    check = check_of(first)
    down = down_words(check, first.after)
    lasted = duration(ended(last) - began(first))
    return Note(
        server=first.server,
        level=last.level,
        phrase=f"was down for {lasted} - {down}" if down else f"{check} for {lasted} {words(first.after)}",
        tally="back" if down else "recovered",
        lines=(
            f"{check}: {words(first.before)} -> {words(first.after)} -> {words(last.after)}",
            *_what(_said(check, _findings(_result(first))), _result(first)),
            f"A blip of {lasted}, over again: {voice.during(began(first), ended(last))}.",
        ),
        release=release(last.details) or release(first.details),
    )


def coverage_lost(event: Event, _voice: Voice) -> Note:
    """A check that used to be exercised no longer is, for a reason of its own."""
    check, result = check_of(event), _result(event)
    why = foreign(str(result.get("reason") or "no reason was given"))
    closed = closed_door(check, event.after)
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"closed - {closed.why}" if closed else f"{check} no longer checked - {gist(why)}",
        tally="closed" if closed else "not checked",
        lines=(
            f"{check}: {words(event.before)} -> {words(event.after)}",
            f"Not checked: {_as_sentence(why, capital=False)}",
            *_folded(strings(event.details.get("blocked"))),
            f"The last known state, {words(event.before)}, may be stale.",
            *gap_line(event.details),
        ),
        items=_shown(event),
        blocks=len(strings(event.details.get("blocked"))),
        since=began(event),
        release=release(event.details),
        affected=closed.affected if closed else None,
        fix=closed.fix if closed else None,
        alike=_alike(event, (why,)),
    )


def coverage_back(event: Event, voice: Voice) -> Note:
    """A check is exercised again."""
    check = check_of(event)
    lasted = duration(ended(event) - began(event))
    closed = closed_door(check, event.before)
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"open again after {lasted}" if closed else f"{check} checked again: {words(event.after)}",
        tally="open again" if closed else "checked again",
        lines=(
            f"{check}: {words(event.before)} -> {words(event.after)}",
            f"It was not checked for {lasted}, since {voice.at(began(event))}.",
            *_over_with_it(event),
        ),
        release=release(event.details),
    )


def added_with_problems(event: Event, voice: Voice) -> Note:
    """The first probe already found failed checks, or the first look at some checks did."""
    results = objects(event.details.get("results"))
    failed = [item for item in results if item.get("state") == State.FAILED]
    worst = failed or results
    first = label(str(worst[0].get("check"))) if worst else ""
    down = DOWN.get(str(worst[0].get("code"))) if first == ROOT else None
    blocked = strings(event.details.get("blocked"))
    what_failed = f"{count(len(worst), 'check')} failed"
    what = f"down - {down}" if down else what_failed
    fix = voice.fix(first) if first else None
    known = event.details.get("known") is True
    items = tuple(_failed_at_first(item) for item in worst)
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"first {'look' if known else 'probe'}: {what}",
        tally=f"with failed checks in the first {'look' if known else 'probe'}",
        lines=(
            f"{'Looked at for the first time' if known else 'First probe of this server'}: {what_failed}.",
            *_folded(blocked),
            "It is recorded as it is; from now on only changes are told.",
        ),
        items=items,
        release=release(event.details),
        affected=_affected([finding for item in worst for finding in _findings(item)], everyone=bool(down)),
        fix=f"{first}: {fix}" if fix and len(worst) > 1 else fix,
        alike=_alike(event, items),
    )


def _failed_at_first(result: Mapping[str, Json]) -> str:
    check = label(str(result.get("check")))
    said = _said(check, _findings(result))
    if not said:
        return f"{check}: {foreign(str(result.get('reason') or result.get('code') or 'failed'), 200)}"
    return f"{check}: {said[0]}" + (f" (+{len(said) - 1} more)" if len(said) > 1 else "")


def settled(event: Event, voice: Voice) -> Note:
    """A flapping or unsettled check is steady again, for better or worse."""
    check, lasted = check_of(event), duration(event.at - began(event))
    findings = _findings(_result(event))
    said = _said(check, findings)
    good, way = event.level is Level.INFO, way_in(check, event.after)
    muted = event.details.get("muted")
    quiet = (
        f" {count(muted, 'change')} in it {'was' if muted == 1 else 'were'} not told one by one."
        if muted
        else ""
    )
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"steady again: {way}" if way else f"{check} has settled: {words(event.after)}",
        tally="settled" if good else TALLY.get(state(event.after), "settled"),
        lines=(
            f"{check}: steady again, {words(event.after)}",
            *(() if good else _what(said, _result(event))),
            f"It had been unsteady for {lasted}, since {voice.at(began(event))}.{quiet}",
        ),
        items=() if good else _items(said),
        release=release(event.details),
        affected=None if good else _affected(findings, everyone=False),
        fix=None if good else voice.fix(check),
    )


def _phrase(check: str, value: str | None, result: Mapping[str, Json], said: Sequence[str]) -> str:
    what = f"{check} {TALLY.get(state(value), 'changed')}"
    if len(said) > 1 and check.partition("/")[0] in PER_TOOL:
        return f"{what} - {count(len(_findings(result)), 'finding')}"
    why = gist(said[0] if said else str(result.get("reason") or ""))
    more = f" (+{len(said) - 1} more)" if len(said) > 1 else ""
    return f"{what} - {why}{more}" if why else what


def _what(said: Sequence[str], result: Mapping[str, Json]) -> tuple[str, ...]:
    """One finding in full; different ones become items; without any, the reason."""
    findings = _findings(result)
    if not findings:
        return (_as_sentence(foreign(str(result["reason"]))),) if result.get("reason") else ()
    if len(said) > 1:
        return ()
    measured, expected = str(findings[0].get("measured") or ""), str(findings[0].get("expected") or "")
    if len(findings) > 1 or not measured or measured in said[0]:
        return (said[0],)
    wanted = f"Expected {foreign(expected, 120)}; m" if expected else "M"
    return (said[0], f"{wanted}easured {foreign(measured, 120)}.")


def _items(said: Sequence[str]) -> tuple[str, ...]:
    return tuple(said) if len(said) > 1 else ()


def _said(check: str, findings: Sequence[Mapping[str, Json]]) -> tuple[str, ...]:
    """What the findings say, one line for all subjects that share a message."""
    subjects: dict[tuple[str, str], dict[str, None]] = {}
    eras = {finding.get("era") for finding in findings}
    for finding in findings:
        era = f" [{finding['era']}]" if len(eras) > 1 and finding.get("era") else ""
        said = (str(finding.get("message")), era)
        subjects.setdefault(said, {})[label(str(finding.get("subject") or ""))] = None
    many = check.partition("/")[0] in PER_TOOL
    return tuple(
        (f"{listed(names)}: " if many or len(names) > 1 else "") + foreign(message) + era
        for (message, era), names in subjects.items()
    )


def _folded(blocked: Sequence[str]) -> tuple[str, ...]:
    if not blocked:
        return ()
    verb = "is" if len(blocked) == 1 else "are"
    return (f"{count(len(blocked), 'check')} {verb} not checked because of it.",)


def _shown(event: Event) -> tuple[str, ...]:
    """What is seen only because of it, such as how a shut door refuses; the worst first."""
    rank = {State.FAILED.value: 0, State.OBSERVED_RISK.value: 1}
    results = objects(event.details.get("shown"))
    return tuple(map(_one_shown, sorted(results, key=lambda each: rank.get(str(each.get("state")), 2))))


def _one_shown(result: Mapping[str, Json]) -> str:
    check, said = label(str(result.get("check"))), _said("", _findings(result))
    what = f"{check} {TALLY.get(str(result.get('state')), 'changed')}"
    if not said:
        return what
    return f"{what}: {said[0]}" + (f" (+{len(said) - 1} more)" if len(said) > 1 else "")


def _over_with_it(event: Event) -> tuple[str, ...]:
    """What was seen only because of it ends with it."""
    bad = [
        f"{label(str(result.get('check')))} {TALLY.get(str(result.get('state')), 'changed')}"
        for result in objects(event.details.get("shown"))
        if result.get("state") in {State.FAILED, State.OBSERVED_RISK}
    ]
    return (f"Over with it: {joined(bad)}.",) if bad else ()


def _affected(findings: Sequence[Mapping[str, Json]], *, everyone: bool) -> str | None:
    clients = dict.fromkeys(client for finding in findings for client in strings(finding.get("clients")))
    if clients:
        return listed((label(client) for client in clients), shown=6)
    if not everyone:
        return None
    eras = {finding.get("era") for finding in findings}
    return BY_ERA.get(str(eras.pop()), "every client") if len(eras) == 1 else "every client"


def _alike(event: Event, said: Sequence[str]) -> str:
    """Servers of which the same is told share a section, whatever was measured."""
    return "\n".join((event.kind, event.subject or "", event.before or "", event.after or "", *said))


def _as_sentence(text: str, *, capital: bool = True) -> str:
    end = "" if text.endswith((".", "!", "?", "…")) else "."
    return (text[:1].upper() + text[1:] if capital else text) + end


def _result(event: Event) -> Mapping[str, Json]:
    result = event.details.get("result")
    return result if isinstance(result, Mapping) else {}


def _findings(result: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    return objects(result.get("findings"))
