"""What the answer to one request says, before any rule is held against it."""

from http import HTTPStatus

from driftwatch.checks.base import NotChecked, shown
from driftwatch.evidence import Exchange, Missing, Replicas, access_gate, is_bot_page
from driftwatch.model import Era, Json

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

SUCCESS = range(200, 300)
REDIRECTION = range(300, 400)
SERVER_ERROR = range(500, 600)

_GATEWAY = frozenset({502, 503, 504})
"""Server errors that a proxy gives in the server's place, whatever the body is."""
DOORS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
"""What a credential may open, or is too weak for."""
_FAILURES = frozenset(SERVER_ERROR) - {HTTPStatus.NOT_IMPLEMENTED} | {HTTPStatus.REQUEST_TIMEOUT}
"""Without a JSON-RPC error no word of the server's. 501 is one: it has no such method, and never will."""
_NETWORK = frozenset(
    {"timeout", "reset", "deadline", "budget", "refused", "unreachable", "dns", "tls", "protocol", "headers"}
)
"""Faults that cut an answer off: they say nothing about what it would have been."""

_SPENT = "tools/pagination"
"""The root check that explains it; where nothing is wrong with that one, it explains nothing."""


def unheard(exchange: Exchange, *, within_session: bool = False) -> NotChecked | None:
    """Why an answer says nothing about the rule it was asked for; None when it does.

    Nothing came, or something before the server spoke: authorization, a limit, a firewall, a proxy. A server
    error counts as the server's own word only when it carries a JSON-RPC error.
    """
    status, fault = exchange.status, exchange.fault
    if status is None or (fault is not None and fault.code in _NETWORK):
        code, what = (fault.code, fault.message) if fault else ("no-answer", "no answer came")
        # What comes after the tool list has no time left, where that one took it all.
        return NotChecked(f"no answer to judge: {what}", code, _SPENT if code == "deadline" else None)
    if is_bot_page(exchange):
        return NotChecked(f"a bot-protection page came instead of an answer (HTTP {status})", "bot-page")
    gate = access_gate(exchange)
    if gate is not None:
        return NotChecked(f"{gate} answered instead of the server (HTTP {status})", "access-gate")
    if status == HTTPStatus.UNAUTHORIZED or (
        status == HTTPStatus.FORBIDDEN and exchange.header("www-authenticate") is not None
    ):
        return NotChecked(f"the server asked for credentials before it answered (HTTP {status})", "auth")
    if exchange.forbidden:
        return NotChecked(f"the request was forbidden before it was answered (HTTP {status})", "forbidden")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return NotChecked("the server limits how often it is asked (HTTP 429)", "rate-limited")
    if status in _GATEWAY or (status in _FAILURES and error_code(exchange) is None):
        code = "timeout" if status == HTTPStatus.REQUEST_TIMEOUT else "http-5xx"
        return NotChecked(f"no answer to judge: HTTP {status}", code)
    # A refusal belongs to the HTTP request that got it, whatever its id: those of one SDK are "server-error".
    refused = status >= HTTPStatus.BAD_REQUEST and exchange.error is not None
    if not refused and has_other_id(exchange):
        reason = "what came does not carry the id of the request (mcp/envelope)"
        return NotChecked(reason, "foreign-answer", "mcp/envelope")
    if within_session and status == HTTPStatus.NOT_FOUND and error_code(exchange) != METHOD_NOT_FOUND:
        return NotChecked("the server had lost the session by then (HTTP 404)", "session-lost")
    return None


def refuses(exchange: Exchange) -> bool:
    """Whether the server itself said no: no closed door, no failure, and nothing that nobody can read."""
    unread = ok(exchange) and not isinstance(exchange.answer, dict)
    return unheard(exchange) is None and exchange.status not in SERVER_ERROR and not unread


def stray(era: Era, replicas: Replicas | Missing) -> NotChecked | None:
    """Why a wrong answer may be that of an instance which does not speak the era, as in a rollout."""
    if isinstance(replicas, Missing) or not replicas.refused(era):
        return None
    reason = f"instances that speak the {era} era and others that do not take turns (release/replicas)"
    return NotChecked(reason, "eras-differ", "release/replicas")


def unkept(answer: Exchange, acknowledgement: Exchange | None) -> NotChecked | None:
    """Why an answer within a session says nothing, where the session did not outlast its handshake.

    The notification that ends the handshake was refused then, and so is everything after it.
    """
    status = acknowledgement.status if acknowledgement else None
    if status not in {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND} or answer.status != status:
        return None
    reason = f"HTTP {status}, as to everything after initialize (mcp/initialized-ack)"
    return NotChecked(reason, "session-lost", "mcp/initialized-ack")


def unchallenged(exchange: Exchange) -> bool:
    """Whether it is a server's 401 that asks for no credential.

    Where the same request was answered but for one thing, such as its Origin, it is about that.
    """
    bare = exchange.status == HTTPStatus.UNAUTHORIZED and exchange.header("www-authenticate") is None
    return bare and access_gate(exchange) is None


def outlived(session_ended: Exchange | None) -> bool:
    """Whether a session lived until DELETE ended it: what was asked before found it alive."""
    return session_ended is not None and ok(session_ended)


def has_other_id(exchange: Exchange) -> bool:
    """Whether the message that came carries the id of no request that it could answer."""
    return any(remark.code == "id-wrong" for remark in exchange.remarks)


def ok(exchange: Exchange) -> bool:
    """Whether the HTTP status is a success."""
    return exchange.status in SUCCESS


def error_code(exchange: Exchange) -> int | None:
    """The JSON-RPC error code of the answer."""
    return exchange.error_code


def error_data(exchange: Exchange) -> Json:
    """The ``data`` of the JSON-RPC error; None without one."""
    error = exchange.error
    return error.get("data") if isinstance(error, dict) else None


def supported_revisions(exchange: Exchange) -> tuple[tuple[str, ...], str]:
    """The ``supported`` list of an UnsupportedProtocolVersion error, and the same for a message.

    Empty for whatever clients cannot read as one: it has to be a list of texts.
    """
    data = error_data(exchange)
    if not isinstance(data, dict) or "supported" not in data:
        return (), "no list of revisions"
    listed = data["supported"]
    if not isinstance(listed, list):
        return (), f"{shown(listed)} instead of a list"
    if not listed:
        return (), "an empty list"
    if not all(isinstance(each, str) for each in listed):
        odd = next(each for each in listed if not isinstance(each, str))
        return (), f"a list with {shown(odd)} in it"
    return tuple(listed), ", ".join(listed[:10])[:200]


def answered(exchange: Exchange) -> str:
    """The answer in a few words: ``HTTP 404, error -32601``, ``HTTP 406 with an empty body``."""
    status = f"HTTP {exchange.status}"
    error = exchange.error
    if isinstance(error, dict):
        return f"{status}, error {shown(error.get('code'), 20)}"
    if exchange.result is not None:
        return f"{status} with a result"
    if not exchange.size:
        return f"{status} with an empty body" if exchange.http_method == "POST" else status
    return f"{status} with {exchange.media_type or 'a body without a type'}"
