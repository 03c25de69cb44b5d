"""Who an era leaves out, as findings of the protocol's family."""

import itertools
from collections.abc import Iterator

from driftwatch.checks.answers import (
    HEADER_MISMATCH,
    UNSUPPORTED_VERSION,
    answered,
    error_code,
    supported_revisions,
)
from driftwatch.checks.base import Found, Policy, listed, shown
from driftwatch.evidence import Exchange, Missing, Opening, Surface
from driftwatch.model import KNOWN_REVISIONS, MODERN_REVISION, Era, Json, position


def left_out(refusal: Exchange, policy: Policy) -> list[Found]:
    """The clients of ``initialize``, where it is refused."""
    names = tuple(c.name for c in policy.clients if position(c.newest) < position(MODERN_REVISION))
    if not names:
        return []
    older, _ = supported_revisions(refusal)
    found = Found(
        code="modern-only",
        subject="initialize",
        message=f"initialize is refused, also at what the refusal lists: {listed(names)} cannot connect."
        if set(older) & (set(KNOWN_REVISIONS) - {MODERN_REVISION})
        else f"Only {MODERN_REVISION} is spoken: {listed(names)} cannot connect.",
        expected="an answer to initialize",
        measured=answered(refusal),
        era=Era.LEGACY,
        clients=names,
    )
    return [found]


def forbidden(modern: Exchange | None) -> list[Found]:
    """A gateway that forbids server/discover, on a server that was never seen to have it."""
    if modern is None or not modern.forbidden:
        return []
    found = Found(
        code="forbidden",
        subject="server/discover",
        message=f"Clients of {MODERN_REVISION} do not get in: server/discover is forbidden, and after that "
        "they do not try initialize.",
        expected="HTTP 400, 404 or 405, after which they do",
        measured=answered(modern),
        era=Era.MODERN,
    )
    return [found]


def thrown_back(openings: tuple[Opening, ...] | Missing, surfaces: tuple[Surface, ...]) -> Iterator[Found]:
    """A server that knows 2026-07-28 well enough to refuse it, and does so in a way that leads nowhere."""
    tried = () if isinstance(openings, Missing) else openings
    modern = next((opening.exchange for opening in tried if opening.era is Era.MODERN), None)
    if any(surface.era is Era.MODERN for surface in surfaces) or modern is None:
        return
    refused = _refused_without_way_out(modern)
    if refused is None:
        return
    code, message, measured = refused
    yield Found(
        code=code,
        subject="server/discover",
        message=message,
        expected="an answer to server/discover",
        measured=measured,
        era=Era.MODERN,
    )


def _refused_without_way_out(modern: Exchange) -> tuple[str, str, str] | None:
    """Code, message and measured value; None for a refusal that sends clients on to initialize."""
    measured = answered(modern)
    if error_code(modern) == HEADER_MISMATCH:
        message = (
            f"Clients of {MODERN_REVISION} do not get in: something on the way takes off or changes their "
            "Mcp-Method or MCP-Protocol-Version header."
        )
        return "headers-lost", message, measured
    result = modern.result
    if isinstance(result, dict) and not isinstance(result.get("supportedVersions", []), list):
        message = f"Clients of {MODERN_REVISION} do not get in: supportedVersions is not a list."
        return "supported-versions", message, shown(result["supportedVersions"], 40)
    if error_code(modern) != UNSUPPORTED_VERSION:
        return None
    names, listed = supported_revisions(modern)
    measured = f"{measured}, supported: {listed}"
    if not names:
        message = f"The refusal of {MODERN_REVISION} does not say which revisions clients are to use instead."
        return "no-versions", message, measured
    if MODERN_REVISION in names:
        message = (
            f"Clients of {MODERN_REVISION} do not get in: it is refused, and listed among what is supported."
        )
        return "lists-the-refused", message, measured
    if not any(name in KNOWN_REVISIONS for name in names):
        message = f"Clients of {MODERN_REVISION} do not get in: no revision that is listed exists."
        return "no-known-version", message, measured
    return None


def unlike_lists(surfaces: tuple[Surface, ...]) -> Iterator[Found]:
    """Tools that are listed in one era alone."""
    read = [(surface.era, surface.tools) for surface in surfaces]
    lists = [(era, _names(tools)) for era, tools in read if not isinstance(tools, Missing)]
    for (era, names), (other_era, other_names) in itertools.pairwise(lists):
        if names == other_names:
            continue
        only = [f"{len(names - other_names)} only in {era}"] if names - other_names else []
        only += [f"{len(other_names - names)} only in {other_era}"] if other_names - names else []
        examples = [shown(name, 64) for name in sorted(names ^ other_names)]
        yield Found(
            code="eras-differ",
            subject="tools/list",
            message=f"The two eras list different tools: {listed(examples)}.",
            expected="the same tools in both eras",
            measured=" and ".join(only),
        )


def _names(tools: tuple[Json, ...]) -> set[str]:
    return {tool["name"] for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)}


def unclear(asked: str, exchange: Exchange | None) -> str:
    """Why the answer to an era's first request decides nothing."""
    said = []
    if exchange is not None and exchange.status is not None:
        said.append(f"HTTP {exchange.status}")
    if exchange is not None and exchange.fault is not None:
        said.append(exchange.fault.message)
    return f"{asked} got no clear answer: {', '.join(said) or 'none came'}"
