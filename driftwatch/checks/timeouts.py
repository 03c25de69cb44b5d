"""How long a client waits."""

from driftwatch.checks.base import Found, NotChecked, Verdict, check, once
from driftwatch.checks.clients import FIRST_ANSWER_S
from driftwatch.checks.sources import item
from driftwatch.evidence import Exchange, Missing, Opening, Outcome
from driftwatch.model import Era, Severity


@check(
    id="timeouts/first-answer",
    title="The first answer takes longer than clients wait",
    severity=Severity.HEADS_UP,
    sources=(item(10),),
)
def first_answer(openings: tuple[Opening, ...] | Missing, outcome: Outcome) -> Verdict:
    """The time from sending the first request, connection included, to the first byte of its answer.

    Why it matters:
        Many clients connect with the time limit of their HTTP library, which is five seconds. A server that
        wakes up when it is asked, or that builds its tool list first, is a server that cannot be reached for
        them, at least at the first try after a pause.

    How to fix it:
        Keep one instance warm, and answer server/discover and initialize before anything is loaded that only
        the tools need.
    """
    attempts = [
        (opening.era, attempt)
        for opening in (() if isinstance(openings, Missing) else openings)
        for attempt in opening.attempts
        if opening.established
    ]
    if not attempts:
        cause = "tls/chain" if outcome.code in {"certificate", "tls"} else "transport/endpoint"
        return NotChecked(outcome.message, outcome.code, cause)
    return once(_slow(era, attempt) for era, attempt in attempts if _waited(attempt) > FIRST_ANSWER_S)


def _waited(attempt: Exchange) -> float:
    if attempt.first_byte_s is not None:
        return attempt.first_byte_s
    timed_out = attempt.fault is not None and attempt.fault.code == "timeout"
    return attempt.duration_s if timed_out else 0.0


def _slow(era: Era, attempt: Exchange) -> Found:
    came = attempt.first_byte_s is not None
    return Found(
        code="slow",
        subject=attempt.rpc_method or attempt.label,
        message="A client that waits as long as its HTTP library does has given up by then.",
        expected=f"an answer within {FIRST_ANSWER_S:g} s",
        measured=f"{_waited(attempt):.1f} s"
        if came
        else f"none in {_waited(attempt):.1f} s, at the first try",
        era=era,
    )
