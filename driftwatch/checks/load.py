"""What a client is told that asks too often."""

from collections.abc import Iterator

from driftwatch.checks.answers import SERVER_ERROR
from driftwatch.checks.base import Found, Verdict, Verified, check, count
from driftwatch.checks.sources import item
from driftwatch.evidence import Burst
from driftwatch.model import Depth, Severity

TOO_MANY = range(429, 430)
_REFUSALS = range(400, 500)
"""Where the range of statuses begins that refuse."""


@check(
    id="load/rate-limit",
    title="A client that asks too often is not told so",
    severity=Severity.HEADS_UP,
    sources=(item(11),),
    depth=Depth.FULL,
)
def rate_limit(burst: Burst) -> Verdict:
    """The answers to a burst of small requests, sent one right after the other with the owner's consent.

    Every revision asks servers to limit how often tools are called. No tool is called here: the burst asks
    for server/discover, or for the tool list before 2026-07-28.

    Why it matters:
        An agent in a loop asks the same thing many times within seconds. Told 429 and when to come back, it
        waits. A request that hangs or an error 500 makes it try again at once, and takes the server away
        from everybody else.

    How to fix it:
        Answer what is too much with 429 and a `Retry-After` header, in the proxy or in the application, and
        count per credential and not per address.
    """
    found = list(_faults(burst))
    if found:
        return found
    refused = _count(burst, TOO_MANY)
    if refused:
        return Verified(f"{refused} of {burst.sent} requests were refused with 429 and Retry-After")
    return [
        Found(
            severity=Severity.NOTE,
            code="unlimited",
            subject=burst.method,
            message="No request of the burst was refused; tool calls may have a limit of their own.",
            expected="429 with Retry-After, at some rate",
            measured=_measured(burst),
        )
    ]


def _faults(burst: Burst) -> Iterator[Found]:
    broken = dict(burst.faults)
    hangs = broken.pop("timeout", 0) + broken.pop("deadline", 0)
    if hangs:
        yield _found(burst, "hang", "A request of the burst got no answer in time.", Severity.WILL_BREAK)
    if _count(burst, SERVER_ERROR):
        message = "The burst was answered with server errors instead of a refusal."
        yield _found(burst, "server-error", message, Severity.WILL_BREAK)
    if broken:
        message = "Connections were cut during the burst."
        yield _found(burst, "cut", message, Severity.WILL_BREAK)
    limited = _count(burst, TOO_MANY)
    if limited > burst.retry_after:
        message = "Requests were refused without Retry-After: clients cannot know when to come back."
        yield _found(burst, "no-retry-after", message, None)
    others = _count(burst, _REFUSALS) - limited
    if others or burst.errors:
        message = "Requests were refused in a way that does not say that they were too many."
        yield _found(burst, "unclear-refusal", message, None)


def _found(burst: Burst, code: str, message: str, severity: Severity | None) -> Found:
    return Found(
        severity=severity,
        code=code,
        subject=burst.method,
        message=message,
        expected="an answer, or 429 with Retry-After",
        measured=_measured(burst),
    )


def _measured(burst: Burst) -> str:
    answers = [f"{count(number, 'time')} HTTP {status}" for status, number in burst.statuses]
    answers += [f"{count(number, 'time')} {code}" for code, number in burst.faults]
    errors = f", {burst.errors} of them JSON-RPC errors" if burst.errors else ""
    return f"{', '.join(answers)}{errors} in {burst.duration_s:.1f} s"


def _count(burst: Burst, statuses: range) -> int:
    return sum(count for status, count in burst.statuses if status in statuses)
