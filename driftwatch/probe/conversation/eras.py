"""Which era a server speaks: what an answer to ``server/discover`` or ``initialize`` says about it. Pure.

The procedure is the specification's (2026-07-28, basic/versioning), where it and the official clients differ
read so that a server is never misjudged: a refusal to talk at all (authorization, rate limit, a server error,
a network fault) is never evidence of an era.
"""

import re
from http import HTTPStatus

from driftwatch.evidence import Exchange
from driftwatch.model import Json

MODERN_REVISION = "2026-07-28"
LEGACY_REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07")
"""The revisions of ``initialize``, newest first. An enumerated set: never compared as strings."""
OFFERED = LEGACY_REVISIONS[:-1]
"""What initialize asks for by itself; the pre-release 2024-10-07 only where a server names it."""

SUCCESS = range(200, 300)

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

_QUOTED = 160
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")


def supported_versions(exchange: Exchange) -> tuple[str, ...]:
    """What a DiscoverResult lists; empty for any other answer."""
    result = exchange.result
    if not ok(exchange) or not isinstance(result, dict):
        return ()
    listed = result.get("supportedVersions")
    if not isinstance(listed, list):
        return ()
    return tuple(item for item in listed if isinstance(item, str))


def is_modern(exchange: Exchange) -> bool:
    """Whether this answer to server/discover establishes 2026-07-28; an answer alone does not."""
    return MODERN_REVISION in supported_versions(exchange)


def negotiated(exchange: Exchange) -> str | None:
    """The revision that an answer to initialize settles on, verbatim; None when it settles nothing."""
    result = exchange.result
    if not ok(exchange) or not isinstance(result, dict):
        return None
    revision = result.get("protocolVersion")
    return revision if isinstance(revision, str) and revision else None


def declines(exchange: Exchange) -> bool:
    """Whether an era's first request is answered as by a server that does not speak the era.

    A server of ``initialize`` may refuse server/discover with anything but a list that has 2026-07-28. A
    refused ``initialize`` often means this one alone: a server of one session at a time refuses the next.
    """
    code = error_code(exchange)
    if exchange.rpc_method == "initialize" and code is not None:
        return code in {METHOD_NOT_FOUND, UNSUPPORTED_VERSION}
    if code is not None:
        return code != INTERNAL_ERROR and not offers_modern_again(exchange)
    unknown = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}
    if exchange.rpc_method != "initialize":
        unknown.add(HTTPStatus.BAD_REQUEST)
    return exchange.status in unknown


def offers_modern_again(exchange: Exchange) -> bool:
    """Whether the answer is UnsupportedProtocolVersion that yet lists 2026-07-28: worth one more request.

    To server/discover the data alone count: its message often names the revision that it refuses.
    """
    if error_code(exchange) != UNSUPPORTED_VERSION:
        return False
    asked = exchange.rpc_method == "server/discover"
    return MODERN_REVISION in (_listed(exchange) if asked else named_revisions(exchange))


def next_offer(exchange: Exchange, tried: tuple[str, ...]) -> str | None:
    """The revision to offer after initialize was refused, or None when another offer is pointless.

    A revision that the refusal names comes first, then every older one, each at most once. A refusal that
    names revisions, but none that initialize could ask for, is final.
    """
    if not refuses_revision(exchange):
        return None
    named = named_revisions(exchange)
    for revision in LEGACY_REVISIONS:
        if revision in named and revision not in tried:
            return revision
    if any(revision not in tried for revision in named):
        return None
    return next((revision for revision in OFFERED if revision not in tried), None)


def refuses_revision(exchange: Exchange) -> bool:
    """Whether initialize was refused because of its revision and not for some other reason."""
    code = error_code(exchange)
    if code is not None:
        return code in {INVALID_PARAMS, UNSUPPORTED_VERSION} or (
            # -32020 speaks of a version header, which initialize rightly does not carry.
            code not in {METHOD_NOT_FOUND, HEADER_MISMATCH} and _speaks_of_versions(_error_text(exchange))
        )
    return exchange.status == HTTPStatus.BAD_REQUEST and _speaks_of_versions(exchange.excerpt)


def named_revisions(exchange: Exchange) -> tuple[str, ...]:
    """Every revision that a refusal names, in its data, its message or, without JSON-RPC, its body."""
    text = _error_text(exchange) if error_code(exchange) is not None else exchange.excerpt
    return tuple(dict.fromkeys(_DATE.findall(text)))


def listed_revisions(exchange: Exchange) -> tuple[str, ...]:
    """The revisions of initialize that the data of its refusal name; empty for any other request."""
    named = _DATE.findall(_listed(exchange)) if exchange.rpc_method == "initialize" else []
    return tuple(revision for revision in LEGACY_REVISIONS if revision in named)


def unknown_revisions(exchange: Exchange) -> tuple[str, ...]:
    """The revisions that a refusal lists, where each of them is newer than what is known here."""
    named = tuple(_DATE.findall(_listed(exchange))) if error_code(exchange) == UNSUPPORTED_VERSION else ()
    return () if {MODERN_REVISION, *LEGACY_REVISIONS} & set(named) else named


def _listed(exchange: Exchange) -> str:
    error = exchange.error
    return _strings(error.get("data")) if isinstance(error, dict) else ""


def error_code(exchange: Exchange) -> int | None:
    """The JSON-RPC error code of the answer."""
    return exchange.error_code


def error_words(exchange: Exchange) -> str:
    """The JSON-RPC error for a sentence: ``the error -32603 "boom"``."""
    error, code = exchange.error, error_code(exchange)
    said = error.get("message") if isinstance(error, dict) else error
    quoted = f'"{said[:_QUOTED]}"' if isinstance(said, str) and said else ""
    if code is None:
        return "an error without an integer code" + (f": {quoted}" if quoted else "")
    return f"the error {code} {quoted}".rstrip()


def ok(exchange: Exchange) -> bool:
    """Whether the HTTP status is a success."""
    return exchange.status in SUCCESS


def _error_text(exchange: Exchange) -> str:
    error = exchange.error
    return f"{error.get('message')} {_strings(error.get('data'))}" if isinstance(error, dict) else ""


def _strings(value: Json, depth: int = 4) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        # The version that was refused is echoed under "requested": it is not an offer.
        value = [item for key, item in value.items() if key != "requested"]
    if isinstance(value, list) and depth:
        return " ".join(_strings(item, depth - 1) for item in value[:100])
    return ""


def _speaks_of_versions(text: str) -> bool:
    return "version" in text.lower() or _DATE.search(text) is not None
