"""What can be wrong with one JSON-RPC message, as findings of the protocol's family."""

from collections.abc import Iterator

from driftwatch.checks.answers import ok
from driftwatch.checks.base import Found, shown
from driftwatch.checks.replies import is_no_message
from driftwatch.evidence import Exchange
from driftwatch.model import KNOWN_REVISIONS, Era, Json, Severity, integer, position

_BATCHES_UNTIL = "2025-03-26"
"""The last revision in which an answer may be an array."""

_ENVELOPE = {
    "id-type": ("The answer changes the type of the request's id.", Severity.HEADS_UP),
    "id-wrong": (
        "The answer does not carry the request's id: clients go on waiting for one that does.",
        None,
    ),
    "id-null": ("The answer carries no id: clients cannot tell which request it belongs to.", None),
    "batch": ("The answer is an array, a form that ended with revision 2025-03-26.", None),
    "result-and-error": ("One answer carries a result and an error; clients differ in which they see.", None),
    "server-request": ("The server sends a request of its own, which this revision forbids.", None),
}

_IDS = frozenset({"id-null", "id-wrong"})
"""No fault of a refusal by HTTP status: it belongs to its request all the same."""

_TEXT = {
    "bom": "The body begins with a byte order mark, which JSON does not allow.",
    "duplicate-member": "An object names the same member twice; parsers differ in which one they keep.",
    "lone-surrogate": "A string holds half a character, which cannot be written as UTF-8.",
    "number-range": "A number is larger than any that clients can represent.",
    "unterminated-event": "The stream ends inside an event; strict readers drop what it said.",
    "wrong-length": "The reply is not as long as it says, or says it in two ways.",
    "refused-by-some": "The head of the reply is more than some clients take.",
}

UNREADABLE = {
    "json": "The body is not JSON: clients read nothing from it.",
    "utf-8": "The body is not UTF-8: clients read nothing from it.",
    "depth": "The body nests so deeply that parsers give up.",
}


def envelope_faults(exchanges: tuple[Exchange, ...], revision: str, era: Era) -> Iterator[Found]:
    """What is wrong with the frame around each answer."""
    for exchange in exchanges:
        if ok(exchange):  # a refusal by HTTP status need not be JSON-RPC
            yield from frame_faults(exchange)
        if exchange.fault is not None and exchange.fault.code == "envelope":
            message = "The body is not a JSON-RPC answer."
            yield _message_fault(exchange, "envelope", message, exchange.fault.message)
        for remark in exchange.remarks:
            if remark.code in _ENVELOPE and not _is_allowed(exchange, remark.code, revision, era):
                message, severity = _ENVELOPE[remark.code]
                yield _message_fault(exchange, remark.code, message, remark.message, severity)


def text_faults(exchanges: tuple[Exchange, ...], era: Era) -> Iterator[Found]:
    """What is wrong with the bytes of each reply."""
    for exchange in exchanges:
        fault = exchange.fault
        if fault is not None and fault.code in UNREADABLE and not is_no_message(exchange, era):
            message = UNREADABLE[fault.code]
            yield _message_fault(exchange, fault.code, message, fault.message, Severity.WILL_BREAK)
        for remark in exchange.remarks:
            if remark.code in _TEXT:
                yield _message_fault(exchange, remark.code, _TEXT[remark.code], remark.message)


def frame_faults(exchange: Exchange) -> Iterator[Found]:
    """What keeps an answer from being JSON-RPC 2.0, whatever it says; nothing where there is none."""
    answer = exchange.answer
    if not isinstance(answer, dict):
        return
    if answer.get("jsonrpc") != "2.0":
        yield _message_fault(
            exchange,
            "jsonrpc-version",
            "The answer does not say that it is JSON-RPC 2.0: clients on the official SDKs drop it.",
            _members(answer, "jsonrpc"),
            expected='jsonrpc "2.0", a string',
        )
    if "error" in answer and not _is_error(answer["error"]):
        error = answer["error"]
        yield _message_fault(
            exchange,
            "error-object",
            "The error is none of JSON-RPC: clients on the official SDKs drop it, and what it says is lost.",
            _members(error, "code", "message") if isinstance(error, dict) else _members(answer, "error"),
            expected="an error with an integer code and a string message",
        )


def _is_error(error: Json) -> bool:
    named = isinstance(error, dict) and isinstance(error.get("message"), str)
    return named and integer(error.get("code")) is not None


def _members(value: dict[str, Json], *names: str) -> str:
    return ", ".join(f"{name} {shown(value[name])}" if name in value else f"no {name}" for name in names)


def _is_allowed(exchange: Exchange, code: str, revision: str, era: Era) -> bool:
    if code in _IDS:
        return not ok(exchange)
    if code == "batch":
        return revision in KNOWN_REVISIONS and position(revision) <= position(_BATCHES_UNTIL)
    return code == "server-request" and era is not Era.MODERN


def _message_fault(
    exchange: Exchange,
    code: str,
    message: str,
    measured: str,
    severity: Severity | None = None,
    *,
    expected: str = "one well-formed JSON-RPC message",
) -> Found:
    return Found(
        severity=severity,
        code=code,
        subject=exchange.rpc_method or exchange.label,
        message=message,
        expected=expected,
        measured=measured,
    )
