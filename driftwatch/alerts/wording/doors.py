"""When there is no way in: a server that is down, and one whose door is shut."""

from dataclasses import dataclass

from driftwatch.alerts.text import foreign
from driftwatch.alerts.wording.note import code, state
from driftwatch.model import State
from driftwatch.transitions.values import DOORS

ROOT = "transport/endpoint"


@dataclass(frozen=True, slots=True)
class Closed:
    """A door that is shut: why, for whom besides, and what to do."""

    why: str
    affected: str
    fix: str


DOWN = {
    "dns": "the name does not resolve",
    "unreachable": "no way to its address",
    "refused": "connection refused",
    "timeout": "no answer in time",
    "deadline": "no answer in time",
    "reset": "connection reset",
    "protocol": "what answers is not valid HTTP",
    "http-4xx": "it refuses the first request",
    "http-5xx": "it answers with a server error",
    "no-handshake": "it refuses the handshake",
    "not-mcp": "what answers is not an MCP server",
    "redirect": "it redirects to where no client follows",
}
"""The root check's codes in words for a lock screen."""

CLOSED = {
    "auth": Closed(
        "it asks for credentials",
        "clients that come without a credential, as driftwatch does",
        "Where a sign-in is meant, give driftwatch a credential of its own (`token_file`, `[server.oauth]`). "
        "Otherwise look at what was put in front of the MCP route, or changed in the last release.",
    ),
    "forbidden": Closed(
        "it forbids the request",
        "every client, unless the rule is about driftwatch alone",
        "Look at the firewall or gateway in front for a rule that refuses POST, JSON or unknown clients on "
        "the MCP route; its log names the rule. Let driftwatch through by its address or its User-Agent.",
    ),
    "rate-limited": Closed(
        "it limits how often it is asked",
        "driftwatch, and the clients that share its limit",
        "Raise the limit for driftwatch's address, or let it come less often (`interval`, `full_interval`).",
    ),
    "client-certificate": Closed(
        "it takes no client without a certificate of its own",
        "clients without a certificate that it takes",
        "Give driftwatch a client certificate (`client_cert`, `client_key`), or renew the one it has: the "
        "files are read again when they change.",
    ),
    "bot-page": Closed(
        "a bot-protection page answers",
        "every client: an agent cannot solve the page",
        "Exempt the MCP route from bot protection: what connects there are programs.",
    ),
    "access-gate": Closed(
        "an access gate in front of it answers",
        "every client: an agent cannot sign in there",
        "Exempt the MCP route from it (Vercel: Deployment Protection; Cloudflare Access: a bypass policy), "
        "and let the server ask for tokens itself. Where the gate is meant, give driftwatch what it lets "
        "programs in with (`headers`), or renew that.",
    ),
    "address": Closed(
        "it resolves to an address that is never asked",
        "driftwatch, and clients that refuse such addresses",
        "Look at the name in DNS: it leads to a link-local or metadata address.",
    ),
    "proxy": Closed(
        "the way out through the proxy is shut",
        "driftwatch alone",
        "Look at the proxy that is configured for this server (`proxy`): it is what refused.",
    ),
}
"""The root checks' codes for a door that is shut, behind which the server may well be in order."""


def down_words(check: str, value: str | None) -> str | None:
    """Why nothing can be asked of the server, in words; None when that is not the case."""
    if check != ROOT or state(value) != State.FAILED:
        return None
    return DOWN.get(code(value), foreign(code(value), 40) or "no usable answer")


def way_in(check: str, value: str | None) -> str | None:
    """How it stands with the way in, in a few words; None for other checks, and where it is not known."""
    down, closed = down_words(check, value), closed_door(check, value)
    if down or closed:
        return f"down - {down}" if down else f"closed - {closed.why}" if closed else None
    return "up" if check == ROOT and state(value) == State.VERIFIED else None


def closed_door(check: str, value: str | None) -> Closed | None:
    """The shut door that keeps a root check from being looked at; None where that is not the case."""
    return CLOSED.get(code(value)) if check in DOORS and state(value) == State.NOT_CHECKED else None
