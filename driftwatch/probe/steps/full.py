"""What only a full probe asks: requests beside the plain ones, one at a time, each once.

Most of them are deliberately wrong, to see how they are refused. They ask nothing of the server but an
answer, and a server that is asked too often (429) is left alone.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from driftwatch.evidence import Exchange, Missing, Streaming, Surface
from driftwatch.model import Json
from driftwatch.probe.conversation import eras, modern, outcome
from driftwatch.probe.conversation.dialogue import ACCEPT, JSON_ONLY
from driftwatch.probe.conversation.talk import Talk
from driftwatch.probe.steps import cut_off, second_read, subscription
from driftwatch.probe.steps.tool_call import tool_call
from driftwatch.probe.target import Target
from driftwatch.probe.wire.request import Read, Request
from driftwatch.probe.wire.sse import EVENT_STREAM

FOREIGN_ORIGIN = "https://driftwatch-probe.invalid"
"""The Origin of a website that no server can know: ``.invalid`` is reserved."""
NO_SUCH_METHOD = "driftwatch/no_such_method"
NO_SUCH_CURSOR = "driftwatch-not-a-cursor"
FUTURE_REVISION = "2099-01-01"
"""Far ahead: some servers take an ancient revision for one of initialize."""
GET_S = 5.0
"""How long the headers of the reply to GET may take."""

SWITCHED_OFF = Missing("switched off in the configuration (negative_probes)", "switched-off")
SPENT = Missing("the request budget of this probe is spent: ending sessions took too much of it", "budget")
NOT_OVER_SSE = Missing("not asked over the old HTTP+SSE transport", "not-applicable")
OPEN_ORIGIN = Missing("the server is declared to accept every Origin (origin)", "declared-open")
NO_CURSOR = Missing("the server issued no cursor", "no-cursor")
NO_SESSION = Missing("the server issued no session", "no-session")
NO_TOOL_CALL = Missing(
    "no error probe is configured (tool_call); calling a tool may have side effects", "not-configured"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request, and the part of the surface that its reply becomes."""

    part: str
    """A field of Surface."""
    ask: Callable[[Talk, Target], Awaitable[Any]]
    """What comes back is an Exchange or whatever else the part is, or Missing."""
    wrong: str | None = None
    """What is wrong with it on purpose, in words: ``negative_probes = false`` leaves it out."""


async def of_modern(talk: Talk, target: Target) -> Surface:
    """The modern surface with everything that a full probe asks of it."""
    return await _take(MODERN, talk, target, _nothing(talk))


async def of_legacy(talk: Talk, target: Target) -> Surface:
    """The legacy surface with everything that is asked while its session lives."""
    return await _take(LEGACY, talk, target, _nothing(talk))


async def after_session(talk: Talk, target: Target) -> Surface:
    """The legacy surface with what is asked after its session was ended."""
    return await _take(AFTER_SESSION, talk, target, {})


def of_http_sse(surface: Surface) -> Surface:
    """The surface of the old transport, of which nothing more is asked."""
    parts: dict[str, Any] = dict.fromkeys(PARTS, NOT_OVER_SSE)
    return replace(surface, **parts)


def _nothing(talk: Talk) -> dict[str, Any]:
    return dict.fromkeys(PARTS, Missing(f"the {talk.surface.era} era has no such request", "not-applicable"))


async def _take(steps: tuple[Step, ...], talk: Talk, target: Target, parts: Mapping[str, Any]) -> Surface:
    """The surface with these parts, and with those that the steps bring instead."""
    taken = dict(parts)
    limited: Missing | None = None
    for step in steps:
        if step.wrong and not target.negative_probes:
            taken[step.part] = SWITCHED_OFF
        elif (unasked := limited or talk.dialogue.shut_out) is not None:
            taken[step.part] = unasked
        else:
            seen = await step.ask(talk, target)
            if (
                isinstance(seen, Exchange | Streaming)
                and seen.fault is not None
                and seen.fault.code == "budget"
            ):
                seen = SPENT
            if isinstance(seen, Exchange):
                refusal = outcome.blocked(seen)
                if refusal is not None and refusal.code == "rate-limited":
                    limited = Missing(refusal.message, refusal.code)
                await _note_cut_off(talk, step, seen)
                seen = talk.dialogue.shut_out or seen
            taken[step.part] = seen
    return replace(talk.surface, **taken)


async def _note_cut_off(talk: Talk, step: Step, seen: Exchange) -> None:
    if step is _FOREIGN_ORIGIN and seen.forbidden:  # as it should be
        talk.dialogue.provoked = step.wrong
        return
    plain = replace(talk.first("still-there"), extra=True, timeout_s=cut_off.PATIENCE_S)
    await cut_off.note(talk.dialogue, seen, step.wrong, lambda: talk.send(plain))


async def _get(talk: Talk, _: Target) -> Exchange:
    # A stream stays open without a byte, so nothing but its headers is read; some servers hold even those
    # back until there is something to say.
    request = Request(
        label="get",
        http_method="GET",
        headers=talk.headers,
        accept=EVENT_STREAM,
        read=Read.HEADERS,
        timeout_s=GET_S,
    )
    return await talk.send(request)


