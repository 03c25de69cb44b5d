"""Evidence of a healthy server, in which a test changes the one thing that it is about."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from driftwatch import checks
from driftwatch.checks import Policy, Remembered
from driftwatch.evidence import (
    Addresses,
    Burst,
    Evidence,
    Exchange,
    Fault,
    Instance,
    Listing,
    LogFile,
    LogSearch,
    Missing,
    Opening,
    Outcome,
    Remark,
    Replicas,
    SlowCall,
    Streaming,
    Surface,
    Tls,
)
from driftwatch.model import Certificate, Depth, Era, Fingerprint, Json, Result, Trigger

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
URL = "https://mcp.example.org/mcp"
BOTH_TYPES = "application/json, text/event-stream"
PLAIN_HTTP = Missing("the endpoint is plain http: there is no certificate", "plain-http")


def exchange(method: str = "initialize", status: int | None = 200, **changes: Any) -> Exchange:
    """An answered POST; ``content_type`` and ``accept`` are shorthands for the headers."""
    content_type = changes.pop("content_type", "application/json")
    accept = changes.pop("accept", BOTH_TYPES)
    values: dict[str, Any] = {
        "label": method.removeprefix("server/"),
        "http_method": "POST",
        "url": URL,
        "rpc_method": method,
        "request_headers": (("accept", accept),),
        "status": status,
        "headers": (("content-type", content_type),) if content_type is not None else (),
        "excerpt": "",
        "size": 0,
        "answer": None,
        "fault": None,
        "remarks": (),
        "address": "192.0.2.1:443",
        "first_byte_s": 0.01,
        "duration_s": 0.02,
    }
    return Exchange(**{**values, **changes})


def fault(code: str) -> Fault:
    return Fault(code=code, phase="message", message=f"there was a {code}")


def remarked(*codes: str, method: str = "tools/list") -> Exchange:
    return exchange(method, remarks=tuple(Remark(code=code, message=f"there was a {code}") for code in codes))


def opening(era: Era, *attempts: Exchange, established: bool = True) -> Opening:
    method = {Era.MODERN: "server/discover", Era.LEGACY: "initialize", Era.HTTP_SSE: "endpoint"}[era]
    return Opening(era=era, attempts=attempts or (exchange(method),), established=established)


def listing(*tools: Json, **changes: Any) -> Listing:
    values: dict[str, Any] = {
        "tools": tools,
        "pages": 1,
        "complete": True,
        "fault": None,
        "exchanges": (exchange("tools/list"),),
        "cursors": (),
        "cache_scopes": (),
        "ttl_ms": None,
    }
    return Listing(**{**values, **changes})


def broken(code: str, **changes: Any) -> Listing:
    """A list that was not read to its end."""
    return listing(**{"complete": False, "fault": fault(code), **changes})


def tool(name: Json = "add_note", **members: Json) -> dict[str, Json]:
    return {
        "name": name,
        "description": "Adds a note.",
        "inputSchema": schema(text={"type": "string"}),
        **members,
    }


def schema(**properties: Json) -> dict[str, Json]:
    """An object schema without a fault: everything is required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def surface(era: Era = Era.LEGACY, *tools: Json, **changes: Any) -> Surface:
    modern = era is Era.MODERN
    values: dict[str, Any] = {
        "era": era,
        "revision": "2026-07-28" if modern else "2025-11-25",
        "opening": exchange("server/discover" if modern else "initialize"),
        "server_info": {"name": "notes", "version": "1"},
        "capabilities": {"tools": {}},
        "instructions": None,
        "supported_versions": ("2026-07-28",) if modern else (),
        "session": False,
        "session_ended": None,
        "acknowledgement": None if modern else exchange("notifications/initialized", 202, content_type=None),
        "listing": listing(*tools or (tool(),)),
        **asked(modern=modern),
    }
    listed = changes.get("listing", values["listing"])
    whole = isinstance(listed, Listing) and listed.complete
    values["second_read"] = listed.tools if whole else Missing("there is no list", "incomplete-list")
    return Surface(**{**values, **changes})


def refused(method: str, status: int | None, code: int | None = None, **members: Json) -> Exchange:
    """A refusal, with a JSON-RPC error where there is a code."""
    if code is None:
        return exchange(method, status, content_type=None)
    error = {"code": code, "message": "no", **members}
    return exchange(method, status, answer={"jsonrpc": "2.0", "id": 1, "error": error}, size=60)


def asked(*, modern: bool) -> dict[str, Any]:
    """What a full probe asks of a healthy server without sessions."""
    first = "server/discover" if modern else "initialize"
    not_here = Missing("the era has no such request", "not-applicable")
    only_modern = {
        "header_mismatch": refused("server/discover", 400, -32020),
        "unsupported_version": refused("server/discover", 400, -32022, data={"supported": ["2026-07-28"]}),
    }
    return {
        "get": exchange("", 405, http_method="GET", rpc_method=None, content_type=None),
        "json_only": answered(first),
        "foreign_origin": refused(first, 403),
        "unknown_method": refused("driftwatch/no_such_method", 404 if modern else 200, -32601),
        "invalid_cursor": refused("tools/list", 400 if modern else 200, -32602),
        "tool_arguments": answered(
            "tools/call", {"content": [{"type": "text", "text": "no"}], "isError": True}
        ),
        "subscription": subscribed() if modern else not_here,
        "session_after_end": not_here if modern else Missing("no session", "no-session"),
        **(only_modern if modern else dict.fromkeys(only_modern, not_here)),
    }


def subscribed(**changes: Any) -> Streaming:
    """A stream whose first event is its acknowledgement, at once."""
    values: dict[str, Any] = {
        "status": 200,
        "media_type": "text/event-stream",
        "accel_buffering": "no",
        "headers_s": 0.01,
        "first_event_s": 0.02,
        "first_message": "notifications/subscriptions/acknowledged",
        "waited_s": 10.0,
        "fault": None,
    }
    return Streaming(**{**values, **changes})


