"""How wrong requests are refused: clients read the refusals to find out what to do next."""

from collections.abc import Iterable, Iterator
from http import HTTPStatus

from driftwatch.checks.answers import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    answered,
    error_code,
    has_other_id,
    ok,
    outlived,
    stray,
    supported_revisions,
    unheard,
    unkept,
)
from driftwatch.checks.base import Found, Verdict, Verified, check
from driftwatch.checks.messages import frame_faults
from driftwatch.checks.sources import item
from driftwatch.evidence import Exchange, Missing, Replicas
from driftwatch.model import Depth, Era, Json, Severity, position

_PRERELEASE = frozenset({-32001, -32003, -32004})
"""What drafts of 2026-07-28 used for the codes from -32020 on."""
_TOOL_ERRORS_SINCE = "2025-11-25"
"""Since then wrong arguments are a tool's own error, which the model gets to read."""


@check(
    id="errors/unknown-method",
    title="An unknown method is not refused as such",
    severity=Severity.WILL_BREAK,
    sources=(item(9),),
    depth=Depth.FULL,
    eras=(Era.MODERN, Era.LEGACY),
)
def unknown_method(
    *,
    unknown_method: Exchange,
    opening: Exchange,
    era: Era,
    session: bool,
    session_ended: Exchange | None,
    acknowledgement: Exchange | None,
    replicas: Replicas | Missing,
) -> Verdict:
    """A request with a method that nobody has: JSON-RPC error -32601, since 2026-07-28 with HTTP 404.

    Why it matters:
        Clients try methods to find out what a server can do, and fall back when the answer is "method not
        found". Any other answer is read as a fault of the server, or as a server of another era.

    How to fix it:
        Answer -32601 in a JSON-RPC error object, with HTTP 404 to requests of 2026-07-28. Look at routers and
        frameworks that answer an unknown path or method themselves, without a body.
    """
    mortal = session and not outlived(session_ended)
    silence = unkept(unknown_method, acknowledgement) or unheard(unknown_method, within_session=mortal)
    if silence is not None:
        return silence
    status = HTTPStatus.NOT_FOUND if era is Era.MODERN else None
    found = _refusal(unknown_method, opening, "the method", METHOD_NOT_FOUND, status)
    return _unless_stray(found, era, replicas)


@check(
    id="errors/header-mismatch",
    title="A header that contradicts the body is not refused as such",
    severity=Severity.WILL_BREAK,
    sources=(item(9),),
    depth=Depth.FULL,
    eras=(Era.MODERN,),
    since_revision="2026-07-28",
)
def header_mismatch(
    header_mismatch: Exchange, opening: Exchange, era: Era, replicas: Replicas | Missing
) -> Verdict:
    """A server/discover whose `Mcp-Method` header says tools/list: HTTP 400 with error -32020.

    Why it matters:
        Proxies decide by the header what a request may do, servers do what the body says. Where the two may
        differ, a request that a proxy would have stopped gets through under another name.

    How to fix it:
        Compare `Mcp-Method`, `Mcp-Name` and `MCP-Protocol-Version` with the body before doing anything, and
        answer HTTP 400 with a JSON-RPC error -32020. Current official SDKs do.
    """
    silence = unheard(header_mismatch)
    if silence is not None:
        return silence
    found = _refusal(header_mismatch, opening, "the header", HEADER_MISMATCH, HTTPStatus.BAD_REQUEST)
    return _unless_stray(found, era, replicas)


@check(
    id="errors/unsupported-version",
    title="An unsupported revision is not refused with the supported ones",
    severity=Severity.WILL_BREAK,
    sources=(item(9),),
    depth=Depth.FULL,
    eras=(Era.MODERN,),
    since_revision="2026-07-28",
)
def unsupported_version(
    unsupported_version: Exchange, opening: Exchange, era: Era, replicas: Replicas | Missing
) -> Verdict:
    """A server/discover at revision 2099-01-01: HTTP 400, error -32022, and the supported revisions in it.

    Why it matters:
        There is no handshake that settles on a revision. A client that is newer than the server learns from
        this answer alone which revision to use; without the list it cannot connect, or takes the server for
        one of the older era.

    How to fix it:
        Answer HTTP 400 with a JSON-RPC error -32022 whose data has `supported`, the list of your revisions,
        and `requested`. Never list a revision that you then refuse.
    """
    silence = unheard(unsupported_version)
    if silence is not None:
        return silence
    found = list(
        _refusal(unsupported_version, opening, "the revision", UNSUPPORTED_VERSION, HTTPStatus.BAD_REQUEST)
    )
    return _unless_stray(found or _versions(unsupported_version), era, replicas)


