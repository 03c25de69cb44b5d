"""Faults that show beside the plain conversation: streams, slow tools, bursts, logs, instances, addresses."""

import atexit
import itertools
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from driftwatch.model import Era
from driftwatch.probe import Limits
from driftwatch.probe.target import BurstPlan, SlowTool
from driftwatch.probe.wire.address import Address
from tests.servers.raw import ASK, RESET, Script, http
from tests.specimens.answering import asks, when
from tests.specimens.healthy import MODERN_ONLY
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import TOOLS, Json, Mcp, as_json, tool
from tests.specimens.specimen import FAILED, RISK, VERIFIED, Specimen

LISTENS = {"tools": {"listChanged": True}}
ACKNOWLEDGED = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {}}
PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "driftwatch"}}
UNBUFFERED = ("X-Accel-Buffering", "no")

_FOLDER = tempfile.TemporaryDirectory(prefix="driftwatch-specimens-")
atexit.register(_FOLDER.cleanup)


def events(*messages: Json, header: tuple[str, str] | None = UNBUFFERED, ends: bool = True) -> Answer:
    """An event stream that says these messages."""
    body = "".join(f"data: {json.dumps(message)}\n\n" for message in messages)
    kind = ("Content-Type", "text/event-stream")
    return Answer(headers=(kind, header) if header else (kind,), body=body.encode(), stays_open=not ends)


def _to(method: str, answer: Callable[[Json], Answer], **server: Json) -> Callable[[], Mcp]:
    return when(asks(method), lambda incoming: answer(incoming.rpc), **server)


def _listens(name: str, deviation: str, answer: Answer, expect: Json, timeout_s: float = 20) -> Specimen:
    return Specimen(
        name=name,
        deviation=deviation,
        make=_to("subscriptions/listen", lambda _: answer, capabilities=LISTENS),
        target={"limits": Limits(timeout_s=timeout_s)},
        expect={"timeouts/stream-buffering": expect},
    )


STREAMS = (
    _listens(
        "listens-504",
        "a gateway that waits for the end of the stream gives it up",
        Answer(status=504),
        (RISK, "held"),
    ),
    _listens(
        "listens",
        "none: a subscription is acknowledged at once",
        events(ACKNOWLEDGED, ends=False),
        VERIFIED,
    ),
    _listens(
        "listens-unmarked",
        "the stream does not ask proxies to pass events on",
        events(ACKNOWLEDGED, header=None, ends=False),
        (RISK, "unmarked"),
    ),
    _listens(
        "listens-held",
        "something holds the first event back",
        events(ends=False),
        (RISK, "held"),
        timeout_s=0.5,
    ),
    _listens("listens-cut", "the stream ends before its first event", events(), (FAILED, "cut")),
)


def _result(rpc: Json) -> Json:
    return {"jsonrpc": "2.0", "id": rpc["id"], "result": {"content": []}}


def _slow(name: str, deviation: str, answer: Callable[[Json], Answer], expect: Json) -> Specimen:
    return Specimen(
        name=name,
        deviation=deviation,
        make=_to("tools/call", answer),
        target={"slow_tool": SlowTool(name="add_note", arguments={"text": "x"}, max_s=5)},
        expect={"timeouts/slow-tool": expect},
    )


SLOW_TOOLS = (
    _slow("slow-tool", "none: it answers", lambda rpc: as_json(json.dumps(_result(rpc))), VERIFIED),
    _slow(
        "slow-tool-streams",
        "none: progress, then the answer",
        lambda rpc: events(PROGRESS, _result(rpc)),
        VERIFIED,
    ),
    _slow(
        "slow-tool-cut", "the stream ends after some progress", lambda _: events(PROGRESS), (FAILED, "cut")
    ),
    _slow(
        "slow-tool-504",
        "a proxy gives up before the tool does",
        lambda _: Answer(status=504),
        (FAILED, "gateway-timeout"),
    ),
)


@dataclass
class _After:
    """Another answer from the n-th request on; what is asked before a burst is fewer."""

    number: int
    answer: Answer

    def __call__(self, _: Mcp, __: Incoming) -> Answer | None:
        self.number -= 1
        return self.answer if self.number < 0 else None


