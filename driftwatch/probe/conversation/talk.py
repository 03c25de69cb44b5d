"""One era's conversation after its surface was read, for requests beside the plain ones."""

from collections.abc import Callable
from dataclasses import dataclass

from driftwatch.evidence import Exchange, Surface
from driftwatch.model import Json
from driftwatch.probe.conversation.dialogue import REVISION_HEADER, Dialogue
from driftwatch.probe.wire.request import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """How to ask something more, in the words that this server has agreed to."""

    dialogue: Dialogue
    surface: Surface
    first: Callable[[str], Request]
    """The era's first request once more, under this label: server/discover or initialize."""
    further: Callable[[str, str, dict[str, Json]], Request]
    """Any other request: label, method and params."""
    headers: tuple[tuple[str, str], ...]
    """What a request without a body carries: the revision, and the session if one was issued."""

    async def send(self, request: Request) -> Exchange:
        """Ask it; a session that the server issues for it is ended with the others."""
        reply = await self.dialogue.send(request)
        session = reply.session
        if session in self.dialogue.open_sessions and session not in dict(self.headers).values():
            self.dialogue.carry(session, self._revision)
        return reply.exchange

    @property
    def _revision(self) -> tuple[tuple[str, str], ...]:
        return tuple(item for item in self.headers if item[0] == REVISION_HEADER)