async def _json_only(talk: Talk, _: Target) -> Exchange:
    return await talk.send(replace(talk.first("json-only"), accept=JSON_ONLY))


async def _foreign_origin(talk: Talk, target: Target) -> Exchange | Missing:
    if target.origin == "open":
        return OPEN_ORIGIN
    request = talk.first("foreign-origin")
    return await talk.send(replace(request, headers=(*request.headers, ("Origin", FOREIGN_ORIGIN))))


async def _unknown_method(talk: Talk, _: Target) -> Exchange:
    return await talk.send(talk.further("unknown-method", NO_SUCH_METHOD, {}))


async def _invalid_cursor(talk: Talk, _: Target) -> Exchange | Missing:
    listing = talk.surface.listing
    if isinstance(listing, Missing):
        return listing
    if not listing.cursors:
        return NO_CURSOR
    request = talk.further("invalid-cursor", "tools/list", {"cursor": NO_SUCH_CURSOR})
    return await talk.send(replace(request, extra=True))


async def _header_mismatch(talk: Talk, _: Target) -> Exchange:
    # The body asks for server/discover: harmless, whichever of the two the server believes.
    other = talk.further("", "tools/list", {}).headers
    return await talk.send(replace(talk.first("header-mismatch"), headers=other))


async def _unsupported_version(talk: Talk, _: Target) -> Exchange:
    accept = talk.first("").accept or ACCEPT
    request = modern.request(
        talk.dialogue,
        "unsupported-version",
        "server/discover",
        {},
        accept=accept,
        revision=FUTURE_REVISION,
    )
    return await talk.send(request)


async def _tool_arguments(talk: Talk, target: Target) -> Exchange | Missing:
    call = target.tool_call
    if call is None:
        return NO_TOOL_CALL
    request = tool_call(talk, "tool-arguments", call.name, call.arguments)
    return request if isinstance(request, Missing) else await talk.send(request)


async def _second_read(talk: Talk, _: Target) -> tuple[Json, ...] | Missing:
    return await second_read.read(talk)


async def _subscription(talk: Talk, _: Target) -> Streaming | Missing:
    return await subscription.listen(talk)


async def _session_after_end(talk: Talk, _: Target) -> Exchange | Missing:
    ended = talk.surface.session_ended
    if ended is None:
        return NO_SESSION
    if not eras.ok(ended):
        return _not_ended(ended)
    return await talk.send(talk.further("after-end", "tools/list", {}))


def _not_ended(delete: Exchange) -> Missing:
    if delete.status in {HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}:
        return Missing(f"the server does not let clients end sessions ({delete.status})", "no-delete")
    if delete.fault is not None:
        # Where no time was left for it, the list is what took it, if anything is wrong with that one.
        cause = "tools/pagination" if delete.fault.code == "deadline" else None
        return Missing(f"the session could not be ended: {delete.fault.message}", delete.fault.code, cause)
    return Missing(f"the session could not be ended: HTTP {delete.status} to DELETE", "not-ended")


_GET = Step(part="get", ask=_get)
_JSON_ONLY = Step(part="json_only", ask=_json_only)
_FOREIGN_ORIGIN = Step(part="foreign_origin", ask=_foreign_origin, wrong="a request with a foreign Origin")
_UNKNOWN_METHOD = Step(
    part="unknown_method", ask=_unknown_method, wrong="a request for a method that does not exist"
)
_INVALID_CURSOR = Step(part="invalid_cursor", ask=_invalid_cursor, wrong="a cursor that was never issued")
_SECOND_READ = Step(part="second_read", ask=_second_read)
_TOOL_ARGUMENTS = Step(part="tool_arguments", ask=_tool_arguments, wrong="a tool call with wrong arguments")

MODERN = (
    _SECOND_READ,
    _GET,
    _JSON_ONLY,
    _FOREIGN_ORIGIN,
    _UNKNOWN_METHOD,
    Step(part="header_mismatch", ask=_header_mismatch, wrong="a request whose header contradicts its body"),
    Step(
        part="unsupported_version",
        ask=_unsupported_version,
        wrong="a request at a revision that does not exist",
    ),
    _INVALID_CURSOR,
    Step(part="subscription", ask=_subscription),
    _TOOL_ARGUMENTS,
)
"""What is asked in the modern era, in order."""

LEGACY = (
    _SECOND_READ,
    _JSON_ONLY,
    _FOREIGN_ORIGIN,
    _UNKNOWN_METHOD,
    _INVALID_CURSOR,
    _TOOL_ARGUMENTS,
    _GET,
)
"""What is asked while the legacy session lives, in order. GET comes last: some servers end a session with the
stream that it opens.
"""

AFTER_SESSION = (
    Step(part="session_after_end", ask=_session_after_end, wrong="a request within a session that was ended"),
)
"""What is asked after it was ended."""

PARTS = tuple(dict.fromkeys(step.part for step in (*MODERN, *LEGACY, *AFTER_SESSION)))
"""Every part of a surface that a full probe fills."""