def called(**changes: Any) -> SlowCall:
    """A slow call whose progress came as it happened."""
    values: dict[str, Any] = {
        "era": Era.MODERN,
        "tool": "export",
        "max_s": 60.0,
        "status": 200,
        "media_type": "text/event-stream",
        "accel_buffering": "no",
        "progress_s": (1.0, 5.0, 9.0),
        "answer_s": 10.0,
        "is_error": False,
        "error": None,
        "fault": None,
    }
    return SlowCall(**{**values, **changes})


def burst(**changes: Any) -> Burst:
    """A burst that was slowed down politely."""
    values: dict[str, Any] = {
        "method": "server/discover",
        "planned": 30,
        "sent": 30,
        "statuses": ((200, 20), (429, 10)),
        "errors": 0,
        "faults": (),
        "retry_after": 10,
        "duration_s": 0.4,
    }
    return Burst(**{**values, **changes})


def beside(surface: Surface) -> dict[str, Any]:
    """What a full probe finds beside the conversation with a healthy server."""
    tools, instructions = surface.tools, surface.instructions
    instance = Instance(
        address="192.0.2.1:443", server_info=surface.server_info, instructions=instructions, tools=tools
    )
    return {
        "addresses": Addresses(accepted=("192.0.2.1:443", "[2001:db8::1]:443"), faults=()),
        "replicas": Replicas(era=surface.era, instances=(instance, instance), unanswered=()),
        "slow_call": called(),
        "logs": LogSearch(
            files=(LogFile(name="app.log", size=1200, marker=0, credential=0),), unread=(), left_out=0
        ),
        "burst": burst(),
    }


def answered(method: str, result: Json = None, **changes: Any) -> Exchange:
    """A success with a result."""
    message = {"jsonrpc": "2.0", "id": 1, "result": {} if result is None else result}
    return exchange(method, answer=message, size=60, **changes)


def certificate(**changes: Any) -> Certificate:
    values: dict[str, Any] = {
        "not_before": NOW - timedelta(days=18),
        "not_after": NOW + timedelta(days=72),
        "issuer": "CN=R11,O=Let's Encrypt,C=US",
        "subject_alt_names": ("mcp.example.org",),
        "version": "TLSv1.3",
        "chain_length": 2,
        "leaf_sha256": "ab" * 32,
        "serial": "01",
    }
    return Certificate(**{**values, **changes})


def tls(**changes: Any) -> Tls:
    leaf = certificate()
    values: dict[str, Any] = {
        "certificate": leaf,
        "verified": True,
        "verify_code": 0,
        "verify_message": None,
        "fault": None,
        "host": "mcp.example.org",
        "host_matches": True,
        "chain": (leaf, leaf),
        "chain_complete": True,
        "trust": "default",
    }
    return Tls(**{**values, **changes})


def outcome(code: str = "ok", message: str = "answers initialize", status: int | None = 200) -> Outcome:
    reachable = code not in {"dns", "refused", "timeout", "reset", "certificate", "tls"}
    return Outcome(code=code, message=message, status=status, reachable=reachable)


def evidence(*surfaces: Surface, **changes: Any) -> Evidence:
    """A probe of a healthy server with these surfaces; both eras, with one tool, where none is given."""
    surfaces = surfaces or (surface(Era.MODERN), surface(Era.LEGACY))
    values: dict[str, Any] = {
        "driftwatch": "0.1.0",
        "server": "notes",
        "url": URL,
        "taken_at": NOW,
        "depth": Depth.FULL,
        "trigger": Trigger.MANUAL,
        "duration_s": 0.25,
        "requests": 6,
        "credential": "anonymous",
        "settings": {},
        "outcome": outcome(),
        "openings": tuple(opening(each.era) for each in surfaces),
        "surfaces": surfaces,
        "tls": tls(),
        "retry_after_s": None,
        **(beside(surfaces[0]) if changes.get("surfaces", surfaces) else {}),
    }
    return Evidence(**{**values, **changes})


def shut(code: str, *attempts: Exchange, message: str = "nothing came back", **changes: Any) -> Evidence:
    """A probe that found no surface."""
    status = attempts[-1].status if attempts else None
    return evidence(
        outcome=outcome(code, message, status),
        openings=(opening(Era.LEGACY, *attempts, established=False),)
        if attempts
        else Missing(message, code, "transport/endpoint"),
        **{"surfaces": (), **changes},
    )


def fingerprint(contract: str = "a", surface: str = "b", algorithm: str = "dw1") -> Fingerprint:
    return Fingerprint(algorithm=algorithm, contract=contract * 64, surface=surface * 64, checklist="c" * 64)


def remembered(accepted: Fingerprint, **changes: Any) -> Remembered:
    values = {"accepted": accepted.pair, "confirmed": accepted.pair, "confirmed_at": NOW}
    return Remembered(**{**values, **changes})


def judged(
    check: str,
    seen: Evidence | None = None,
    *,
    policy: Policy | None = None,
    fingerprints: Mapping[Era, Fingerprint | Missing] | None = None,
    known: Mapping[Era, Remembered | Missing] | None = None,
) -> Result:
    """The result of one check."""
    results = checks.run(
        seen or evidence(),
        fingerprints=fingerprints or {},
        remembered=known or {},
        policy=policy or Policy(),
    )
    return next(result for result in results if result.check == check)


def of_tools(check: str, *tools: Json, policy: Policy | None = None) -> Result:
    """The result of one check about these tools, on one modern surface."""
    return judged(check, evidence(surface(Era.MODERN, *tools)), policy=policy)
