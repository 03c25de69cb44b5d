import asyncio
from dataclasses import replace

import pytest

from driftwatch.evidence import Exchange, Missing, Opening, to_json
from driftwatch.model import Era
from driftwatch.probe import Credential, Limits
from driftwatch.probe.conversation import http_sse
from tests.specimens.exchanges import error, exchange, result
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, as_json, page_html, refusal, tool
from tests.specimens.running import Running, running


def streamed(body: str, *, stays_open: bool = False) -> Answer:
    return Answer(headers=(("Content-Type", "text/event-stream"),), body=body.encode(), stays_open=stays_open)


def on_get(answer: Answer) -> Mcp:
    """Refuses every POST, and answers a GET."""
    return Mcp(before=lambda _, incoming: answer if incoming.method == "GET" else Answer(status=405))


def opening_of(openings: tuple[Opening, ...] | Missing) -> Opening:
    assert not isinstance(openings, Missing)
    (opening,) = [opening for opening in openings if opening.era is Era.HTTP_SSE]
    return opening


async def test_the_surface_is_read_over_the_stream_page_by_page() -> None:
    tools = (tool("a"), tool("b"), tool("c"))
    async with running(Mcp(http_sse=True, tools=tools, page_size=2, instructions="Be brief.")) as server:
        evidence = await server.probe(credential=Credential.bearer("token", "s3cret-token"))
    assert server.asked == [
        *("server/discover", "initialize", "GET"),
        *("initialize", "notifications/initialized", "tools/list", "tools/list"),
    ]
    (surface,) = evidence.surfaces
    assert (surface.era, surface.revision) == (Era.HTTP_SSE, "2025-11-25")
    assert (surface.instructions, surface.session) == ("Be brief.", False)
    assert not isinstance(surface.listing, Missing)
    assert (surface.listing.pages, surface.listing.complete, surface.tools) == (2, True, tools)
    assert surface.acknowledgement is not None
    assert surface.acknowledgement.status == 202
    opening = opening_of(evidence.openings)
    assert (opening.established, opening.exchange.http_method) == (True, "GET")
    assert opening.exchange.media_type == "text/event-stream"
    assert evidence.outcome.message == "answers only over the deprecated HTTP+SSE transport"
    assert all(asked.headers["authorization"] == "Bearer s3cret-token" for asked in server.loopback.log)


async def test_an_endpoint_that_leads_nowhere_is_told_and_not_the_refused_post() -> None:
    def lost(_: Mcp, incoming: Incoming) -> Answer | None:
        return Answer(status=404) if incoming.path.startswith("/messages") else None

    async with running(Mcp(http_sse=True, before=lost)) as server:
        evidence = await server.probe()
    opening = opening_of(evidence.openings)
    assert [attempt.http_method for attempt in opening.attempts] == ["GET", "POST"]
    assert evidence.outcome.code == "http-4xx"
    assert evidence.outcome.message == (
        "at /messages, which a stream of HTTP+SSE named: HTTP 404 to initialize"
    )


async def test_the_session_of_the_stream_is_not_recorded_wherever_the_endpoint_carries_it() -> None:
    secret = "9f86d081884c7d659a2feaa0c55ad015"

    class InPath(Mcp):
        async def respond(self, incoming: Incoming) -> Answer:
            answer = await super().respond(
                replace(incoming, path=incoming.path.replace(f"/messages/{secret}", "/messages?session=s1"))
            )
            return answer.but(
                body=answer.body.replace(b"/messages?session=s1", f"/messages/{secret}".encode())
            )

    async with running(InPath(http_sse=True)) as server:
        evidence = await server.probe()
    assert [surface.era for surface in evidence.surfaces] == [Era.HTTP_SSE]
    assert evidence.surfaces[0].opening.url == server.loopback.url("/messages/***")
    assert secret not in str(to_json(evidence))


