"""Faults of the handshake: revisions, eras, sessions, acknowledgements."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from driftwatch.model import Era
from tests.specimens.answering import answers
from tests.specimens.healthy import as_server_error
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import MODERN, Json, Mcp, as_json, refusal
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, VERIFIED, Specimen

TOO_OLD = {"mcp/protocol-version": (RISK, "too-old")}
REFUSES = {"mcp/negotiation": (RISK, "refused")}
STATEFUL = {"session/stateless": (FAILED, "needs-earlier-request")}
MIXED_UP = {"mcp/protocol-version": (FAILED, "no-handshake-revision")}
UNKNOWN = {"mcp/protocol-version": (RISK, "unknown-revision")}


def _negotiates(revision: str) -> Callable[[], Mcp]:
    return lambda: Mcp(modern=False, revisions=(revision,))


def _legacy(name: str, deviation: str, make: Callable[[], Mcp], **more: Any) -> Specimen:
    return Specimen(name=name, deviation=deviation, make=make, eras=(Era.LEGACY,), **more)


def _refuses(known: str, refuse: Callable[[Json], Answer]) -> Callable[[], Mcp]:
    """Refuses every revision but one instead of offering its own."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        asked = incoming.rpc.get("params", {}).get("protocolVersion")
        refused = incoming.rpc_method == "initialize" and asked != known
        return refuse(incoming.rpc) if refused else None

    return lambda: Mcp(modern=False, revisions=(known,), before=before)


def _strips_headers(_: Mcp, incoming: Incoming) -> Answer | None:
    """A proxy that lets no Mcp- header through: the modern server behind it misses them."""
    if "mcp-method" in incoming.headers:
        return refusal(incoming.rpc, -32020, "Mcp-Method header is missing")
    return None


def _no_revision(method: str, _: Json, result: Json) -> Json:
    return {key: item for key, item in result.items() if key != "protocolVersion"}


def _settles_on_modern(method: str, _: Json, result: Json) -> Json:
    return {**result, "protocolVersion": MODERN} if method == "initialize" else result


def _acknowledges(answer: Answer) -> Callable[[], Mcp]:
    return answers("notifications/initialized", answer)


class _StumblesOnce:
    """A server error to the first notification."""

    def __init__(self) -> None:
        self.stumbled = False

    def __call__(self, _: Mcp, incoming: Incoming) -> Answer | None:
        if self.stumbled or incoming.rpc_method != "notifications/initialized":
            return None
        self.stumbled = True
        return Answer(status=503)


