from dataclasses import replace

import pytest

from driftwatch.evidence import Evidence, Missing, from_json, to_json
from driftwatch.probe import Credential, Limits
from tests.specimens import SPECIMENS, Specimen
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import LEGACY, Mcp, as_json, refusal, tool
from tests.specimens.running import at_home, running

BY_NAME = {specimen.name: specimen for specimen in SPECIMENS}


async def evidence_of(name: str) -> Evidence:
    async with running(BY_NAME[name].make()) as server:
        return await server.probe()


@pytest.mark.parametrize("specimen", SPECIMENS, ids=str)
async def test_every_specimen_is_seen_in_its_eras_and_leaves_no_session(specimen: Specimen) -> None:
    async with at_home(specimen) as server:
        evidence = await server.probe(path=specimen.path, **specimen.target)
        assert tuple(surface.era for surface in evidence.surfaces) == specimen.eras
        assert evidence.requests == len(server.loopback.log) or server.loopback.turned_away
        assert specimen.leaves_sessions or not server.mcp.open_sessions
        text = str(to_json(evidence))
        assert "s3cret" not in text
        assert from_json(to_json(evidence)) == evidence


async def test_a_dual_era_server_is_read_in_both_eras_within_eight_requests() -> None:
    async with running() as server:
        evidence = await server.probe()
    assert server.asked == [
        *("server/discover", "tools/list"),
        *("initialize", "notifications/initialized", "tools/list", "DELETE"),
    ]
    modern, legacy = evidence.surfaces
    assert (modern.revision, legacy.revision) == ("2026-07-28", "2025-11-25")
    assert modern.server_info == legacy.server_info == {"name": "specimen", "version": "1.0.0"}
    assert modern.supported_versions == ("2026-07-28",)
    assert (modern.session, legacy.session) == (False, True)
    assert legacy.session_ended is not None
    assert legacy.session_ended.status == 200
    assert legacy.acknowledgement is not None
    assert legacy.acknowledgement.status == 202
    assert evidence.outcome.code == "ok"


async def test_a_legacy_server_takes_five_requests() -> None:
    async with running(Mcp(modern=False)) as server:
        await server.probe()
    assert server.asked == [
        *("server/discover", "initialize", "notifications/initialized", "tools/list", "DELETE")
    ]


async def test_a_modern_only_server_takes_three_requests() -> None:
    async with running(Mcp(legacy=False)) as server:
        await server.probe()
    assert server.asked == ["server/discover", "tools/list", "initialize"]


