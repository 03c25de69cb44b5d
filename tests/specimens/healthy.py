"""Servers without a fault, one for each way in which healthy servers differ."""

from driftwatch.model import Era
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import LEGACY, Mcp, as_json, as_sse, tool
from tests.specimens.specimen import RISK, VERIFIED, Specimen

MODERN_ONLY = {"mcp/era-coverage": (RISK, "modern-only")}


def _py1(server: Mcp, incoming: Incoming) -> Answer | None:
    """A Python server of the 1.x age: a session for any first request, refused with -32600."""
    if incoming.rpc_method != "server/discover":
        return None
    server.issued += 1
    session = f"s3cret-minted-{server.issued}"
    server.open_sessions.add(session)
    body = '{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Missing session ID"}}'
    return as_json(body, status=400).with_header("Mcp-Session-Id", session)


def as_server_error(incoming: Incoming, answer: Answer) -> Answer:
    """The reply with the id "server-error" where it refuses, as of the Python SDK before 2."""
    wanted = incoming.rpc.get("id") if incoming.body else None
    if answer.status < 400 or wanted is None:
        return answer
    return answer.but(body=answer.body.replace(f'"id": {wanted}'.encode(), b'"id": "server-error"'))


def _discover_is_500(_: Mcp, incoming: Incoming) -> Answer | None:
    return Answer(status=500) if incoming.rpc_method == "server/discover" else None


def _tolerant_discover(server: Mcp, incoming: Incoming) -> Answer | None:
    """Any method gets a result, as one kind of gateway does."""
    if incoming.rpc_method != "server/discover":
        return None
    return server.reply(incoming.rpc, {"tools": []})


def _nothing_with_discover_in_it(server: Mcp, incoming: Incoming) -> Answer | None:
    if incoming.rpc_method != "server/discover":
        return None
    return as_sse('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid request parameters"}}')


HEALTHY = (
    Specimen(name="dual", deviation="none: both eras, JSON replies, sessions"),
    Specimen(
        name="modern-only",
        deviation="2026-07-28 alone",
        make=lambda: Mcp(legacy=False),
        eras=(Era.MODERN,),
        expect=MODERN_ONLY,
    ),
    Specimen(
        name="legacy-stateful",
        deviation="initialize alone, sessions",
        make=lambda: Mcp(modern=False),
        eras=(Era.LEGACY,),
    ),
    Specimen(
        name="legacy-stateless",
        deviation="initialize alone, no sessions",
        make=lambda: Mcp(modern=False, sessions=False),
        eras=(Era.LEGACY,),
    ),
    Specimen(
        name="legacy-of-the-1.x-age",
        deviation="a session is issued to the refused server/discover",
        make=lambda: Mcp(modern=False, revisions=LEGACY[1:], replies="sse", before=_py1),
        eras=(Era.LEGACY,),
    ),
    Specimen(
        name="legacy-refusals-of-server-error",
        deviation="every refusal carries the id server-error",
        make=lambda: Mcp(modern=False, after=as_server_error),
        eras=(Era.LEGACY,),
    ),
    Specimen(
        name="discover-500",
        deviation="HTTP 500 to the method it does not know",
        make=lambda: Mcp(modern=False, before=_discover_is_500),
        eras=(Era.LEGACY,),
    ),
    Specimen(
        name="discover-32602-on-200",
        deviation="-32602 on HTTP 200 to server/discover",
        make=lambda: Mcp(modern=False, before=_nothing_with_discover_in_it),
        eras=(Era.LEGACY,),
    ),
    Specimen(
        name="discover-answers-something-else",
        deviation="a result that is no DiscoverResult",
        make=lambda: Mcp(modern=False, before=_tolerant_discover),
        eras=(Era.LEGACY,),
    ),
    Specimen(
        name="every-version-listed",
        deviation="supportedVersions lists the revisions of initialize too",
        make=lambda: Mcp(supported=("2026-07-28", *LEGACY)),
    ),
    Specimen(name="sse-replies", deviation="replies come as event streams", make=lambda: Mcp(replies="sse")),
    Specimen(
        name="paged",
        deviation="one tool a page",
        make=lambda: Mcp(page_size=1, tools=(tool("a"), tool("b"))),
        expect={"tools/invalid-cursor": VERIFIED},
    ),
    Specimen(name="no-tools", deviation="an empty list", make=lambda: Mcp(tools=())),
    Specimen(
        name="http-sse",
        deviation="the HTTP+SSE transport of 2024-11-05 alone",
        make=lambda: Mcp(http_sse=True),
        eras=(Era.HTTP_SSE,),
        expect={"transport/endpoint": (RISK, "deprecated-transport")},
    ),
)
