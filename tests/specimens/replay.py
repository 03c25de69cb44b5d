"""What replays of field cases share."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from driftwatch.model import EventKind, State
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp
from tests.specimens.watching import Watch

VERIFIED = State.VERIFIED, None
Watching: TypeAlias = Callable[..., AbstractAsyncContextManager[Watch]]
"""The fixture ``watch``."""
Before: TypeAlias = Callable[[Mcp, Incoming], Answer | None]


def to(method: str, answer: Callable[[Incoming], Answer]) -> Before:
    """Answer this JSON-RPC method, or HTTP method, so; leave the rest to the server."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return answer(incoming) if method in {incoming.rpc_method, incoming.method} else None

    return before


def rewritten(change: Callable[[Json], str], *, kind: str = "application/json") -> Mcp:
    """A modern server whose list comes as whatever is made of the message."""

    def after(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "tools/list" or answer.status != 200:
            return answer
        body = change(json.loads(answer.body)).encode()
        return answer.but(body=body).with_header("Content-Type", kind)

    return Mcp(legacy=False, after=after)


async def one_message(watched: Watch, *, kind: EventKind = EventKind.CHANGE) -> None:
    """Nothing more is said than one message, however often the server is looked at."""
    await watched.look(6)
    assert watched.messages == [{kind}]