async def test_modern_requests_carry_revision_method_and_meta_and_initialize_carries_none() -> None:
    async with running() as server:
        await server.probe()
    discover, modern_list, initialize, initialized, legacy_list, delete = server.loopback.log
    for request in (discover, modern_list):
        assert request.headers["mcp-protocol-version"] == "2026-07-28"
        assert request.headers["mcp-method"] == request.rpc_method
        meta = request.rpc["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
        assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "driftwatch"
        assert "mcp-session-id" not in request.headers
    assert "mcp-protocol-version" not in initialize.headers
    assert initialize.rpc["params"]["protocolVersion"] == "2025-11-25"
    assert initialize.rpc["params"]["capabilities"] == {}
    for request in (initialized, legacy_list, delete):
        assert request.headers["mcp-protocol-version"] == "2025-11-25"
        assert request.headers["mcp-session-id"] == "s3cret-session-1"
    for request in server.loopback.log[:5]:
        assert request.headers["accept"] == "application/json, text/event-stream"
        assert request.headers["content-type"] == "application/json"


async def test_after_initialize_the_negotiated_revision_is_sent_and_no_session_that_was_not_issued() -> None:
    async with running(Mcp(modern=False, sessions=False, revisions=LEGACY[1:])) as server:
        evidence = await server.probe()
    assert server.asked[-1] == "tools/list"
    for request in server.loopback.log[2:]:
        assert request.headers["mcp-protocol-version"] == "2025-06-18"
        assert "mcp-session-id" not in request.headers
    (surface,) = evidence.surfaces
    assert (surface.session, surface.session_ended) == (False, None)


async def test_a_session_that_was_issued_to_a_refused_discover_is_ended_too() -> None:
    async with running(BY_NAME["legacy-of-the-1.x-age"].make()) as server:
        evidence = await server.probe()
    assert server.asked[-2:] == ["DELETE", "DELETE"]
    assert not server.mcp.open_sessions
    assert server.mcp.ended == 2
    assert evidence.requests == 6


async def test_a_server_that_issues_a_session_with_every_reply_leaves_none() -> None:
    mcp = BY_NAME["session-with-every-reply"].make()
    mcp.tools, mcp.page_size = tuple(tool(f"tool-{number}") for number in range(50)), 1
    async with running(mcp) as server:
        await server.probe()
    assert server.asked.count("tools/list") == 100
    assert mcp.open_sessions == set()


async def test_a_revision_that_no_header_can_carry_is_kept_as_evidence_and_not_sent() -> None:
    async with running(BY_NAME["revision-unsendable"].make()) as server:
        evidence = await server.probe()
    assert evidence.surfaces[0].revision == "2025-06-18\r\nX-Evil: 1 é"
    assert all("x-evil" not in request.headers for request in server.loopback.log)
    assert all("mcp-protocol-version" not in request.headers for request in server.loopback.log[1:])


@pytest.mark.parametrize(
    ("name", "offers", "revision"),
    [
        ("refuses-newer-with-a-list", ["2025-11-25", "2025-03-26"], "2025-03-26"),
        ("refuses-newer-in-words", ["2025-11-25", "2025-06-18"], "2025-06-18"),
        (
            "refuses-newer-without-a-word",
            ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
            "2024-11-05",
        ),
    ],
)
async def test_a_refused_revision_is_followed_by_others(name: str, offers: list[str], revision: str) -> None:
    async with running(BY_NAME[name].make()) as server:
        evidence = await server.probe()
    initialized = [asked for asked in server.loopback.log if asked.rpc_method == "initialize"]
    assert [asked.rpc["params"]["protocolVersion"] for asked in initialized] == offers
    assert evidence.surfaces[0].revision == revision
    labels = [attempt.label for attempt in evidence.openings[1].attempts]  # type: ignore[index]
    assert labels == ["initialize", *(f"initialize:{offer}" for offer in offers[1:])]


async def test_a_server_that_knows_discover_only_after_initialize_is_modern_after_all() -> None:
    async with running(BY_NAME["modern-after-all"].make()) as server:
        evidence = await server.probe()
    assert server.asked == ["server/discover", "initialize", "server/discover", "tools/list"]
    assert not isinstance(evidence.openings, Missing)
    modern, legacy = evidence.openings
    assert [attempt.label for attempt in modern.attempts] == ["discover", "discover:again"]
    assert (modern.established, legacy.established) == (True, False)


@pytest.mark.parametrize("name", ["401", "429", "bot-page", "gate-vercel", "redirect-301", "redirect-host"])
async def test_a_shut_door_is_knocked_at_once(name: str) -> None:
    async with running(BY_NAME[name].make()) as server:
        evidence = await server.probe()
    assert len(server.loopback.log) == 1
    assert server.pauses == []
    assert evidence.outcome.reachable


async def test_a_bare_403_is_followed_by_one_initialize() -> None:
    async with running(BY_NAME["403"].make()) as server:
        evidence = await server.probe()
    assert server.asked == ["server/discover", "initialize"]
    assert server.pauses == []
    assert (evidence.outcome.code, evidence.outcome.status) == ("forbidden", 403)


async def test_a_server_error_is_looked_at_once_more_and_followed_by_one_initialize() -> None:
    async with running(BY_NAME["500"].make()) as server:
        evidence = await server.probe()
        connections = server.loopback.connections
    assert server.asked == ["server/discover", "server/discover", "initialize"]
    assert server.pauses == [1.0]
    assert connections == 2
    assert (evidence.outcome.code, evidence.outcome.status) == ("http-5xx", 500)


@pytest.mark.parametrize("name", ["503-once", "cut-once"])
async def test_a_blip_is_recorded_and_nothing_else(name: str) -> None:
    evidence = await evidence_of(name)
    assert not isinstance(evidence.openings, Missing)
    assert [attempt.label for attempt in evidence.openings[0].attempts] == ["discover", "discover:again"]
    assert evidence.outcome.code == "ok"
    assert evidence.retry_after_s is None


async def test_a_pause_that_the_server_asks_for_is_kept_for_the_caller() -> None:
    assert (await evidence_of("429-retry-after")).retry_after_s == 120.0
    assert (await evidence_of("429")).retry_after_s is None


async def test_a_retry_that_the_deadline_has_no_room_for_is_not_made() -> None:
    async with running(BY_NAME["500"].make()) as server:
        await server.probe(limits=Limits(timeout_s=0.5, deadline_s=0.9))
    assert server.pauses == []
    assert server.asked == ["server/discover", "initialize"]


async def test_a_redirect_within_the_origin_is_followed_once_and_the_rest_goes_to_the_new_address() -> None:
    async with running(BY_NAME["redirect-307-slash"].make()) as server:
        evidence = await server.probe()
    assert [asked.path for asked in server.loopback.log] == ["/mcp", *["/mcp/"] * 6]
    assert not isinstance(evidence.openings, Missing)
    first, second = evidence.openings[0].attempts
    assert (first.label, first.status) == ("discover", 307)
    assert (second.label, second.url) == ("discover:redirected", server.loopback.url("/mcp/"))


async def test_a_redirect_of_a_later_request_is_followed_once_by_that_request_alone() -> None:
    async with running(BY_NAME["redirect-307-list"].make()) as server:
        evidence = await server.probe()
    paths = {asked.path for asked in server.loopback.log if asked.rpc_method == "tools/list"}
    assert paths == {"/mcp", "/v2/mcp"}
    assert all(asked.path == "/mcp" for asked in server.loopback.log if asked.rpc_method != "tools/list")
    assert all(surface.listing.complete for surface in evidence.surfaces)  # type: ignore[union-attr]


async def test_a_list_that_is_redirected_for_ever_is_left_after_one_step() -> None:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        again = Answer(status=307, headers=(("Location", "/mcp"),))
        return again if incoming.rpc_method == "tools/list" else None

    async with running(Mcp(modern=False, before=before)) as server:
        evidence = await server.probe()
    assert server.asked.count("tools/list") == 4  # the list is asked for twice
    (surface,) = evidence.surfaces
    assert not isinstance(surface.listing, Missing)
    assert surface.listing.fault is not None
    assert surface.listing.fault.message.endswith("one redirect is followed, not two")


async def test_a_redirect_loop_is_left_after_one_step() -> None:
    async with running(BY_NAME["redirect-loop"].make()) as server:
        evidence = await server.probe()
    assert len(server.loopback.log) == 2
    assert evidence.outcome.code == "redirect"
    assert evidence.outcome.message.endswith("one redirect is followed, not two")


async def test_a_credential_never_leaves_the_origin() -> None:
    async with running() as other:
        target = other.loopback.url("/mcp").replace("127.0.0.1", "localhost")
        redirect = Answer(status=307, headers=(("Location", target),))
        async with running(Mcp(before=lambda _, __: redirect)) as server:
            evidence = await server.probe(credential=Credential.bearer("token", "s3cret-token"))
        assert server.loopback.log[0].headers["authorization"] == "Bearer s3cret-token"
        assert other.loopback.log == []
    assert evidence.outcome.code == "redirect"
    assert evidence.credential == "token"
    assert "s3cret" not in str(to_json(evidence))


@pytest.mark.parametrize("status", [406, 415])
async def test_a_refused_accept_is_asked_again_with_json_alone_and_the_dialogue_goes_on_with_it(
    status: int,
) -> None:
    async with running(BY_NAME[f"accept-{status}"].make()) as server:
        evidence = await server.probe()
    assert not isinstance(evidence.openings, Missing)
    for opening in evidence.openings:
        base = opening.attempts[0].label
        assert [attempt.label for attempt in opening.attempts] == [base, f"{base}:json-only"]
        assert opening.established
    both = "application/json, text/event-stream"
    posts = [asked for asked in server.loopback.log if asked.method == "POST"]
    accepts = [asked.headers["accept"] for asked in posts]
    assert accepts == [both, *["application/json"] * 2, both, *["application/json"] * 3]


HANDSHAKE = ["initialize", "notifications/initialized", "tools/list"]


async def test_a_session_that_is_lost_half_way_is_started_over_once() -> None:
    async with running(BY_NAME["session-lost-once"].make()) as server:
        evidence = await server.probe()
    # The list's 404 may have meant something else than the session: that one is ended too.
    assert server.asked[2:] == [*HANDSHAKE, *HANDSHAKE, "DELETE", "DELETE"]
    legacy = evidence.surfaces[1]
    assert not isinstance(legacy.listing, Missing)
    assert legacy.listing.complete
    assert legacy.opening.label == "initialize:again"
    assert not isinstance(evidence.openings, Missing)
    assert [attempt.label for attempt in evidence.openings[1].attempts] == ["initialize", "initialize:again"]


async def test_a_session_that_is_always_lost_is_started_over_no_more_than_once() -> None:
    async with running(BY_NAME["session-lost-always"].make()) as server:
        evidence = await server.probe()
    assert server.asked[1:] == [*HANDSHAKE, *HANDSHAKE, "DELETE", "DELETE"]
    (surface,) = evidence.surfaces
    assert not isinstance(surface.listing, Missing)
    assert not surface.listing.complete


async def test_a_lost_session_that_cannot_be_started_over_leaves_the_first_handshake() -> None:
    def before(server: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method == "tools/list":
            server.open_sessions.clear()
        refused = incoming.rpc_method == "initialize" and server.issued == 1
        return refusal(incoming.rpc, -32000, "full") if refused else None

    async with running(Mcp(modern=False, before=before)) as server:
        evidence = await server.probe()
    assert server.asked[1:] == [*HANDSHAKE, "initialize", "DELETE"]
    assert evidence.surfaces[0].opening.label == "initialize"
    assert not isinstance(evidence.openings, Missing)
    assert evidence.openings[1].established


async def test_tools_are_not_asked_for_where_no_such_capability_is_declared() -> None:
    async with running(BY_NAME["no-tools-capability"].make()) as server:
        evidence = await server.probe()
    assert "tools/list" not in server.asked
    for surface in evidence.surfaces:
        assert isinstance(surface.listing, Missing)
        assert surface.listing.code == "no-tools-capability"


async def test_instructions_are_kept_up_to_a_limit() -> None:
    async with running(Mcp(instructions="x" * 100_000)) as server:
        evidence = await server.probe()
    assert [len(surface.instructions or "") for surface in evidence.surfaces] == [65536, 65536]


def test_specimens_are_told_apart_by_name() -> None:
    assert len(BY_NAME) == len(SPECIMENS)
    assert all(replace(specimen) == specimen for specimen in SPECIMENS)


async def test_a_json_answer_of_any_shape_to_initialize_ends_in_evidence() -> None:
    for body in ("null", "[]", "{}", '"x"', "1", '{"jsonrpc":"2.0","id":1,"result":null}', ""):
        async with running(Mcp(before=lambda _, __, body=body: as_json(body))) as server:  # type: ignore[misc]
            evidence = await server.probe()
        assert evidence.outcome.code in {"not-mcp", "no-handshake"}, body