@check(
    id="errors/tool-arguments",
    title="Wrong arguments of a tool get no answer that a model can act on",
    severity=Severity.WILL_BREAK,
    sources=(item(9),),
    depth=Depth.FULL,
    eras=(Era.MODERN, Era.LEGACY),
)
def tool_arguments(tool_arguments: Exchange, revision: str) -> Verdict:
    """A call of the configured tool with wrong arguments: a result with `isError` and a text that says why.

    It is made only where the configuration names a tool and its arguments under `[server.tool_call]`.

    Why it matters:
        A model that called a tool wrongly reads the text of the error and calls again, rightly. A protocol
        error goes to the client instead, which shows it to nobody or gives up; a call that is taken as good
        does something else than was asked.

    How to fix it:
        Validate the arguments against the input schema, and return what is wrong as a result with `isError:
        true` and a sentence in its content: which argument, what is expected. Keep JSON-RPC errors for
        requests that are no call of a known tool.
    """
    silence = unheard(tool_arguments)
    if silence is not None:
        return silence
    result = tool_arguments.result
    if isinstance(result, dict) and ok(tool_arguments):
        return _tool_error(tool_arguments, result)
    if error_code(tool_arguments) == INVALID_PARAMS:
        if position(revision) < position(_TOOL_ERRORS_SINCE):
            return Verified("the arguments are refused with a protocol error, as was usual at this revision")
        return [_tool_found("protocol-error", tool_arguments, Severity.HEADS_UP)]
    return [_tool_found("wrong-error", tool_arguments)]


def _unless_stray(found: Iterable[Found], era: Era, replicas: Replicas | Missing) -> Verdict:
    """What is held against a refusal, unless an instance gave it that does not speak the era."""
    found = list(found)
    return (found and stray(era, replicas)) or found


def _refusal(
    exchange: Exchange, opening: Exchange, what: str, code: int, status: int | None
) -> Iterator[Found]:
    """How a refusal differs from the error and the HTTP status that it should be, or from JSON-RPC."""
    measured = error_code(exchange)
    if measured == code and status in {None, exchange.status}:
        # What is wrong with every answer is said by mcp/envelope.
        everywhere = {fault.code for fault in frame_faults(opening)}
        yield from (fault for fault in frame_faults(exchange) if fault.code not in everywhere)
        if status is not None and has_other_id(exchange):
            yield Found(
                severity=Severity.HEADS_UP,
                code="id-wrong",
                subject=exchange.rpc_method or exchange.label,
                message=f"The refusal of {what} does not carry the id of the request.",
                expected="the id of the request",
                measured=next(each.message for each in exchange.remarks if each.code == "id-wrong"),
            )
        return
    if measured == code:
        fault, message = "wrong-status", f"The refusal of {what} comes with another HTTP status."
    elif measured is not None:
        old = " It is the code of a draft of this revision." if measured in _PRERELEASE else ""
        fault, message = "wrong-code", f"The refusal of {what} carries another error code.{old}"
    elif exchange.result is not None and ok(exchange):
        fault, message = "accepted", f"Nothing is refused: the request is answered as if {what} were right."
    else:
        fault, message = "no-error", f"The refusal of {what} is no JSON-RPC error."
    yield Found(
        code=fault,
        subject=exchange.rpc_method or exchange.label,
        message=message,
        expected=f"error {code}" if status is None else f"HTTP {int(status)}, error {code}",
        measured=answered(exchange),
    )


def _versions(exchange: Exchange) -> Iterator[Found]:
    names, measured = supported_revisions(exchange)
    if not names:
        code, message = "no-versions", "The refusal does not say which revisions the server supports."
        severity = None
    elif _requested(exchange) in names:
        code, message = "lists-the-refused", "The refusal lists the very revision that it refuses."
        severity = Severity.HEADS_UP
    else:
        return
    yield Found(
        severity=severity,
        code=code,
        subject="data.supported",
        message=message,
        expected="the supported revisions",
        measured=measured,
    )


def _requested(exchange: Exchange) -> str | None:
    sent = {name.lower(): value for name, value in exchange.request_headers}
    return sent.get("mcp-protocol-version")


def _tool_error(exchange: Exchange, result: dict[str, Json]) -> Iterator[Found]:
    if result.get("isError") is not True:
        yield _tool_found("accepted", exchange)
    elif not _says_something(result.get("content")):
        yield _tool_found("no-text", exchange, Severity.HEADS_UP)


def _says_something(content: Json) -> bool:
    texts = (
        [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    return any(isinstance(text, str) and text.strip() for text in texts)


_TOOL_FAULTS = {
    "accepted": "The wrong arguments are taken as good.",
    "no-text": "The error says nothing that a model could act on.",
    "protocol-error": "The refusal is a protocol error, which models do not get to read.",
    "wrong-error": "The refusal is neither a tool's error nor one about its arguments.",
}


def _tool_found(code: str, exchange: Exchange, severity: Severity | None = None) -> Found:
    measured = {
        "accepted": "a result without isError",
        "no-text": "isError without a text",
    }
    return Found(
        severity=severity,
        code=code,
        subject="tools/call",
        message=_TOOL_FAULTS[code],
        expected="a result with isError and a text",
        measured=measured.get(code) or answered(exchange),
    )
