"""What shows once per probe and not once per era: certificates, authorization, addresses, instances, logs."""

from collections.abc import Sequence
from dataclasses import dataclass

from driftwatch.evidence.exchange import Exchange, Fault, Missing
from driftwatch.model import Certificate, Era, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """The certificate facts of the very connection that carried the probe, or that failed to."""

    certificate: Certificate | None
    """None when the server sent no readable certificate."""
    verified: bool
    """OpenSSL's own verdict on the handshake."""
    verify_code: int | None
    verify_message: str | None
    fault: str | None
    """A stable code when not verified: expired, not-yet-valid, intermediate-expired, self-signed, unknown-ca,
    missing-intermediate, wrong-host, client-certificate, protocol-version, alpn, not-tls, handshake,
    strictness, unsuitable (made for another purpose, or too weak)."""
    host: str
    """The name or address that was asked for, as an A-label."""
    host_matches: bool | None
    chain: tuple[Certificate, ...]
    """As sent by the server, leaf first; at most 10."""
    chain_complete: bool | None
    """False when an issuer between the leaf and a trusted root was not sent."""
    trust: str
    """Which roots were used: ``default`` or the configured CA file's name."""
    also: tuple[Certificate, ...] = ()
    """Other leaves that were shown on further connections of the probe; they end later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """One challenge of a ``WWW-Authenticate`` header (RFC 9110 section 11.6.1)."""

    scheme: str
    """As sent; compared without regard to case."""
    token68: str | None
    parameters: tuple[tuple[str, str], ...]
    """Names in lower case, values without their quotes, in the order received."""

    def parameter(self, name: str) -> str | None:
        """The first value of a parameter, by its lower-case name."""
        return next((value for key, value in self.parameters if key == name), None)


def bearer(challenges: Sequence[Challenge]) -> Challenge | None:
    """The challenge of the one scheme that MCP knows: of several, the first that names the metadata."""
    known = [each for each in challenges if each.scheme.lower() == "bearer"]
    naming = (each for each in known if each.parameter("resource_metadata") is not None)
    return next(naming, known[0] if known else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """One look for a document that says where tokens come from."""

    place: str
    """Where it was looked for: ``header`` (the challenge's resource_metadata), ``path`` or ``root`` (the
    well-known addresses of RFC 9728), ``rfc8414`` (the root document of the revision before it)."""
    url: str
    reply: Exchange | Missing
    """The GET, made without a credential; Missing where driftwatch does not go there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """How the server turned a request without a credential away, and what it says about getting one."""

    refusal: Exchange
    """401, 403, or a redirect to a login page."""
    challenges: tuple[Challenge, ...]
    malformed: str | None
    """What of the ``WWW-Authenticate`` headers is no challenge, as far as it goes."""
    resource: str
    """The endpoint's URL without query: what the metadata must call ``resource``."""
    metadata: tuple[Metadata, ...] | Missing
    """In the order in which clients look; after the first that answered, no further ones."""
    invalid_token: Exchange | Missing
    """The era's first request with a token that cannot be valid."""

    @property
    def bearer(self) -> Challenge | None:
        """The challenge that clients follow."""
        return bearer(self.challenges)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressFault:
    """An address that gave no connection."""

    address: str
    """``ip:port``."""
    code: str
    """refused, unreachable, timeout, reset or address (not allowed)."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Every address of the endpoint's name, each asked for one connection."""

    accepted: tuple[str, ...]
    """``ip:port`` of each that accepted one."""
    faults: tuple[AddressFault, ...]


NOT_ASKED = Missing("no request was left for the list", "not-asked")
"""In the place of a list that one further connection had no room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """What the server showed in one era on one further connection."""

    address: str | None
    server_info: Json
    instructions: str | None
    tools: tuple[Json, ...] | Missing
    other_era: Era | None = None
    """Set where it is not the server's first era."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """What an era's first request got on one further connection."""

    era: Era
    revision: str | None
    """What it settled on; None where the era is not spoken."""
    said: str
    """The answer in a few words."""
    supported_versions: tuple[str, ...] = ()
    """What discover lists; empty for the other eras."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """Further connections, to see whether every instance is the same."""

    era: Era
    """The server's first one."""
    instances: tuple[Instance, ...]
    """In the order in which they were met, one of each era that a connection got on with."""
    unanswered: tuple[str, ...]
    """Why a connection showed nothing, one sentence each."""
    broken: tuple[str, ...] = ()
    """The same of the connections that were refused, broke, or met a server error."""
    greetings: tuple[Greeting, ...] = ()
    """What each of them said to an era's first request, where that was a clear answer."""
    connections: int = 2
    """How many were tried."""

    @property
    def met(self) -> tuple[tuple[Era, Instance], ...]:
        """The instances, each with the era in which it showed this."""
        return tuple((one.other_era or self.era, one) for one in self.instances)

    def refused(self, era: Era) -> bool:
        """Whether any of them was told that this era is not spoken."""
        return any(one.era is era and one.revision is None for one in self.greetings)

    @property
    def incomplete(self) -> bool:
        """Whether a list of the server's first era was asked for and not read to its end."""
        lists = [one.tools for one in self.instances if one.other_era is None]
        return any(isinstance(tools, Missing) and tools != NOT_ASKED for tools in lists)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowCall:
    """A call of the configured slow tool, without anything of what it said."""

    era: Era
    tool: str
    max_s: float
    """How long the configuration lets it take."""
    status: int | None
    media_type: str | None
    accel_buffering: str | None
    progress_s: tuple[float, ...]
    """When each progress notification came, in seconds from sending the request; at most 100."""
    answer_s: float | None
    """When the answer came; None without one."""
    is_error: bool
    """Whether the answer is a result with ``isError``."""
    error: str | None
    """The JSON-RPC error that answered, as a phrase."""
    fault: Fault | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """Small requests in quick succession, sent with the owner's consent."""

    method: str
    planned: int
    sent: int
    statuses: tuple[tuple[int, int], ...]
    """HTTP status and how often it came."""
    errors: int
    """JSON-RPC errors among the answers with status 200."""
    faults: tuple[tuple[str, int], ...]
    """Code of a fault without an answer, such as timeout, and how often it came."""
    retry_after: int
    """How many of the answers with 429 carried Retry-After."""
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """How often one log file holds what must not be in it."""

    name: str
    size: int
    """Bytes searched, after decompression."""
    marker: int
    """The header ``X-Driftwatch-Probe`` of this very probe."""
    credential: int
    """The configured credential."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSearch:
    """The configured log files, searched after the probe's requests."""

    files: tuple[LogFile, ...]
    unread: tuple[str, ...]
    """Files that could not be read, by name."""
    left_out: int
    """Older files beyond the bounds of one search."""
