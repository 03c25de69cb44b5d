"""What was said in one probe, for people: every exchange once, bounded, without secrets."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from driftwatch.evidence import Evidence, Exchange
from driftwatch.model import Json

LIMIT_BYTES = 256 * 1024
"""What one transcript may take as JSON; exchanges beyond it are only counted."""

HEADERS_SHOWN = 40
"""Header fields of one message."""

HEADER_LIMIT = 500
"""Characters of one header's value."""

_NOT_SHOWN = frozenset({"answer", "headers", "request_headers"})
"""The parsed answer repeats the body, of which the beginning is shown."""


def transcript(evidence: Evidence) -> dict[str, Json]:
    """``{"exchanges": [...], "left_out": int}``; an exchange has the fields of ``evidence.Exchange``.

    They stand in the order of the evidence, which is by topic: what a full probe asks beside the plain
    conversation comes after it.
    """
    exchanges: list[Json] = []
    room, left_out, seen = LIMIT_BYTES, 0, set()
    for exchange in _exchanges(evidence):
        if id(exchange) in seen:
            continue
        seen.add(id(exchange))
        shown = _shown(exchange)
        room -= len(json.dumps(shown)) + 2
        if room < 0:
            left_out += 1
        else:
            exchanges.append(shown)
    return {"exchanges": exchanges, "left_out": left_out}


def _exchanges(value: Any) -> Iterator[Exchange]:
    if isinstance(value, Exchange):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _exchanges(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _exchanges(getattr(value, field.name))


def _shown(exchange: Exchange) -> Mapping[str, Json]:
    plain = {
        field.name: getattr(exchange, field.name)
        for field in dataclasses.fields(exchange)
        if field.name not in _NOT_SHOWN
    }
    return plain | {
        "fault": dataclasses.asdict(exchange.fault) if exchange.fault else None,
        "remarks": [dataclasses.asdict(remark) for remark in exchange.remarks],
        "request_headers": _headers(exchange.request_headers),
        "headers": _headers(exchange.headers),
    }


def _headers(headers: tuple[tuple[str, str], ...]) -> list[Json]:
    return [[name, value[:HEADER_LIMIT]] for name, value in headers[:HEADERS_SHOWN]]
