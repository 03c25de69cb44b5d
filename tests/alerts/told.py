"""Details of events, as the transitions write them, for the tests of whole messages."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from driftwatch.model import Event, EventKind, Json
from driftwatch.toolset.change import Change, Diff

NOON = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)

OLD = f"dw1:{'a1' * 32}.{'b2' * 32}"
NEW = f"dw1:{'c3' * 32}.{'d4' * 32}"

FIXES = {
    "transport/endpoint": "Start the server and let its address answer POST.\n\nThe rest is a long story.",
    "transport/content-type": "Answer POST with application/json or text/event-stream.",
    "transport/accept-sse": "Accept requests that name both types.",
    "tls/expiry": "Renew the certificate, then find out why the automatic renewal did not.",
    "tls/chain": "Serve the full chain: the leaf first, then every intermediate.",
    "release/replicas": "Let every instance behind the address run the same release.",
    "mcp/protocol-version": "Serve a newer revision beside the old one.",
    "auth/credential": "Replace the token that driftwatch was given, or give it back its rights.",
}

Message = Callable[..., str]


def change(kind: str, klass: str, text: str, **more: Any) -> Change:
    return Change(kind=kind, tool=more.pop("tool", "search"), klass=klass, message=text, **more)


def drift(event: Any, *changes: Change, **more: Any) -> Event:
    diff = Diff(changes=tuple(sorted(changes, key=lambda change: change.order)))
    details: dict[str, Json] = {
        "diff": diff.to_json(),
        "era": "modern",
        "credential": "anonymous",
        "previous_fingerprint": OLD,
        "fingerprint": NEW,
        "accepted": False,
        "seen_before": None,
        **more,
    }
    made: Event = event(
        EventKind.TOOLSET_CHANGED,
        diff.level,
        subject="toolset:modern:anonymous",
        before=OLD,
        after=NEW,
        **details,
    )
    return made


def result(check: str, *findings: dict[str, Json], **more: Json) -> dict[str, Json]:
    return {"check": check, "state": "failed", "reason": None, "findings": list(findings), **more}


def finding(
    code: str, subject: str, text: str, expected: str, measured: str, **more: Json
) -> dict[str, Json]:
    told = {"code": code, "subject": subject, "message": text, "expected": expected, "measured": measured}
    return {"severity": "will break", "era": None, "pointer": None, "clients": [], **told, **more}


REFUSED = finding(
    "refused",
    "api.example",
    "Nothing listens there: the connection was refused.",
    "a connection to api.example:443",
    "connection refused by 192.0.2.7",
)


def an_incident(id_: str, subject: str, value: str, lasting: timedelta, **more: Json) -> dict[str, Json]:
    return {"id": id_ * 8, "subject": subject, "value": value, "since": (NOON - lasting).isoformat(), **more}
