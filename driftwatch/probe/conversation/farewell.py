"""Ending what was begun: every session that a server issued gets its DELETE, whatever happens."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from driftwatch.probe.conversation.dialogue import Dialogue
from driftwatch.probe.wire.exchange import Wire
from driftwatch.probe.wire.request import Limits, Request

FAREWELL_S = 0.9
"""What a conversation may take beyond its deadline, or after its cancellation, to end its sessions."""

T = TypeVar("T")


async def end_sessions(dialogue: Dialogue, wire: Callable[[Limits], Wire]) -> int:
    """End the sessions that are still open, on a wire of their own; how many requests that took.

    Finishes although the task is cancelled meanwhile; the cancellation comes after it.
    """
    farewells = [dialogue.farewell(session) for session in dialogue.open_sessions]
    if not farewells:
        return 0
    hurried = replace(
        dialogue.limits, timeout_s=FAREWELL_S, deadline_s=FAREWELL_S, max_requests=len(farewells)
    )
    return await _uncancelled(_send_all(wire(hurried), farewells))


async def _send_all(wire: Wire, requests: list[Request]) -> int:
    async with wire:
        for request in requests:
            await wire.send(request)
    return wire.requests


async def _uncancelled(work: Coroutine[Any, Any, T]) -> T:
    """Finish bounded work although this task is cancelled meanwhile; the cancellation comes after it."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()
