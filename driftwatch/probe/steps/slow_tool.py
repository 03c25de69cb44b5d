"""A call of the configured slow tool, to see whether its progress and its answer get through."""

import asyncio
import json
from dataclasses import dataclass, field, replace

from driftwatch.evidence import Fault, Missing, SlowCall, Surface
from driftwatch.model import Json
from driftwatch.probe.steps.further import ERAS, Begun, Door
from driftwatch.probe.steps.tool_call import tool_call
from driftwatch.probe.target import SlowTool
from driftwatch.probe.wire.request import Request
from driftwatch.probe.wire.stream import Stream

NOT_CONFIGURED = Missing("no slow tool configured", "not-configured")
OLD_TRANSPORT = Missing("not called over the old HTTP+SSE transport", "not-applicable")

PROGRESS = "driftwatch"
MAX_PROGRESS = 100
"""Progress notifications whose time is kept."""
MAX_REQUESTS = 6
"""The handshake, the call, and the DELETE of a session that each may open."""
_HANDSHAKE_S = 20.0
"""What the handshake before and the DELETE after the call may take beside its own maximum."""


async def call(door: Door, surface: Surface, tool: SlowTool) -> SlowCall | Missing:
    """Call the tool once and wait for as long as the configuration lets it take.

    Nothing of what the tool says is kept, only when it said something.
    """
    if surface.era not in ERAS:
        return OLD_TRANSPORT
    patient = replace(
        door.target.limits,
        timeout_s=tool.max_s,
        deadline_s=tool.max_s + _HANDSHAKE_S,
        max_requests=MAX_REQUESTS,
    )
    async with door.conversation(surface, patient) as begun:
        if isinstance(begun, Missing):
            return Missing(f"the slow tool could not be called: {begun.reason}", begun.code)
        return await _call(begun, tool)


async def _call(begun: Begun, tool: SlowTool) -> SlowCall | Missing:
    request = tool_call(begun.talk, "slow-tool", tool.name, tool.arguments)
    if isinstance(request, Missing):
        return request
    request = _with_progress(request)
    clock = asyncio.get_running_loop().time
    heard, began, exchange = _Heard(), clock(), None
    try:
        async with asyncio.timeout(tool.max_s), begun.talk.dialogue.listening(request) as stream:
            exchange = stream.reply.exchange
            await _listen(stream, request, heard, began)
    except TimeoutError:
        heard.fault = Fault(code="timeout", phase="body", message=f"no answer within {tool.max_s:g} s")
    return SlowCall(
        era=begun.talk.surface.era,
        tool=tool.name,
        max_s=tool.max_s,
        status=exchange.status if exchange else None,
        media_type=exchange.media_type if exchange else None,
        accel_buffering=exchange.header("x-accel-buffering") if exchange else None,
        progress_s=tuple(heard.progress_s),
        answer_s=heard.answer_s,
        is_error=heard.is_error,
        error=heard.error,
        fault=heard.fault,
    )


def _with_progress(request: Request) -> Request:
    rpc = request.rpc or {}
    params = rpc["params"]
    meta = {**params.get("_meta", {}), "progressToken": PROGRESS}
    return replace(request, rpc={**rpc, "params": {**params, "_meta": meta}})


@dataclass(slots=True)
class _Heard:
    """What came while the call was listened to."""

    progress_s: list[float] = field(default_factory=list)
    answer_s: float | None = None
    is_error: bool = False
    error: str | None = None
    fault: Fault | None = None

    def note(self, message: Json, wanted: Json, at_s: float) -> None:
        """Take in one JSON-RPC message; only its kind is kept."""
        if not isinstance(message, dict):
            return
        if message.get("method") == "notifications/progress":
            if len(self.progress_s) < MAX_PROGRESS:
                self.progress_s.append(at_s)
        elif "method" not in message and (message.get("id") == wanted or message.get("id") is None):
            result, error = message.get("result"), message.get("error")
            self.answer_s = at_s
            self.is_error = isinstance(result, dict) and result.get("isError") is True
            if isinstance(error, dict):
                self.error = f"error {error.get('code')}"[:80]


async def _listen(stream: Stream, request: Request, heard: _Heard, began: float) -> None:
    clock = asyncio.get_running_loop().time
    wanted = (request.rpc or {}).get("id")
    exchange = stream.reply.exchange
    heard.fault = exchange.fault
    heard.note(exchange.answer, wanted, clock() - began)
    while heard.fault is None and heard.answer_s is None:
        event = await stream.next_event()
        if isinstance(event, Fault):
            heard.fault = event
        elif event is None:
            what = "the reply ended without an answer"
            heard.fault = Fault(code="no-answer", phase="body", message=what)
        elif event.name == "message":
            try:
                heard.note(json.loads(event.raw), wanted, clock() - began)
            except (ValueError, RecursionError):
                continue
