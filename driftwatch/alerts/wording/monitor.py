"""What driftwatch says about itself."""

from driftwatch.alerts.text import count, foreign, label
from driftwatch.alerts.wording.note import Note, Voice, began, span, time_of
from driftwatch.model import Event

PROBLEMS = 5
"""Problems of a configuration that a message names."""


def offline(event: Event, voice: Voice) -> Note:
    """Everything failed at once, and so did the canary: it is this machine's network."""
    if event.details.get("over"):
        return _online(event, voice)
    hosts, failed = event.details.get("hosts"), event.details.get("failed")
    many = (
        f"{failed} of {hosts} hosts"
        if isinstance(hosts, int) and isinstance(failed, int)
        else "nearly every host"
    )
    canary = event.details.get("canary") is not False
    doubt = ", and the canary did too" if canary else ""
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"seems to be offline - {many} cannot be reached",
        tally="monitor offline",
        lines=(
            f"From here {many} failed with network errors at once{doubt}.",
            "So this says nothing about the servers: their states are kept, and nobody watches them for now.",
            *(() if canary else ("If this message arrived, look at the servers all the same.",)),
        ),
        since=began(event),
        fix="Check the network, the DNS and the proxy of the machine that runs driftwatch"
        + ("." if canary else "; a [monitor] canary_url tells an outage of all servers from one of its own."),
    )


def _online(event: Event, voice: Voice) -> Note:
    lasted = span(event.details.get("duration_s")) or "a while"
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"is online again after {lasted}",
        tally="monitor online",
        lines=(
            f"Servers can be reached again; driftwatch was cut off for {lasted}.",
            f"Nothing was watched meanwhile: {voice.during(began(event), event.at)}.",
        ),
    )


def storage_fault(event: Event, voice: Voice) -> Note:
    """The database could not be read or written; told as soon as that can be written down."""
    error = event.details.get("error")
    lasted = span(event.details.get("duration_s"))
    over = event.details.get("over") is not False
    if over and event.details.get("told"):
        return _storing(event, voice)
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"database fault{f' for {lasted}' if lasted else ''}",
        tally="database fault",
        lines=(
            f"The database could not be used{f': {foreign(str(error), 200)}' if error else '.'}",
            "It works again." if over else "It may go on: something was refused minutes ago.",
            "What could not be recorded is probed again; no server's state was changed.",
        ),
        since=began(event),
        fix="Check the free space and the permissions of the volume that holds the database.",
    )


def _storing(event: Event, voice: Voice) -> Note:
    lasted = span(event.details.get("duration_s")) or "a while"
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"the database works again after {lasted}",
        tally="database works again",
        lines=(
            "Nothing is refused any more.",
            f"It could not be used, or not for everything, for {lasted} from {voice.at(began(event))} on.",
        ),
    )


def delivery_dead(event: Event, voice: Voice) -> Note:
    """A channel could not be served; told through the others."""
    details = event.details
    if "dropped" in details:
        return _channel_removed(event)
    channel = label(str(details.get("channel") or "a channel"))
    scheme = details.get("scheme")
    attempts = details.get("attempts")
    lines = [f"A message for channel {channel}{f' ({label(str(scheme))})' if scheme else ''} was given up."]
    if details.get("title"):
        lines.append(f"It said: {foreign(str(details['title']), 160)}")
    if details.get("error"):
        lines.append(f"The last error: {foreign(str(details['error']), 200)}")
    created = time_of(details.get("created_at"))
    phrase = f"channel {channel} takes no messages"
    fix = f"Correct the channel's URL or its service, then try `{voice.command('notify test')}`."
    if details.get("only"):
        phrase = "a message was given up while this channel took none"
        again = voice.command(f"outbox retry {label(str(details.get('message')))[:8]}")
        fix = f"`{again}` sends it after all."
    tried = count(attempts, "attempt") if isinstance(attempts, int) else "several attempts"
    return Note(
        server=event.server,
        level=event.level,
        phrase=phrase,
        tally="delivery failed",
        lines=(*lines, f"Given up after {tried}{f' since {voice.at(created)}' if created else ''}."),
        fix=fix,
    )


def _channel_removed(event: Event) -> Note:
    """What waited for a channel that is no longer configured was dropped."""
    number = event.details.get("dropped")
    waiting = count(number, "message") if isinstance(number, int) else "messages"
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{waiting} dropped for channels that are no longer configured",
        tally="dropped",
        lines=(f"{waiting} waited for channels that are no longer configured and were dropped.",),
    )


def clock_step(event: Event, _voice: Voice) -> Note:
    """The wall clock jumped."""
    step = event.details.get("seconds")
    by = span(abs(step)) if isinstance(step, int | float) else None
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"the clock jumped{f' by {by}' if by else ''}",
        tally="clock step",
        lines=(f"The clock of the machine jumped{f' by {by}' if by else ''}; due times were put right.",),
        since=event.at,
    )


def config_rejected(event: Event, voice: Voice) -> Note:
    """The configuration file was changed and cannot be used."""
    problems = event.details.get("problems")
    told = [str(problem) for problem in problems] if isinstance(problems, list) else []
    lines = [foreign(problem, 200) for problem in told[:PROBLEMS]]
    if len(told) > PROBLEMS:
        lines.append(f"and {len(told) - PROBLEMS} more")
    return Note(
        server=event.server,
        level=event.level,
        phrase="the changed configuration was rejected",
        tally="configuration rejected",
        lines=(*lines, "The configuration before it stays in force."),
        since=event.at,
        fix=f"Correct the file; `{voice.command('config check')}` names every problem. "
        "It is read again by itself.",
    )


def test(event: Event, voice: Voice) -> Note:
    """`driftwatch notify test` asked for it."""
    channel = event.details.get("channel")
    where = f"channel {label(str(channel))}" if channel else "this channel"
    return Note(
        server=event.server,
        level=event.level,
        phrase="test message",
        tally="test",
        lines=(
            f"This is a test. It came the way every alert comes, so {where} works.",
            f"Asked for at {voice.at(event.at)} with `driftwatch notify test`.",
        ),
    )


def other(event: Event, voice: Voice) -> Note:
    """A kind that belongs into the history; in plain words should it ever be sent."""
    kind = event.kind.value.replace("_", " ")
    about = f" ({label(event.subject)})" if event.subject else ""
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{kind}{about}",
        tally=kind,
        lines=(f"{kind.capitalize()}{about}, at {voice.at(event.at)}.",),
    )
