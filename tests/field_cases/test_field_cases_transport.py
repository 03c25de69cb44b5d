"""Failures that people reported about content types, methods and sessions, replayed.

Each test is named by the case's id. docs/decisions/0003-field-cases.md says where an expectation was decided.
"""

from pathlib import Path

import pytest

from driftwatch.model import State
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, page_html, refusal
from tests.specimens.replay import VERIFIED, Watching, one_message, to
from tests.specimens.watching import watching

# content-type


async def test_ct_html_200(watch: Watching) -> None:
    async with watch(Mcp()) as watched:
        before = watched.pairs
        watched.server.before = lambda *_: page_html("Welcome", status=200)
        await watched.look(3)
        assert watched.state("transport/content-type") == (State.FAILED, "html")
        assert watched.last is not None
        finding = watched.last.result("transport/content-type").findings[0]
        assert "text/html" in finding.measured
        assert "probably not the MCP endpoint" in finding.message
        for check in ("release/fingerprint", "tools/pagination", "tool/steering-text"):
            result = watched.last.result(check)
            assert (result.state, result.cause) == (State.NOT_CHECKED, "transport/endpoint")
        await watched.look(3)
        (told,) = watched.alerts
        assert (told.subject, told.after) == ("check:transport/endpoint", "failed:not-mcp")
        blocked = str(told.details["blocked"])
        assert "release/fingerprint" in blocked
        assert "transport/content-type" not in blocked, "it was checked, and failed"
        watched.server.before = None
        await watched.look(3)
        assert watched.pairs == before
        assert watched.state("release/fingerprint") == VERIFIED


@pytest.mark.parametrize("kind", ["application/json, application/json", "Application/JSON; Charset=UTF-8"])
async def test_ct_odd_but_legal(watch: Watching, kind: str) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        return answer.with_header("Content-Type", kind) if answer.body else answer

    async with watch(Mcp(after=after)) as watched:
        assert watched.state("transport/content-type")[0] is State.VERIFIED
        assert None not in watched.pairs


async def test_ct_odd_but_legal_event_stream(watch: Watching) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        if not answer.body.startswith(b"event:"):
            return answer
        return answer.with_header("Content-Type", "text/event-stream;charset=utf-8")

    async with watch(Mcp(replies="sse", after=after)) as watched:
        assert watched.state("transport/content-type") == VERIFIED
        assert None not in watched.pairs


# accept-and-get


async def test_accept_matrix(watch: Watching) -> None:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        accept = incoming.headers.get("accept", "")
        if incoming.method != "POST" or ("application/json" in accept and "text/event-stream" in accept):
            return None
        what = "Not Acceptable: accept both application/json and text/event-stream"
        return refusal(incoming.rpc, -32000, what, status=406)

    async with watch(Mcp(before=before)) as watched:
        assert watched.state("transport/accept-sse") == VERIFIED
        assert watched.state("transport/accept-json-only")[0] is State.VERIFIED
        assert None not in watched.pairs


@pytest.mark.parametrize("status", [400, 401, 404, 405, 406])
async def test_get_is_no_health_check(watch: Watching, status: int) -> None:
    async with watch(Mcp(legacy=False, before=to("GET", lambda _: Answer(status=status)))) as watched:
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.state("transport/get")[0] is not State.FAILED
        assert None not in watched.pairs
        assert watched.last is not None
        assert watched.last.reachable


async def test_get_is_no_health_check_but_older_revisions_have_a_rule_for_it(tmp_path: Path) -> None:
    mcp = Mcp(modern=False, before=to("GET", lambda _: Answer(status=404)))
    async with watching(mcp, tmp_path) as watched:
        await watched.look()
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.state("transport/get")[0] is State.FAILED
        assert None not in watched.pairs


async def test_legacy_sse_only(watch: Watching) -> None:
    async with watch(Mcp(http_sse=True)) as watched:
        assert watched.state("transport/endpoint") == (State.OBSERVED_RISK, "deprecated-transport")
        assert watched.last is not None
        assert watched.last.reachable


# session


async def test_session_unknown_400(watch: Watching) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        gone = answer.status == 404 and "mcp-session-id" in incoming.headers
        return refusal(incoming.rpc, -32000, "Bad Request: no such session") if gone else answer

    async with watch(Mcp(modern=False)) as watched:
        before = watched.pairs
        watched.server.after = after
        await one_message(watched)
        assert watched.state("session/ended")[0] is State.FAILED
        assert watched.pairs == before


async def test_session_none_issued(watch: Watching) -> None:
    async with watch(Mcp(modern=False, sessions=False)) as watched:
        assert None not in watched.pairs
        assert watched.state("session/ended")[0] is not State.FAILED
        assert not any("mcp-session-id" in asked.headers for asked in watched.running.loopback.log)
