"""``subscriptions/listen``: a stream that costs the server nothing, to see whether events get through."""

import asyncio
import json

from driftwatch.evidence import Exchange, Fault, Missing, Streaming
from driftwatch.model import Json
from driftwatch.probe.conversation.dialogue import JSON_ONLY
from driftwatch.probe.conversation.talk import Talk
from driftwatch.probe.wire.stream import Stream

PATIENCE_S = 10.0
"""How long the first event may take: real servers need less than a tenth of a second."""

NOT_OFFERED = Missing("the server does not offer subscriptions/listen (no tools.listChanged)", "not-offered")
_NO_STREAMS = Missing("the server takes no request that accepts an event stream", "no-stream")


async def listen(talk: Talk) -> Streaming | Missing:
    """Open the stream, read to its first message, the acknowledgement, and close it."""
    if not _is_offered(talk.surface.capabilities):
        return NOT_OFFERED
    request = talk.further("listen", "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    if request.accept == JSON_ONLY:
        return _NO_STREAMS
    clock = asyncio.get_running_loop().time
    began, patience = clock(), min(PATIENCE_S, talk.dialogue.limits.timeout_s)
    exchange: Exchange | None = None
    message: str | None = None
    fault: Fault | None = None
    try:
        async with asyncio.timeout(patience), talk.dialogue.listening(request) as stream:
            exchange = stream.reply.exchange
            fault = exchange.fault
            if fault is None:
                message, fault = await _first_message(stream)
    except TimeoutError:
        phase = "headers" if exchange is None else "body"
        fault = Fault(code="timeout", phase=phase, message=f"nothing came within {patience:g} s")
    return Streaming(
        status=exchange.status if exchange else None,
        media_type=exchange.media_type if exchange else None,
        accel_buffering=exchange.header("x-accel-buffering") if exchange else None,
        headers_s=exchange.first_byte_s if exchange else None,
        first_event_s=clock() - began if message is not None else None,
        first_message=message,
        waited_s=patience,
        fault=fault,
    )


def _is_offered(capabilities: Json) -> bool:
    tools = capabilities.get("tools") if isinstance(capabilities, dict) else None
    return isinstance(tools, dict) and tools.get("listChanged") is True


async def _first_message(stream: Stream) -> tuple[str | None, Fault | None]:
    exchange = stream.reply.exchange
    if exchange.answer is not None:
        return _named(exchange.answer), None
    while True:
        event = await stream.next_event()
        if isinstance(event, Fault):
            return None, event
        if event is None:
            return None, Fault(code="no-answer", phase="body", message="the stream ended without a message")
        if event.name == "message":
            try:
                return _named(json.loads(event.raw)), None
            except (ValueError, RecursionError):
                return None, Fault(code="json", phase="message", message="the first event is not JSON")


def _named(message: Json) -> str:
    if not isinstance(message, dict):
        return "something else"
    method = message.get("method")
    if isinstance(method, str):
        return method[:80]
    error = message.get("error")
    if isinstance(error, dict):
        return f"error {error.get('code')}"[:80]
    return "response" if "result" in message else "something else"
