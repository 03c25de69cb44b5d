"""Everything one probe saw, frozen, without secrets, with a JSON form.

A part that was not seen is ``Missing`` and says why; a check that names the part is then
``not_checked`` for that very reason. Whole-probe parts are the fields of Evidence, parts that exist
once per era are the fields of Surface.
"""

import dataclasses
import types
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from driftwatch.errors import EvidenceError
from driftwatch.model import DEPTH_CODE, Certificate, Depth, Era, Json, Trigger

SCHEMA = 1
"""The version of the JSON form. A reader accepts this version only."""

ANONYMOUS = "anonymous"
"""The credential label of a probe that carried none."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a part of the evidence was not seen."""

    reason: str
    """Completes the sentence "not checked: ..."."""
    code: str
    """Stable: alerts compare it. A blocked part carries its root's code."""
    cause: str | None = None
    """The id of the root check that explains it, such as ``transport/endpoint``."""


NEEDS_FULL = Missing("a light probe does not exercise it", DEPTH_CODE)
"""What a light probe says about every part that takes a full one."""

NO_AUTHORIZATION = Missing("the server does not ask for credentials (authorization is optional)", "no-auth")
"""What an open server leaves to see of authorization."""

_ROOTS = {"certificate": "tls/chain", "tls": "tls/chain", "token": "auth/credential"}
"""The root check of an outcome, where it is not ``transport/endpoint``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why one exchange has no usable answer."""

    code: str
    """Stable. Network: dns, refused, unreachable, address, timeout, reset, tls, certificate. The probe's own:
    deadline, budget. Message: too-large, headers, protocol, encoding, json, utf-8, depth, envelope,
    no-answer."""
    phase: str
    """resolve, connect, tls, send, headers, body or message."""
    message: str
    """One sentence with the figures: which limit, how many bytes, at which offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something odd about an exchange that did not stop the probe."""

    code: str
    """bom, duplicate-member, id-type, id-wrong, id-null, batch, result-and-error, unterminated-event,
    unrequested-encoding, lone-surrogate, number-range, no-content-type, server-request, wrong-length."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came back, bounded and free of secrets."""

    label: str
    """Which request of the recipe it was: discover, initialize, initialized, tools/list, endpoint, delete;
    with a suffix for a variant: ``discover:json-only``, ``discover:redirected``, ``discover:again``."""
    http_method: str
    url: str
    rpc_method: str | None
    request_headers: tuple[tuple[str, str], ...]
    """Credential values are replaced by their label."""
    status: int | None
    headers: tuple[tuple[str, str], ...]
    """Names in lower case, in the order received; at most 64 KiB."""
    excerpt: str
    """The first 2,000 characters of the body, decoded leniently."""
    size: int
    """Bytes of the body read, as they came over the wire."""
    answer: Json
    """The JSON-RPC message that answers the request (an object), or None."""
    fault: Fault | None
    remarks: tuple[Remark, ...]
    address: str | None
    """``ip:port`` of the very connection."""
    first_byte_s: float | None
    """From sending the request (connection included when it was new) to the status line."""
    duration_s: float

    def header(self, name: str) -> str | None:
        """The first value of a header, by its lower-case name."""
        return next((value for key, value in self.headers if key == name), None)

    @property
    def media_type(self) -> str | None:
        """The media type without parameters in lower case; of a doubled value the first; None without one."""
        value = self.header("content-type")
        if value is None:
            return None
        return value.split(",")[0].split(";")[0].strip().lower() or None

    @property
    def result(self) -> Json:
        """The answer's result object, or None when it is an error or there is none."""
        if isinstance(self.answer, dict) and "error" not in self.answer:
            return self.answer.get("result")
        return None

    @property
    def error(self) -> Json:
        """The answer's JSON-RPC error object, or None. Where both stand, the error wins."""
        return self.answer.get("error") if isinstance(self.answer, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How the server took the first request of one era."""

    era: Era
    attempts: tuple[Exchange, ...]
    """In order. The first carries the full Accept header; later ones follow a same-origin redirect, retry
    a refused Accept with JSON only, retry a transient fault, or offer another revision."""
    established: bool
    """True when a surface of this era exists."""

    @property
    def exchange(self) -> Exchange:
        """The attempt that decided."""
        return self.attempts[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the POST that decides reachability."""

    code: str
    """ok, or the root's code: dns, refused, unreachable, address, timeout, reset, certificate, tls, protocol,
    http-5xx, http-4xx, not-mcp, no-handshake (JSON-RPC answers, but no revision was agreed on), auth (401, or
    403 with a challenge), forbidden (403), rate-limited (429), bot-page, redirect, deadline, proxy (the
    configured proxy is out of reach or refuses), token (no visit was made: there was no token for it)."""
    message: str
    """One sentence: what was seen."""
    status: int | None
    reachable: bool

    @property
    def blocker(self) -> Missing:
        """What it leaves unseen, with the root check that explains it."""
        return Missing(self.message, self.code, _ROOTS.get(self.code, "transport/endpoint"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One read of ``tools/list``, or of another list, followed to its end or to a limit."""

    tools: tuple[Json, ...]
    """The entries as received and decoded, in order, over all pages."""
    pages: int
    complete: bool
    """True only for an end that the server itself named, with every page well-formed."""
    fault: Fault | None
    """Why it is not complete: repeated-cursor, page-limit, tool-limit, size-limit, page-error, cursor-type,
    not-a-list, not-a-tool, http-status, rate-limited, deadline, or a Fault of an exchange."""
    exchanges: tuple[Exchange, ...]
    """One per page."""
    cursors: tuple[str, ...]
    cache_scopes: tuple[str, ...]
    """The ``cacheScope`` of each page that had one."""
    ttl_ms: int | None
    refetched: bool = False
    """True when the list was read a second time because the first read contradicted itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherList:
    """A list beside the tools that the configuration asks to be watched."""

    kind: str
    """prompts, resources or templates (of resources)."""
    listing: Listing | Missing
    """Its entries stand where those of ``tools/list`` do; Missing where the server offers no such list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Streaming:
    """An event stream that was opened to see when its first event comes through."""

    status: int | None
    media_type: str | None
    accel_buffering: str | None
    """The ``X-Accel-Buffering`` header; ``no`` asks a proxy to pass every event on at once."""
    headers_s: float | None
    """From sending the request to the status line."""
    first_event_s: float | None
    """From sending the request to the first event with data; None when none came in time."""
    first_message: str | None
    """The JSON-RPC method of that event, or ``response`` or ``error <code>``."""
    waited_s: float
    """How long the first event was waited for, at the most."""
    fault: Fault | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What the server shows in one era."""

    era: Era
    revision: str
    """The negotiated revision, verbatim."""
    opening: Exchange
    """The answered server/discover or initialize."""
    server_info: Json
    capabilities: Json
    instructions: str | None
    supported_versions: tuple[str, ...]
    """What discover lists; empty for the other eras."""
    session: bool
    """True when the server issued a session id (never recorded)."""
    session_ended: Exchange | None
    """The DELETE, where a session was issued."""
    acknowledgement: Exchange | None
    """The reply to notifications/initialized."""
    listing: Listing | Missing
    session_visible: bool = True
    """False when the session id has other characters than visible ASCII."""
    further: tuple[FurtherList, ...] = ()
    """The other lists that are watched."""
    # From here on, what only a full probe asks; each request is sent once.
    get: Exchange | Missing = NEEDS_FULL
    """A GET for an event stream, with the headers of the era and the session; the body is not read."""
    json_only: Exchange | Missing = NEEDS_FULL
    """The era's first request with ``Accept: application/json``."""
    foreign_origin: Exchange | Missing = NEEDS_FULL
    """The era's first request with the Origin of a website that the server cannot know."""
    unknown_method: Exchange | Missing = NEEDS_FULL
    invalid_cursor: Exchange | Missing = NEEDS_FULL
    """``tools/list`` with a cursor that the server did not issue; asked only where it issues some."""
    header_mismatch: Exchange | Missing = NEEDS_FULL
    """server/discover under a ``Mcp-Method`` header that names tools/list; modern era only."""
    unsupported_version: Exchange | Missing = NEEDS_FULL
    """server/discover at a revision of the far future; modern era only."""
    tool_arguments: Exchange | Missing = NEEDS_FULL
    """A call of the one tool that the configuration names, with the arguments that it calls wrong."""
    session_after_end: Exchange | Missing = NEEDS_FULL
    """``tools/list`` within the session that was ended; eras with sessions only."""
    subscription: Streaming | Missing = NEEDS_FULL
    """``subscriptions/listen``; asked only where the modern era declares ``tools.listChanged``."""
    second_read: tuple[Json, ...] | Missing = NEEDS_FULL
    """The complete tool list, read once more on the same connection."""

    @property
    def tools(self) -> "tuple[Json, ...] | Missing":
        """The complete tool list, or why there is none. Partial lists are never handed out."""
        if isinstance(self.listing, Missing):
            return self.listing
        if self.listing.complete:
            return self.listing.tools
        fault = self.listing.fault
        what = fault.message if fault else "it did not end"
        return Missing(f"the tool list is incomplete: {what}", "incomplete-list", "tools/pagination")

    @property
    def further_lists(self) -> "tuple[tuple[str, tuple[Json, ...]], ...] | Missing":
        """Kind and entries of every other list that is watched, or which of them was not read to its end."""
        found = []
        for each in self.further:
            if isinstance(each.listing, Missing):
                continue
            if not each.listing.complete:
                fault = each.listing.fault
                what = fault.message if fault else "it did not end"
                return Missing(f"the list of {each.kind} is incomplete: {what}", "incomplete-list")
            found.append((each.kind, each.listing.tools))
        return tuple(found)


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
        """The first challenge of the one scheme that MCP knows."""
        return next((each for each in self.challenges if each.scheme.lower() == "bearer"), None)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """What the server showed on one further connection."""

    address: str | None
    server_info: Json
    instructions: str | None
    tools: tuple[Json, ...] | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """Further connections of one era, to see whether every instance is the same."""

    era: Era
    instances: tuple[Instance, ...]
    unanswered: tuple[str, ...]
    """Why a connection showed nothing, one sentence each."""
    broken: tuple[str, ...] = ()
    """The same of the connections that were refused, broke, or met a server error."""

    @property
    def connections(self) -> int:
        """How many further connections were tried."""
        return len(self.instances) + len(self.unanswered) + len(self.broken)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that one probe saw."""

    driftwatch: str
    server: str
    url: str
    taken_at: datetime
    depth: Depth
    trigger: Trigger
    duration_s: float
    requests: int
    credential: str
    settings: Json
    """What shaped the probe, without secrets: limits, origin, switched-off checks."""
    outcome: Outcome
    openings: tuple[Opening, ...] | Missing
    surfaces: tuple[Surface, ...]
    tls: Tls | Missing
    retry_after_s: float | None = None
    """The longest pause that a 429 or 503 asked for (Retry-After): for the next visit, not for this one."""
    authorization: Authorization | Missing = NO_AUTHORIZATION
    # What only a full probe does, beside the conversation.
    addresses: Addresses | Missing = NEEDS_FULL
    replicas: Replicas | Missing = NEEDS_FULL
    slow_call: SlowCall | Missing = NEEDS_FULL
    logs: LogSearch | Missing = NEEDS_FULL
    burst: Burst | Missing = NEEDS_FULL

    @property
    def blocker(self) -> Missing:
        """Why there is no surface: what every check of a surface then answers."""
        return self.outcome.blocker


def to_json(evidence: Evidence) -> dict[str, Json]:
    """The evidence as a JSON object of schema ``driftwatch/evidence/<SCHEMA>``."""
    return {"schema": f"driftwatch/evidence/{SCHEMA}", **_encode(evidence)}


def from_json(value: Json) -> Evidence:
    """Read what to_json wrote. Raises EvidenceError when it is damaged, not ours or of another schema."""
    if not isinstance(value, dict) or not str(value.get("schema", "")).startswith("driftwatch/evidence/"):
        raise EvidenceError("this is not a probe saved by driftwatch (no schema driftwatch/evidence)")
    if value["schema"] != f"driftwatch/evidence/{SCHEMA}":
        raise EvidenceError(
            f"this probe has the schema {value['schema']!r}, this driftwatch reads "
            f"driftwatch/evidence/{SCHEMA}: save it again, or use the version that saved it"
        )
    try:
        evidence: Evidence = _decode(Evidence, {key: item for key, item in value.items() if key != "schema"})
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise EvidenceError(f"this saved probe is damaged: {error}") from error
    return evidence


def _encode(value: Any) -> Any:
    if isinstance(value, Missing):
        return {"missing": value.reason, "code": value.code, "cause": value.cause}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _encode(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return value  # JSON already


def _decode(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in {Union, types.UnionType}:
        return _decode_union(get_args(kind), value)
    if origin is tuple:
        return _decode_tuple(get_args(kind), value)
    if kind is Any or not isinstance(kind, type):  # JSON as it is; Any is a type since Python 3.11
        return value
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        # A part that an older driftwatch did not know has its default.
        optional = {item.name for item in dataclasses.fields(kind) if item.default is not dataclasses.MISSING}
        names = [
            item.name for item in dataclasses.fields(kind) if item.name in value or item.name not in optional
        ]
        return kind(**{name: _decode(hints[name], value[name]) for name in names})
    return _decode_plain(kind, value)


def _decode_union(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in kinds:
        return None
    if Missing in kinds and isinstance(value, dict) and "missing" in value:
        return Missing(value["missing"], value["code"], value["cause"])
    (kind,) = [kind for kind in kinds if kind not in {type(None), Missing}]
    return _decode(kind, value)


def _decode_tuple(kinds: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {type(value).__name__}")
    if kinds[-1] is Ellipsis:
        return tuple(_decode(kinds[0], item) for item in value)
    return tuple(_decode(kind, item) for kind, item in zip(kinds, value, strict=True))


def _decode_plain(kind: type[Any], value: Any) -> Any:
    if kind is datetime:
        return datetime.fromisoformat(value)
    if issubclass(kind, Enum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise TypeError(f"{kind.__name__} was expected, not {type(value).__name__}")
    return value
