"""How long a client waits, and whether what is on its way to it gets through."""

from driftwatch.checks.answers import SUCCESS
from driftwatch.checks.base import Found, NotChecked, Verdict, Verified, check, count, once, shown
from driftwatch.checks.clients import FIRST_ANSWER_S
from driftwatch.checks.replies import EVENT_STREAM, mistyped_alike
from driftwatch.checks.sources import item
from driftwatch.evidence import Exchange, Fault, Missing, Opening, Outcome, SlowCall, Streaming
from driftwatch.model import Depth, Era, Severity

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_LATE = frozenset({"timeout", "deadline"})
_GATEWAY_TIMEOUTS = frozenset({504, 524})
"""What a proxy answers that waited longer than it may; 524 is Cloudflare's."""

_NGINX = ("nginx", "openresty", "tengine", "angie")

_SEVERAL = 2
_WORTH_WATCHING_S = 1.0
"""Of a call that is quicker, nothing can be told from the times of its events."""
_BURST_SHARE = 0.9
"""Progress of which the first event comes after this share of the call was held back."""


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


@check(
    id="timeouts/stream-buffering",
    title="Something on the way holds events back",
    severity=Severity.HEADS_UP,
    sources=(item(10),),
    eras=(Era.MODERN,),
    depth=Depth.FULL,
)
def stream_buffering(subscription: Streaming, opening: Exchange) -> Verdict:
    """The first event of a stream: when it comes through, and whether proxies are asked to let it through.

    The stream is that of `subscriptions/listen`, which calls no tool and must begin with an acknowledgement.
    It is asked for where the server declares `tools.listChanged`.

    Why it matters:
        A proxy that buffers keeps every event until the reply ends. Progress then arrives together with the
        answer, or after the client has given up, and a subscription that never ends never says anything.

    How to fix it:
        Send `X-Accel-Buffering: no` with every event stream; nginx and what is made of it obey. Elsewhere
        switch response buffering off for the MCP route, and compression of event streams too.
    """
    seen = subscription
    if seen.status in _GATEWAY_TIMEOUTS:
        return [_held(seen, f"HTTP {seen.status}")]
    if seen.status is not None and seen.status not in SUCCESS:
        return NotChecked(f"subscriptions/listen was answered with HTTP {seen.status}", "refused")
    if seen.first_message is not None and seen.first_message.startswith("error"):
        return NotChecked(f"subscriptions/listen was answered with {seen.first_message}", "refused")
    if seen.status is None and seen.fault is not None and seen.fault.code not in _LATE:
        return NotChecked(f"subscriptions/listen got no answer: {seen.fault.message}", seen.fault.code)
    if seen.fault is not None:
        # Nothing was made of a body of another type, not even its status was noted.
        mistyped = mistyped_alike(seen.media_type if seen.status else opening.media_type, opening)
        return mistyped or [_no_first_event(seen, seen.fault)]
    found = []
    if seen.first_message != _ACKNOWLEDGED:
        found.append(
            Found(
                code="not-acknowledged",
                subject="subscriptions/listen",
                message="The stream does not begin with the acknowledgement of the subscription.",
                expected=_ACKNOWLEDGED,
                measured=seen.first_message or "nothing",
            )
        )
    came = f"the first event came after {seen.first_event_s or 0.0:.2f} s"
    if seen.accel_buffering is None and _keeps_the_mark(opening):
        return found or Verified(f"{came}; nginx, which is in front, keeps X-Accel-Buffering to itself")
    found += _unmarked(seen.media_type, seen.accel_buffering, "subscriptions/listen")
    return found or Verified(came)


