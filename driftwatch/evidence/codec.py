"""Evidence to JSON and back: each part as the object of its fields, ``Missing`` as its reason."""

import dataclasses
import types
from datetime import datetime
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from driftwatch.errors import EvidenceError
from driftwatch.evidence.exchange import Missing
from driftwatch.evidence.probe import Evidence
from driftwatch.model import Json

SCHEMA = 1
"""The version of the JSON form. A reader accepts this version only."""


def to_json(evidence: Evidence) -> dict[str, Json]:
    """The evidence as a JSON object of schema ``driftwatch/evidence/<SCHEMA>``."""
    return {"schema": f"driftwatch/evidence/{SCHEMA}", **_encode(evidence)}


def from_json(value: Json) -> Evidence:
    """Read what to_json wrote. Raises EvidenceError when it is damaged, not ours or of another schema."""
    if not isinstance(value, dict) or not str(value.get("schema", "")).startswith("driftwatch/evidence/"):
        raise EvidenceError("this is not a probe saved by driftwatch (no schema driftwatch/evidence)")
    if value["schema"] != f"driftwatch/evidence/{SCHEMA}":
        raise EvidenceError(
            f"this probe has the schema {value['schema']!r}, this driftwatch reads "
            f"driftwatch/evidence/{SCHEMA}: save it again, or use the version that saved it"
        )
    try:
        evidence: Evidence = _decode(Evidence, {key: item for key, item in value.items() if key != "schema"})
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise EvidenceError(f"this saved probe is damaged: {error}") from error
    return evidence


def _encode(value: Any) -> Any:
    if isinstance(value, Missing):
        return {"missing": value.reason, "code": value.code, "cause": value.cause}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _encode(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return value  # JSON already


def _decode(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in {Union, types.UnionType}:
        return _decode_union(get_args(kind), value)
    if origin is tuple:
        return _decode_tuple(get_args(kind), value)
    if kind is Any or not isinstance(kind, type):  # JSON as it is; Any is a type since Python 3.11
        return value
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        # A part that an older driftwatch did not know has its default.
        optional = {item.name for item in dataclasses.fields(kind) if item.default is not dataclasses.MISSING}
        names = [
            item.name for item in dataclasses.fields(kind) if item.name in value or item.name not in optional
        ]
        return kind(**{name: _decode(hints[name], value[name]) for name in names})
    return _decode_plain(kind, value)


def _decode_union(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    if Missing in kinds and isinstance(value, dict) and "missing" in value:
        return _decode_missing(value)
    (kind,) = [kind for kind in kinds if kind not in {type(None), Missing}]
    return _decode(kind, value)


def _decode_missing(value: dict[str, Any]) -> Missing:
    cause = value["cause"]
    return Missing(
        _decode_plain(str, value["missing"]),
        _decode_plain(str, value["code"]),
        None if cause is None else _decode_plain(str, cause),
    )


def _decode_tuple(kinds: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {type(value).__name__}")
    if kinds[-1] is Ellipsis:
        return tuple(_decode(kinds[0], item) for item in value)
    return tuple(_decode(kind, item) for kind, item in zip(kinds, value, strict=True))


def _decode_plain(kind: type[Any], value: Any) -> Any:
    if kind is datetime:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("a time without its zone")
        return moment
    if issubclass(kind, Enum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise TypeError(f"{kind.__name__} was expected, not {type(value).__name__}")
    return value