def _burst(name: str, deviation: str, answer: Answer | None, expect: Json) -> Specimen:
    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(legacy=False, before=None if answer is None else _After(40, answer)),
        eras=(Era.MODERN,),
        target={"burst": BurstPlan(requests=60, on="manual")},
        expect={**MODERN_ONLY, "load/rate-limit": expect},
    )


BURSTS = (
    _burst(
        "burst-limited",
        "none: 429 with Retry-After",
        Answer(status=429, headers=(("Retry-After", "9"),)),
        VERIFIED,
    ),
    _burst("burst-unlimited", "no request is ever too many", None, (RISK, "unlimited")),
    _burst("burst-no-retry-after", "429 without Retry-After", Answer(status=429), (RISK, "no-retry-after")),
    _burst("burst-500", "an error 500 when it gets too much", Answer(status=500), (FAILED, "server-error")),
)


def _logs(name: str, deviation: str, line: Callable[[Incoming], str], expect: Json) -> Specimen:
    log = Path(_FOLDER.name) / f"{name}.log"

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        with log.open("a") as file:
            file.write(f"{line(incoming)}\n")
        return None

    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(before=before),
        target={"log_files": (log,)},
        expect={"logs/credentials": expect},
    )


LOGS = (
    _logs("logs-paths", "none: methods and paths are logged", lambda asked: asked.path, VERIFIED),
    _logs("logs-headers", "every header is logged", lambda asked: str(asked.headers), (FAILED, "headers")),
)


class _Rollout:
    """Every other connection meets an instance with one more tool."""

    def __init__(self) -> None:
        self.instances = itertools.cycle([TOOLS, (*TOOLS, tool("search_notes"))])

    def __call__(self, server: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method == "server/discover" and "origin" not in incoming.headers:
            plain = incoming.headers["accept"] != "application/json"
            same = incoming.headers["mcp-method"] == "server/discover"
            now = incoming.headers["mcp-protocol-version"] == "2026-07-28"
            server.tools = next(self.instances) if plain and same and now else server.tools
        return None


def _stamped() -> Callable[[Json], Json]:
    """A list in which the time is a default."""
    clock = itertools.count()

    def page(_: Json) -> Json:
        at = {"type": "integer", "default": next(clock)}
        schema = {"type": "object", "properties": {"at": at}, "required": ["at"]}
        return {"tools": [tool("remind", inputSchema=schema)]}

    return page


class _TwoAddresses:
    """A name with one address where nobody listens."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        return [Address(ip_address("127.0.0.1"), port), Address(ip_address("127.0.0.2"), port)]


SIGN_IN = "set-cookie: _vercel_sso_nonce=x"


def _every_other(script: Script) -> Callable[[], Mcp]:
    """A load balancer with two nodes, one of which does this to every connection."""
    return lambda: Mcp(greet=lambda connection: () if connection % 2 else script)


INSTANCES = (
    Specimen(
        name="node-dead",
        deviation="every other connection is reset",
        make=_every_other((RESET,)),
        expect={"release/replicas": (RISK, "no-answer")},
    ),
    Specimen(
        name="node-502",
        deviation="every other connection gets 502 from a load balancer",
        make=_every_other((ASK, http(status="502 Bad Gateway"))),
        expect={"release/replicas": (RISK, "no-answer")},
    ),
    Specimen(
        name="node-gated",
        deviation="every other connection is asked to sign in by the platform",
        make=_every_other((ASK, http(status="401 Unauthorized", headers=(SIGN_IN,)))),
        expect={"release/replicas": (RISK, "no-answer")},
    ),
    Specimen(
        name="replicas-differ",
        deviation="two instances with different tools",
        make=lambda: Mcp(legacy=False, before=_Rollout()),
        eras=(Era.MODERN,),
        expect={**MODERN_ONLY, "release/replicas": (FAILED, "tools-differ")},
    ),
    Specimen(
        name="list-volatile",
        deviation="a default that is new at every read",
        make=lambda: Mcp(legacy=False, pages=_stamped()),
        eras=(Era.MODERN,),
        expect={**MODERN_ONLY, "release/stable-listing": (RISK, "volatile")},
    ),
    Specimen(
        name="address-dead",
        deviation="one of two addresses refuses connections",
        target={"resolver": _TwoAddresses()},
        expect={"network/addresses": (RISK, "address-dead")},
    ),
)

BESIDES = (*STREAMS, *SLOW_TOOLS, *BURSTS, *LOGS, *INSTANCES)