@check(
    id="timeouts/slow-tool",
    title="A slow tool's progress or answer does not get through",
    severity=Severity.HEADS_UP,
    sources=(item(10),),
    depth=Depth.FULL,
)
def slow_tool(slow_call: SlowCall) -> Verdict:
    """One call of the tool that the configuration names as slow, with a progress token.

    Nothing of what the tool says is kept, only when it said something.

    Why it matters:
        Somebody waits for every call. Between your server and the agent stand proxies with time limits of
        their own; one that cuts after 60 seconds fails exactly the calls that matter most, and only in
        production.

    How to fix it:
        Raise the read timeout of every proxy on the MCP route above the slowest tool, and let the tool
        report progress, which keeps idle timers from running out. Switch buffering off for event streams.
        What takes minutes belongs into a task that the client polls.
    """
    seen = slow_call
    if seen.answer_s is not None and (seen.error or seen.is_error):
        return NotChecked(
            f"the call of {shown(seen.tool, 40)} failed: {seen.error or 'isError'}", "call-failed"
        )
    if seen.status in _GATEWAY_TIMEOUTS:
        return [_cut_off(seen, "gateway-timeout", f"HTTP {seen.status}")]
    if seen.status is not None and seen.status not in SUCCESS:
        return NotChecked(f"the call was answered with HTTP {seen.status}", "http-status")
    if seen.answer_s is None:
        fault = seen.fault
        code = "no-answer" if fault is None or fault.code in _LATE else "cut"
        return [_cut_off(seen, code, fault.message if fault else "no answer")]
    found = _unmarked(seen.media_type, seen.accel_buffering, seen.tool) if seen.era is Era.MODERN else []
    if _came_at_once(seen.progress_s, seen.answer_s):
        found.insert(
            0,
            Found(
                code="progress-held",
                subject=seen.tool,
                message="The progress comes in one burst at the end: something buffers the stream.",
                expected="progress as it happens",
                measured=f"{len(seen.progress_s)} events in the last "
                f"{seen.answer_s - seen.progress_s[0]:.1f} s of {seen.answer_s:.1f} s",
            ),
        )
    progress = (
        count(len(seen.progress_s), "progress event") if seen.progress_s else "no progress was reported"
    )
    return found or Verified(f"answered after {seen.answer_s:.1f} s, {progress}")


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


def _no_first_event(seen: Streaming, fault: Fault) -> Found:
    if fault.code in _LATE:
        return _held(seen, f"nothing, {'after the headers' if seen.status else 'not even the headers'}")
    return Found(
        code="cut",
        subject="subscriptions/listen",
        message="The stream ends before its first event.",
        expected="the acknowledgement as its first event",
        measured=fault.message,
        severity=Severity.WILL_BREAK,
    )


def _held(seen: Streaming, measured: str) -> Found:
    return Found(
        code="held",
        subject="subscriptions/listen",
        message="The stream's first event does not come through: something on the way holds it back.",
        expected=f"the acknowledgement within {seen.waited_s:g} s",
        measured=measured,
    )


def _cut_off(seen: SlowCall, code: str, measured: str) -> Found:
    return Found(
        code=code,
        subject=seen.tool,
        message="The tool does not answer within the time that the configuration gives it."
        if code == "no-answer"
        else "The call was cut off before the tool's answer.",
        expected=f"an answer within {seen.max_s:g} s",
        measured=measured,
        severity=Severity.WILL_BREAK,
    )


def _unmarked(media_type: str | None, accel_buffering: str | None, subject: str) -> list[Found]:
    """2026-07-28 asks servers to tell proxies not to buffer an event stream."""
    if media_type != EVENT_STREAM or (accel_buffering or "").strip().lower() == "no":
        return []
    return [
        Found(
            code="unmarked",
            subject=subject,
            message="The event stream does not ask proxies to pass events on at once.",
            expected="X-Accel-Buffering: no",
            measured=f"X-Accel-Buffering: {shown(accel_buffering)}" if accel_buffering else "no such header",
            severity=Severity.NOTE,
        )
    ]


def _keeps_the_mark(reply: Exchange) -> bool:
    """Whether a proxy is in front that obeys the header and does not pass it on."""
    return (reply.header("server") or "").lower().startswith(_NGINX)


def _came_at_once(progress_s: tuple[float, ...], answer_s: float) -> bool:
    several = len(progress_s) >= _SEVERAL and answer_s >= _WORTH_WATCHING_S
    return several and progress_s[0] >= _BURST_SHARE * answer_s
