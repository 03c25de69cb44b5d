"""Whether the probe was shut out for what it asks, as by a firewall that counts wrong requests.

What it keeps from being seen then is no fault of the server's, and neither a dead instance nor an outage.
"""

from collections.abc import Awaitable, Callable

from driftwatch.evidence import Exchange, Missing
from driftwatch.probe.conversation import outcome
from driftwatch.probe.conversation.dialogue import Dialogue

PATIENCE_S = 10.0
"""How long the plain request that settles it may take."""

SHUT = frozenset({"reset", "refused", "timeout", "unreachable", "forbidden"})
"""How a firewall treats an address that it has had enough of. It does not speak JSON-RPC."""


async def note(
    dialogue: Dialogue, seen: Exchange, wrong: str | None, ask: Callable[[], Awaitable[Exchange]]
) -> None:
    """Take in how a request fared; ``wrong`` says in words what was wrong with it on purpose.

    Where it was turned away, and anything wrong was asked by then, ``ask`` tells whether a plain request is
    still answered. If not, ``dialogue.shut_out`` says why nothing more is to be asked.
    """
    if not _is_shut(seen):
        dialogue.provoked = wrong or dialogue.provoked
        return
    # It was either of the two: some firewalls act at once, others read the server's log.
    provoked = " and ".join(filter(None, (dialogue.provoked, wrong)))
    if not provoked or dialogue.shut_out is not None or not _is_shut(await ask()):
        return
    dialogue.shut_out = shut_out(provoked)


def shut_out(provoked: str) -> Missing:
    """Why nothing is seen of a server that stopped answering after these requests."""
    reason = (
        f"the server stopped answering after {provoked}; if a firewall did that, let the monitor through or "
        "set negative_probes = false"
    )
    return Missing(reason, "shut-out")


def _is_shut(exchange: Exchange) -> bool:
    refusal = outcome.blocked(exchange)
    return refusal is not None and refusal.code in SHUT and exchange.answer is None
