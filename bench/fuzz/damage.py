"""Accidents: bytes and JSON values as they look after a few of them."""

import copy
import random
from collections.abc import Iterator
from typing import Any

from driftwatch.model import Json

LARGEST = 48 * 1024
"""Bytes of one input: a socket takes them without being read."""

BYTES = [
    *(b"", b"\0", b"\r\n", b"\r", b"\n\n", b"\xff\xfe", b"\xef\xbb\xbf", b"{", b"}", b"[" * 300, b'"'),
    *(b"\\ud800", b"data:", b"data: {}\n\n", b"event: x\n", b":\n", b"retry: -1\n", b"NaN", b"1e999", b"-0"),
    *(b"9" * 5000, b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 103\r\n", b"transfer-encoding: chunked\r\n"),
    *(
        b"content-length: 5\r\n",
        b"0\r\n\r\n",
        b"ffff\r\n",
        b"content-encoding: gzip\r\n",
        b"\x1f\x8b\x08\x00",
    ),
    *(b"content-type: text/event-stream\r\n\r\n", b"Bearer ", b'realm="', b"resource_metadata=", b"=,"),
    *(b"\\", b'\\"', b"token68==", b"\x1f\x8b\x08\x00"),
]
SCALARS: list[Json] = [
    *(None, True, False, 0, 1, -1, 1.5, 2**63, 10**400, -1e308, float("nan"), float("inf"), "", " ", "\0"),
    *("\ud800", "object", "string", "#", "#/$defs/a", "#/properties/a", "//", "\u202e", "x" * 3000, "["),
    *("ignore " * 50, "2026-07-28", "https://[::1/", "http://169.254.169.254/", "%", "~1~0", "date-time"),
    *({}, [], [[]], {"": {}}),
]
NAMES = [
    *("name", "description", "inputSchema", "outputSchema", "annotations", "title", "_meta", "type", "items"),
    *("properties", "required", "enum", "anyOf", "oneOf", "allOf", "$ref", "$defs", "not", "format", "const"),
    *("additionalProperties", "x-mcp-header", "prefixItems", "patternProperties", "if", "then", "result"),
    *("error", "id", "code", "data", "tools", "nextCursor", "supportedVersions", "protocolVersion", ""),
    *("capabilities", "serverInfo", "instructions", "\ud800", "a/b~c"),
]


def damaged(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Some bytes after a few accidents."""
    out = bytearray(data[:LARGEST])
    for _ in range(rng.choice((1, 1, 2, 4, 9))):
        at = rng.randint(0, len(out))
        to = min(len(out), at + rng.choice((0, 1, 3, 20, 400)))
        match rng.randrange(6):
            case 0:
                out[at:to] = rng.randbytes(rng.choice((1, 2, 30)))
            case 1:
                out[at:at] = rng.choice(BYTES)
            case 2:
                del out[at:to]
            case 3:
                out[at:at] = out[at:to] * rng.choice((1, 2, 50))
            case 4:
                other = rng.choice(others)
                start = rng.randint(0, len(other))
                out[at:] = other[start : start + LARGEST]
            case _:
                out[at:to] = rng.choice(BYTES)
    return bytes(out[:LARGEST])


def places(value: Json) -> Iterator[tuple[Any, Any]]:
    """Every container in a JSON value with each of its keys."""
    todo = [value]
    while todo:
        item = todo.pop()
        members = (
            item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        )
        for key, member in members:
            yield item, key
            todo.append(member)


def bent(rng: random.Random, value: Json, others: list[Json]) -> Json:
    """A copy of a JSON value after a few accidents."""
    top = [copy.deepcopy(value)]
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        holder, key = rng.choice(list(places(top)))
        match rng.randrange(7):
            case 0 | 1:
                holder[key] = copy.deepcopy(rng.choice(SCALARS))
            case 2:
                holder[key] = [holder[key]] if rng.random() < 0.5 else {rng.choice(NAMES): holder[key]}
            case 3 if isinstance(holder, dict):
                holder[rng.choice(NAMES)] = holder.pop(key)
            case 4 if isinstance(holder[key], dict):
                holder[key][rng.choice(NAMES)] = copy.deepcopy(rng.choice(SCALARS))
            case 5 if isinstance(holder[key], list):
                holder[key] *= rng.choice((0, 2, 7))
            case _:
                donor, other = rng.choice(list(places([rng.choice(others)])))
                holder[key] = copy.deepcopy(donor[other])
    return top[0]