async def test_older_revisions_are_offered_over_the_stream_too() -> None:
    class Old(Mcp):
        def _initialize_without_session(self, message: dict[str, object]) -> Answer:
            params = message["params"]
            assert isinstance(params, dict)
            if params["protocolVersion"] != "2024-11-05":
                return refusal(message, -32602, "Unsupported protocol version, supported: 2024-11-05")
            return super()._initialize_without_session(message)

    async with running(Old(http_sse=True, revisions=("2024-11-05",))) as server:
        evidence = await server.probe()
    (surface,) = evidence.surfaces
    assert (surface.revision, surface.opening.label) == ("2024-11-05", "initialize:2024-11-05")


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost:{port}/messages",
        "https://127.0.0.1:{port}/messages",
        "//evil.invalid/messages",
        "http://[::1",
    ],
)
async def test_an_endpoint_of_another_origin_is_not_posted_to(location: str) -> None:
    server: Running

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.method != "GET":
            return Answer(status=405)
        place = location.format(port=server.loopback.port)
        return streamed(f"event: endpoint\ndata: {place}\n\n", stays_open=True)

    async with running(Mcp(before=before)) as server:
        evidence = await server.probe(credential=Credential.bearer("token", "s3cret-token"))
    assert server.asked == ["server/discover", "initialize", "GET"]
    assert evidence.surfaces == ()
    assert evidence.outcome.code == "http-4xx"
    opening = opening_of(evidence.openings)
    assert not opening.established
    assert opening.exchange.fault is not None
    assert opening.exchange.fault.code == "address"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (streamed("event: message\ndata: {}\n\n"), "its first event is 'message'"),
        (streamed(""), "the stream ended"),
        (streamed(": only a comment\n\n"), "the stream ended"),
    ],
)
async def test_a_stream_that_does_not_begin_with_an_endpoint_is_another_kind_of_stream(
    answer: Answer, fault: str
) -> None:
    async with running(on_get(answer)) as server:
        evidence = await server.probe()
    opening = opening_of(evidence.openings)
    assert not opening.established
    assert opening.exchange.fault is not None
    assert opening.exchange.fault.message == f"{fault}, an endpoint event was expected"


@pytest.mark.parametrize(
    "answer", [Answer(status=404), page_html("Welcome", status=200), as_json("{}"), Answer(status=401)]
)
async def test_a_get_that_opens_no_stream_ends_the_search(answer: Answer) -> None:
    async with running(on_get(answer)) as server:
        evidence = await server.probe()
    assert server.asked == ["server/discover", "initialize", "GET"]
    assert not opening_of(evidence.openings).established
    assert evidence.outcome.code == "http-4xx"


async def test_a_silent_stream_is_left_after_the_time_of_one_request() -> None:
    async with running(on_get(streamed("", stays_open=True))) as server:
        evidence = await server.probe(limits=Limits(timeout_s=1, deadline_s=30))
    assert evidence.outcome.code == "http-4xx"
    opening = opening_of(evidence.openings)
    assert opening.exchange.fault is not None
    assert opening.exchange.fault.code == "timeout"


async def test_an_answer_that_never_comes_leaves_no_surface() -> None:
    class Mute(Mcp):
        async def _queued(self, name: str):  # type: ignore[no-untyped-def] # noqa: ANN202
            await asyncio.Event().wait()
            yield name.encode()

    async with running(Mute(http_sse=True)) as server:
        evidence = await server.probe(limits=Limits(timeout_s=1, deadline_s=30))
    assert evidence.surfaces == ()
    assert not opening_of(evidence.openings).established


async def test_a_post_may_bring_its_answer_itself() -> None:
    class Direct(Mcp):
        def _http_sse(self, incoming: Incoming) -> Answer:
            answer = super()._http_sse(incoming)
            queues = list(self.streams.values())
            if not queues or queues[0].empty():
                return answer
            event = queues[0].get_nowait().decode()
            return as_json(event.partition("data: ")[2].strip())

    async with running(Direct(http_sse=True)) as server:
        evidence = await server.probe()
    (surface,) = evidence.surfaces
    assert not isinstance(surface.tools, Missing)
    assert len(surface.tools) == 3


@pytest.mark.parametrize(
    ("answer", "worth_it"),
    [
        (exchange(400), True),
        (exchange(404), True),
        (exchange(405), True),
        (exchange(422), True),
        (error(-32601, status=404), True),
        (exchange(401), False),
        (exchange(403), False),
        (exchange(429), False),
        (exchange(500), False),
        (exchange(200), False),
        (exchange(None), False),
        (result({}), False),
    ],
)
def test_the_old_transport_is_looked_for_where_a_post_is_refused(answer: Exchange, *, worth_it: bool) -> None:
    assert http_sse.may_speak(answer) is worth_it


def test_a_word_in_the_path_is_no_session() -> None:
    for path in ("/v1/messages?<redacted>", "/", "", "/messages/"):
        url = f"http://127.0.0.1:8000{path}"
        assert http_sse._without_session(exchange(url=url)).url == url