class _LosesSession:
    """Forgets the first session after the handshake, as a restart or another instance would."""

    def __init__(self, *, always: bool = False) -> None:
        self.always = always

    def __call__(self, server: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method == "tools/list" and (self.always or server.issued == 1):
            server.open_sessions.clear()
        return None


def _without_session_header(incoming: Incoming, answer: Answer) -> Answer:
    return as_server_error(incoming, answer.with_header("Mcp-Session-Id", None))


def _ever_new_session() -> Mcp:
    """Issues a session with every reply, also to the modern era."""
    server = Mcp()

    def after(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.method == "DELETE" or incoming.rpc_method == "initialize":
            return answer
        server.issued += 1
        session = f"s3cret-extra-{server.issued}"
        server.open_sessions.add(session)
        return answer.with_header("Mcp-Session-Id", session)

    server.after = after
    return server


class _RefusesThenListsIt:
    """Says once that it does not speak the very revision that it lists."""

    def __init__(self) -> None:
        self.refused = False

    def __call__(self, _: Mcp, incoming: Incoming) -> Answer | None:
        if self.refused or incoming.rpc_method != "server/discover":
            return None
        self.refused = True
        return refusal(incoming.rpc, -32022, "unsupported", data={"supported": [MODERN], "requested": MODERN})


def _refuses_modern(data: Json) -> Callable[[], Mcp]:
    """Refuses 2026-07-28 whatever is asked, as a revision that it does not speak."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        modern = incoming.headers.get("mcp-protocol-version") == MODERN
        return refusal(incoming.rpc, -32022, "unsupported protocol version", data=data) if modern else None

    return lambda: Mcp(before=before)


class _WakesUp:
    """Knows server/discover only after initialize has been asked."""

    def __init__(self) -> None:
        self.awake = False

    def __call__(self, _: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method == "initialize":
            self.awake = True
            return refusal(incoming.rpc, -32022, "initialize is gone", data={"supported": [MODERN]})
        return None if self.awake else Answer(status=404)


PROTOCOL = (
    _legacy("revision-2025-06-18", "negotiates 2025-06-18, one revision down", _negotiates("2025-06-18")),
    _legacy("revision-2024-11-05", "negotiates 2024-11-05", _negotiates("2024-11-05"), expect=TOO_OLD),
    _legacy("revision-2024-10-07", "negotiates 2024-10-07", _negotiates("2024-10-07"), expect=TOO_OLD),
    _legacy(
        "revision-2099", "negotiates a revision of the future", _negotiates("2099-01-01"), expect=UNKNOWN
    ),
    _legacy(
        "revision-2026-07-28",
        "answers initialize with the revision that has none",
        _negotiates(MODERN),
        expect=MIXED_UP,
    ),
    Specimen(
        name="both-eras-revision-2026-07-28",
        deviation="speaks both eras and answers initialize with the newest revision",
        make=lambda: Mcp(revisions=(MODERN, "2025-11-25"), result=_settles_on_modern),
        expect=MIXED_UP,
    ),
    _legacy("revision-typo", "negotiates 2025-6-18", _negotiates("2025-6-18"), expect=UNKNOWN),
    _legacy(
        "revision-unsendable",
        "negotiates a revision that no header can carry",
        _negotiates("2025-06-18\r\nX-Evil: 1 é"),
        expect=UNKNOWN,
    ),
    _legacy(
        "refuses-newer-with-a-list",
        "refuses a newer revision, listing its own in the data",
        _refuses(
            "2025-03-26",
            lambda rpc: refusal(
                rpc, -32602, "Unsupported protocol version", data={"supported": ["2025-03-26"]}
            ),
        ),
        expect=REFUSES,
    ),
    _legacy(
        "refuses-newer-in-words",
        "refuses a newer revision in a text that is no JSON-RPC",
        _refuses(
            "2025-06-18",
            lambda _: as_json(
                '{"error": "Unsupported protocol version: 2025-11-25. Supported versions: 2025-06-18"}',
                status=400,
            ),
        ),
        expect=REFUSES,
    ),
    _legacy(
        "refuses-newer-without-a-word",
        "refuses every newer revision and does not say what it speaks",
        _refuses("2024-11-05", lambda rpc: refusal(rpc, -32602, "Invalid params")),
        expect={**TOO_OLD, **REFUSES},
    ),
    Specimen(
        name="revision-missing",
        deviation="the answer to initialize names no revision",
        make=lambda: Mcp(modern=False, result=_no_revision),
        eras=(),
        expect={
            "transport/endpoint": (FAILED, "not-mcp"),
            "transport/redirect": VERIFIED,
            "transport/content-type": VERIFIED,
            "transport/accept-sse": VERIFIED,
        },
        blocked="not-mcp",
    ),
    Specimen(
        name="modern-2099-only",
        deviation="speaks a revision of the future alone",
        make=lambda: Mcp(legacy=False, supported=("2099-01-01",)),
        eras=(),
        expect={"transport/endpoint": (FAILED, "no-handshake"), "transport/redirect": VERIFIED},
        blocked="no-handshake",
    ),
    Specimen(
        name="refuses-what-it-lists",
        deviation="-32022 once, listing the very revision it refused",
        make=lambda: Mcp(before=_RefusesThenListsIt()),
        expect=STATEFUL,
    ),
    _legacy(
        "refuses-what-it-lists-always",
        "-32022 to every modern request, listing the very revision",
        _refuses_modern({"supported": [MODERN], "requested": MODERN}),
        expect={"mcp/era-coverage": (RISK, "lists-the-refused")},
    ),
    _legacy(
        "refuses-modern-without-a-list",
        "-32022 to every modern request, and no list of revisions",
        _refuses_modern({"requested": MODERN}),
        expect={"mcp/era-coverage": (RISK, "no-versions")},
    ),
    _legacy(
        "refuses-modern-for-an-older-one",
        "none: -32022 to modern requests, listing the older revisions",
        _refuses_modern({"supported": ["2025-11-25"], "requested": MODERN}),
    ),
    Specimen(
        name="modern-only-refuses-what-it-lists",
        deviation="-32022 to everything, listing the very revision",
        make=lambda: replace(_refuses_modern({"supported": [MODERN], "requested": MODERN})(), legacy=False),
        eras=(),
        expect={"transport/endpoint": (FAILED, "no-handshake"), "transport/redirect": VERIFIED},
        blocked="no-handshake",
    ),
    Specimen(
        name="modern-after-all",
        deviation="404 to discover until initialize was refused with a list of 2026-07-28",
        make=lambda: Mcp(legacy=False, before=_WakesUp()),
        eras=(Era.MODERN,),
        expect={"mcp/era-coverage": (RISK, "modern-only"), **STATEFUL},
    ),
    Specimen(
        name="headers-stripped",
        deviation="something takes the Mcp- headers away; initialize works",
        make=lambda: Mcp(before=_strips_headers),
        eras=(Era.LEGACY,),
        expect={"mcp/era-coverage": (RISK, "headers-lost")},
    ),
    Specimen(
        name="headers-stripped-modern-only",
        deviation="something takes the Mcp- headers away from a modern server",
        make=lambda: Mcp(legacy=False, before=_strips_headers),
        eras=(),
        expect={"transport/endpoint": (FAILED, "no-handshake"), "transport/redirect": VERIFIED},
        blocked="no-handshake",
    ),
    Specimen(
        name="initialized-200-null",
        deviation="the notification is answered 200 null",
        make=_acknowledges(as_json("null")),
        expect={"mcp/initialized-ack": (RISK, "not-202")},
    ),
    Specimen(
        name="initialized-400",
        deviation="the notification is refused",
        make=_acknowledges(Answer(status=400)),
        expect={"mcp/initialized-ack": (FAILED, "refused")},
    ),
    Specimen(
        name="initialized-500",
        deviation="a server error to the notification, whenever it is sent",
        make=_acknowledges(Answer(status=500)),
        expect={"mcp/initialized-ack": (FAILED, "http-5xx")},
    ),
    Specimen(
        name="initialized-403",
        deviation="the notification alone is forbidden",
        make=_acknowledges(Answer(status=403)),
        expect={"mcp/initialized-ack": (FAILED, "refused")},
    ),
    Specimen(
        name="initialized-cut",
        deviation="the connection is closed without a word after the notification",
        make=_acknowledges(Answer(cut=True)),
        expect={"mcp/initialized-ack": (FAILED, "reset")},
    ),
    Specimen(
        name="initialized-error",
        deviation="the notification is answered 200 with a JSON-RPC error",
        make=_acknowledges(as_json('{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}')),
        expect={"mcp/initialized-ack": (RISK, "error")},
    ),
    Specimen(
        name="initialized-503-once",
        deviation="none: a server error to the first notification only",
        make=lambda: Mcp(before=_StumblesOnce()),
    ),
    Specimen(
        name="session-lost-once",
        deviation="the first session is gone when the list is asked for",
        make=lambda: Mcp(before=_LosesSession()),
    ),
    Specimen(
        name="session-lost-always",
        deviation="every session is gone when the list is asked for",
        make=lambda: Mcp(modern=False, before=_LosesSession(always=True)),
        eras=(Era.LEGACY,),
        expect={
            "tools/pagination": (FAILED, "page-error"),
            "session/ended": (NOT_CHECKED, "not-ended"),
            "errors/unknown-method": (NOT_CHECKED, "session-lost"),
        },
        blocked="incomplete-list",
    ),
    Specimen(
        name="session-header-lost",
        deviation="a proxy takes the session's header off, and refusals have an id of their own",
        make=lambda: Mcp(modern=False, after=_without_session_header),
        eras=(Era.LEGACY,),
        expect={
            "mcp/initialized-ack": (FAILED, "session-lost"),
            "tools/pagination": (NOT_CHECKED, "session-lost"),
            "transport/get": VERIFIED,
            "session/ended": VERIFIED,
            "errors/unknown-method": (NOT_CHECKED, "session-lost"),
        },
        blocked="incomplete-list",
        leaves_sessions=True,
    ),
    Specimen(
        name="session-with-every-reply",
        deviation="a new session id comes with every reply, whatever was asked",
        make=_ever_new_session,
        expect={
            "session/stateless": (RISK, "session-header"),
            "errors/header-mismatch": (NOT_CHECKED, "budget"),
            "errors/unsupported-version": (NOT_CHECKED, "budget"),
        },
    ),
    Specimen(
        name="no-tools-capability",
        deviation="the tools capability is not declared",
        make=lambda: Mcp(capabilities={"prompts": {}}),
        expect={
            "tools/pagination": (NOT_CHECKED, "no-tools-capability"),
            "tools/invalid-cursor": (NOT_CHECKED, "no-tools-capability"),
        },
        blocked="no-tools-capability",
    ),
    Specimen(
        name="eras-differ",
        deviation="a tool is missing in one era",
        make=lambda: Mcp(
            result=lambda method, params, result: (
                {**result, "tools": result["tools"][:-1]}
                if method == "tools/list" and "_meta" not in params
                else result
            )
        ),
        expect={"mcp/era-coverage": (RISK, "eras-differ")},
    ),
)
