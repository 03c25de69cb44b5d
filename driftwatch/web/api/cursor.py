"""Where the next page of a list begins, as an opaque text.

A cursor is a keyset, not a secret: whoever forges one gets another page of what they may read anyway.
"""

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta

from driftwatch.errors import UsageError
from driftwatch.model import Json

LIMIT = 400
"""Characters that a cursor has at most; ours have fewer."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 2**63


def of_name(name: str) -> str:
    """After a name."""
    return _encode([name])


def of_moment(at: datetime, key: str | int | None = None) -> str:
    """Below a time, and below a key at that same time."""
    return _encode([(at - _EPOCH) // timedelta(microseconds=1), key])


def name(cursor: str | None) -> str:
    """The name; empty without a cursor. Raises UsageError for a forged one."""
    match _decode(cursor):
        case None:
            return ""
        case [str(found)]:
            return found
    raise _forged()


def moment(cursor: str | None) -> datetime | None:
    """The time. Raises UsageError for a forged cursor."""
    match _decode(cursor):
        case None:
            return None
        case [int(micros), None]:
            return _at(micros)
    raise _forged()


def moment_and_id(cursor: str | None) -> tuple[datetime, str] | None:
    """The time and the id. Raises UsageError for a forged cursor."""
    match _decode(cursor):
        case None:
            return None
        case [int(micros), str(key)]:
            return _at(micros), key
    raise _forged()


def moment_and_number(cursor: str | None) -> tuple[datetime, int] | None:
    """The time and the number. Raises UsageError for a forged cursor."""
    match _decode(cursor):
        case None:
            return None
        case [int(micros), int(key)] if -_LARGEST <= key < _LARGEST:
            return _at(micros), key
    raise _forged()


def _encode(value: Json) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str | None) -> Json:
    if cursor is None:
        return None
    try:
        text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return json.loads(text) or []
    except (binascii.Error, ValueError, RecursionError):
        raise _forged() from None


def _at(micros: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        raise _forged() from None


def _forged() -> UsageError:
    return UsageError("the cursor is not one that this list gave: follow its next link")
