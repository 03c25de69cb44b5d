"""What can be wrong with the reply to notifications/initialized, as findings of the protocol's family."""

from http import HTTPStatus

from driftwatch.checks.answers import DOORS, ok
from driftwatch.checks.base import Found, NotChecked, Verdict, count, shown
from driftwatch.evidence import Exchange, Listing, Missing
from driftwatch.model import Severity

_OURS = frozenset({"deadline", "budget", "address", "proxy"})
"""Faults by which the probe itself went no further."""

_NO_REPLY = "notifications/initialized got no reply"


def judge(acknowledgement: Exchange, listing: Listing | Missing, *, session: bool) -> Verdict:
    """How the notification that ends the handshake was taken.

    Silence, a server error and a closed door count where the session goes on after it: else whatever it is
    has nothing to do with the notification.
    """
    status, fault = acknowledgement.status, acknowledgement.fault
    if status is None or (fault is not None and fault.code in {"timeout", "reset"}):
        code = fault.code if fault is not None else "no-reply"
        if code in _OURS or not _goes_on(listing):
            return NotChecked(_NO_REPLY, "no-reply", _PAGINATION)
        return [_broken(code, fault.message if fault is not None else _NO_REPLY)]
    if status == HTTPStatus.TOO_MANY_REQUESTS or (
        (status in DOORS or status >= HTTPStatus.INTERNAL_SERVER_ERROR) and not _goes_on(listing)
    ):
        return NotChecked(f"HTTP {status} to notifications/initialized", "http-status", _PAGINATION)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return [_broken("http-5xx", _said(acknowledgement))]
    if status >= HTTPStatus.BAD_REQUEST:
        return [_refused(acknowledgement, session=session)]
    return () if status == HTTPStatus.ACCEPTED and not acknowledgement.size else [_answered(acknowledgement)]


_PAGINATION = "tools/pagination"
"""The root check that explains it where the list failed as well."""


def _goes_on(listing: Listing | Missing) -> bool:
    """Whether the server answers in the notification's session; where it is not asked there, it may."""
    return isinstance(listing, Missing) or any(ok(page) for page in listing.exchanges)


def _broken(code: str, measured: str) -> Found:
    return _found(
        code,
        "The server fails at the notification that ends the handshake: clients on the official SDKs end the "
        "connection there.",
        measured,
        Severity.WILL_BREAK,
    )


def _refused(acknowledgement: Exchange, *, session: bool) -> Found:
    status, said = acknowledgement.status, acknowledgement.words
    code, message = "session-lost", "The session is lost a moment after initialize began it: "
    if status == HTTPStatus.NOT_FOUND and session:
        message += "the next request met an instance that does not know it."
    elif status == HTTPStatus.BAD_REQUEST and "session" in said.lower():
        message += (
            "its id does not reach the instance that issued it."
            if session
            else "its id did not come with the answer, or nobody gave one."
        )
    else:
        code, message = "refused", "The server refuses the notification that ends the handshake."
    return _found(code, message, _said(acknowledgement), Severity.WILL_BREAK)


def _answered(acknowledgement: Exchange) -> Found:
    status, error = acknowledgement.status, acknowledgement.error
    if isinstance(error, dict):
        return _found(
            "error",
            "The server answers the notification that ends the handshake with an error.",
            f"HTTP {status}, error {shown(error.get('code'), 20)}",
        )
    body = f"{count(acknowledgement.size, 'byte')} of body" if acknowledgement.size else "no body"
    return _found(
        "body" if status == HTTPStatus.ACCEPTED else "not-202",
        "The notification that ends the handshake is answered as if it were a request.",
        f"HTTP {status}, {body}",
    )


def _said(acknowledgement: Exchange) -> str:
    said = acknowledgement.words
    return f"HTTP {acknowledgement.status}: {shown(said)}" if said else f"HTTP {acknowledgement.status}"


def _found(code: str, message: str, measured: str, severity: Severity | None = None) -> Found:
    return Found(
        severity=severity,
        code=code,
        subject="notifications/initialized",
        message=message,
        expected=f"HTTP {HTTPStatus.ACCEPTED}, no body",
        measured=measured,
    )
