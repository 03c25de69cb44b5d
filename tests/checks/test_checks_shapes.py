"""The members of tools and results against the specification's schema, revision by revision."""

from typing import Any

import pytest

from driftwatch.evidence import Exchange, FurtherList, Missing
from driftwatch.model import Era, Json, Severity, State
from tests.checks.factories import answered, evidence, judged, listing, surface, tool

MODERN, LAST, MIDDLE, FIRST = "2026-07-28", "2025-11-25", "2025-03-26", "2024-11-05"


def of_tool(revision: str = LAST, **members: Json) -> list[tuple[str, str]]:
    """Code and measured value of what is wrong with a tool."""
    era = Era.MODERN if revision == MODERN else Era.LEGACY
    seen = evidence(surface(era, tool(**members), revision=revision))
    result = judged("tool/definition", seen)
    assert result.state is (State.FAILED if result.findings else State.VERIFIED)
    return [(finding.code, finding.measured) for finding in result.findings]


def state_of_tool(revision: str, **members: Json) -> State:
    era = Era.MODERN if revision == MODERN else Era.LEGACY
    return judged("tool/definition", evidence(surface(era, tool(**members), revision=revision))).state


@pytest.mark.parametrize("revision", [LAST, MODERN])
@pytest.mark.parametrize(
    ("members", "code", "measured"),
    [
        ({"description": 5}, "description", "description is 5"),
        ({"description": None}, "description", "description is null"),
        ({"title": 5}, "title", "title is 5"),
        ({"title": ["a"]}, "title", "title is a list"),
        ({"annotations": [1]}, "annotations", "annotations is a list"),
        ({"annotations": None}, "annotations", "annotations is null"),
        ({"annotations": {"title": 5}}, "annotations", "annotations/title is 5"),
        ({"annotations": {"readOnlyHint": "true"}}, "annotations", 'annotations/readOnlyHint is "true"'),
        ({"annotations": {"destructiveHint": 1}}, "annotations", "annotations/destructiveHint is 1"),
        ({"outputSchema": "x"}, "output-schema", 'outputSchema is "x"'),
        ({"outputSchema": None}, "output-schema", "outputSchema is null"),
        ({"outputSchema": []}, "output-schema", "outputSchema is a list"),
        ({"outputSchema": True}, "output-schema", "outputSchema is true"),
        ({"icons": "x.png"}, "icons", 'icons is "x.png"'),
        ({"icons": ["x.png"]}, "icons", 'icons/0 is "x.png"'),
        ({"icons": [{"mimeType": "image/png"}]}, "icons", "icons/0/src is absent"),
        ({"icons": [{"src": "x", "sizes": "any"}]}, "icons", 'icons/0/sizes is "any"'),
        ({"icons": [{"src": "x", "theme": "blue"}]}, "icons", 'icons/0/theme is "blue"'),
        ({"_meta": []}, "meta", "_meta is a list"),
    ],
)
def test_a_member_of_a_wrong_type_fails(
    revision: str, members: dict[str, Json], code: str, measured: str
) -> None:
    assert of_tool(revision, **members) == [(code, measured)]


@pytest.mark.parametrize("revision", [FIRST, MIDDLE, "2025-06-18", LAST, MODERN, "2099-01-01"])
@pytest.mark.parametrize(
    "members",
    [
        {},
        {"title": "Note", "annotations": {"title": "Note", "readOnlyHint": True, "x": 5}, "_meta": {"a": 1}},
        {"annotations": {}, "icons": [], "execution": {}},
        {"icons": [{"src": "x", "mimeType": "image/png", "sizes": ["any"], "theme": "dark", "x": 1}]},
        {"execution": {"taskSupport": "optional"}},
        {"outputSchema": {"type": "object"}},
        {"x-vendor": None, "tags": 5, "version": 1, "parameters": []},
    ],
)
def test_what_the_specification_has_and_what_it_does_not_know_is_fine(
    revision: str, members: dict[str, Json]
) -> None:
    assert of_tool(revision, **members) == []


@pytest.mark.parametrize(
    ("member", "value", "revisions"),
    [
        ("annotations", [1], (MIDDLE, "2025-06-18", LAST, MODERN)),
        ("title", 5, ("2025-06-18", LAST, MODERN)),
        ("_meta", 5, ("2025-06-18", LAST, MODERN)),
        ("outputSchema", "x", ("2025-06-18", LAST, MODERN)),
        ("outputSchema", {"type": "array"}, ("2025-06-18", LAST)),
        ("outputSchema", {"oneOf": [{"type": "object"}]}, ("2025-06-18", LAST)),
        ("icons", 5, (LAST, MODERN)),
        ("execution", {"taskSupport": "sometimes"}, (LAST,)),
        ("description", 5, (FIRST, MIDDLE, "2025-06-18", LAST, MODERN)),
    ],
)
def test_a_member_fails_where_the_revision_has_it_and_is_a_risk_before_and_after(
    member: str, value: Json, revisions: tuple[str, ...]
) -> None:
    for each in (FIRST, MIDDLE, "2025-06-18", LAST, MODERN):
        fine = each == MODERN and member == "outputSchema" and value != "x"  # any schema, since then
        expected = State.FAILED if each in revisions else State.VERIFIED if fine else State.OBSERVED_RISK
        assert state_of_tool(each, **{member: value}) is expected


def test_who_drops_the_list_over_a_member_that_the_revision_does_not_know() -> None:
    def said(**members: Json) -> str:
        seen = evidence(surface(Era.LEGACY, tool(**members), revision=MIDDLE))
        (finding,) = judged("tool/definition", seen).findings
        return finding.message

    assert said(title=5) == (
        "A member that 2025-03-26 does not know is of a type that no revision allows: "
        "clients on the official SDKs drop the whole list."
    )
    assert "on the TypeScript SDK drop" in said(title=None)
    # What the revision does know comes first.
    assert said(title=5, description=5).startswith("A member is of the wrong type")


def test_who_loses_the_list_depends_on_whether_null_is_all_there_is() -> None:
    def message(**members: Json) -> str:
        (finding,) = judged("tool/definition", evidence(surface(Era.LEGACY, tool(**members)))).findings
        return finding.message

    assert "on the TypeScript SDK drop the whole list" in message(title=None, annotations={"title": None})
    assert "on the official SDKs drop the whole list" in message(title=None, description=5)
    assert "on the TypeScript SDK drop" in message(annotations={"readOnlyHint": "true"})
    assert "on the TypeScript SDK drop" in message(annotations={"readOnlyHint": 0}, title=None)
    assert "on the official SDKs drop" in message(annotations={"readOnlyHint": "maybe"})
    assert "on the TypeScript SDK drop" in message(icons=[{"src": "x", "sizes": None}])
    assert "on the official SDKs drop" in message(icons=[{"src": None}])
    assert "on the official SDKs drop" in message(icons=[None])


def test_a_tool_with_several_faults_is_one_finding_that_names_some() -> None:
    found = of_tool(title=5, description=5, icons=5, _meta=5, annotations=5)
    assert found == [("description", "description is 5, title is 5 and 3 more")]


def test_of_endless_faults_a_bounded_number_is_looked_at() -> None:
    ((code, measured),) = of_tool(icons=["x.png"] * 100_000)
    assert (code, measured) == ("icons", 'icons/0 is "x.png", icons/1 is "x.png" and 98 more')


def of_result(method: str, result: Json, *, era: Era = Era.MODERN, revision: str = "") -> list[Any]:
    """Code, measured value and severity of what is wrong with one result."""
    asked: Exchange = answered(method, result)
    parts: dict[str, Any] = {"opening": asked}
    if method == "tools/list":
        parts = {"listing": listing(tool(), exchanges=(asked,))}
    if revision:
        parts["revision"] = revision
    found = judged("mcp/result", evidence(surface(era, **parts))).findings
    return [(one.code, one.measured, one.severity) for one in found]


PAGE = {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": [MODERN],
    "capabilities": {"tools": {"listChanged": True}},
    "ttlMs": 3_600_000.0,
    "cacheScope": "public",
    "_meta": {},
}
INITIALIZED: dict[str, Any] = {
    "protocolVersion": LAST,
    "capabilities": {"tools": {}, "logging": {}, "other": True, "experimental": {"a": {}}},
    "serverInfo": {"name": "notes", "version": ""},
}


@pytest.mark.parametrize(
    ("change", "code", "measured"),
    [
        ({"resultType": ...}, "result-type", "resultType is absent"),
        ({"ttlMs": ...}, "ttl-ms", "ttlMs is absent"),
        ({"ttlMs": None}, "ttl-ms", "ttlMs is null"),
        ({"ttlMs": -5}, "ttl-ms", "ttlMs is -5"),
        ({"ttlMs": 1.5}, "ttl-ms", "ttlMs is 1.5"),
        ({"ttlMs": "60000"}, "ttl-ms", 'ttlMs is "60000"'),
        ({"ttlMs": True}, "ttl-ms", "ttlMs is true"),
        ({"cacheScope": ...}, "cache-scope", "cacheScope is absent"),
        ({"cacheScope": "Public"}, "cache-scope", 'cacheScope is "Public"'),
        ({"_meta": None}, "meta", "_meta is null"),
    ],
)
@pytest.mark.parametrize(("method", "whole"), [("tools/list", PAGE), ("server/discover", DISCOVERED)])
def test_a_modern_result_without_what_its_revision_requires_fails(
    method: str, whole: dict[str, Json], change: dict[str, Json], code: str, measured: str
) -> None:
    result = {key: item for key, item in {**whole, **change}.items() if item is not ...}
    assert of_result(method, result) == [(code, measured, Severity.WILL_BREAK)]


@pytest.mark.parametrize(
    ("change", "code", "measured"),
    [
        ({"resultType": "partial"}, "result-type", 'resultType is "partial"'),
        ({"supportedVersions": [MODERN, 5]}, "supported-versions", "supportedVersions/1 is 5"),
        ({"capabilities": ...}, "capabilities", "capabilities is absent"),
        ({"capabilities": {"tools": True}}, "capabilities", "capabilities/tools is true"),
        ({"capabilities": {"extensions": []}}, "capabilities", "capabilities/extensions is a list"),
        ({"instructions": None}, "instructions", "instructions is null"),
    ],
)
def test_an_answer_to_discover_is_held_to_its_schema(
    change: dict[str, Json], code: str, measured: str
) -> None:
    result = {key: item for key, item in {**DISCOVERED, **change}.items() if item is not ...}
    assert of_result("server/discover", result) == [(code, measured, Severity.WILL_BREAK)]


@pytest.mark.parametrize(
    ("change", "code", "measured"),
    [
        ({"capabilities": ...}, "capabilities", "capabilities is absent"),
        ({"capabilities": []}, "capabilities", "capabilities is a list"),
        ({"capabilities": {"prompts": True}}, "capabilities", "capabilities/prompts is true"),
        (
            {"capabilities": {"tools": {"listChanged": 1}}},
            "capabilities",
            "capabilities/tools/listChanged is 1",
        ),
        (
            {"capabilities": {"experimental": {"a": True}}},
            "capabilities",
            "capabilities/experimental/a is true",
        ),
        ({"serverInfo": ...}, "server-info", "serverInfo is absent"),
        ({"serverInfo": None}, "server-info", "serverInfo is null"),
        ({"serverInfo": "notes 1"}, "server-info", 'serverInfo is "notes 1"'),
        ({"serverInfo": {"name": "notes"}}, "server-info", "serverInfo/version is absent"),
        ({"serverInfo": {"name": 5, "version": "1"}}, "server-info", "serverInfo/name is 5"),
        ({"serverInfo": {"name": "notes", "version": 1}}, "server-info", "serverInfo/version is 1"),
        ({"instructions": 5}, "instructions", "instructions is 5"),
        ({"_meta": []}, "meta", "_meta is a list"),
    ],
)
def test_an_answer_to_initialize_without_what_it_must_have_fails(
    change: dict[str, Json], code: str, measured: str
) -> None:
    result = {key: item for key, item in {**INITIALIZED, **change}.items() if item is not ...}
    assert of_result("initialize", result, era=Era.LEGACY) == [(code, measured, Severity.WILL_BREAK)]


def test_what_a_result_has_beside_what_is_required_is_its_own_affair() -> None:
    assert of_result("tools/list", {**PAGE, "x": None, "nextCursor": ""}) == []
    assert of_result("server/discover", {**DISCOVERED, "serverInfo": 5, "capabilities": {}}) == []
    assert of_result("initialize", {**INITIALIZED, "x": None}, era=Era.LEGACY) == []
    # An older revision does not know caching.
    assert of_result("tools/list", {"tools": [], "ttlMs": -5}, era=Era.LEGACY) == []


@pytest.mark.parametrize("member", ["title", "icons", "websiteUrl"])
def test_a_member_of_the_server_that_the_revision_does_not_know_is_a_risk(member: str) -> None:
    older = {**INITIALIZED, "serverInfo": {**INITIALIZED["serverInfo"], member: 5}}
    found = of_result("initialize", older, era=Era.LEGACY, revision=MIDDLE)
    assert found == [("server-info", f"serverInfo/{member} is 5", Severity.HEADS_UP)]


@pytest.mark.parametrize(
    ("change", "sdks"),
    [
        ({"capabilities": {"tools": {"listChanged": None}}}, "the TypeScript SDK"),
        ({"capabilities": {"tools": {"listChanged": "true"}}}, "the TypeScript SDK"),
        ({"capabilities": {"tools": {"listChanged": "perhaps"}}}, "the official SDKs"),
        ({"capabilities": {"prompts": None}}, "the TypeScript SDK"),
        ({"capabilities": None}, "the official SDKs"),
        ({"capabilities": {"experimental": {"a": None}}}, "the official SDKs"),
        ({"serverInfo": {"name": "notes", "version": "1", "title": None}}, "the TypeScript SDK"),
        ({"serverInfo": {"name": "notes", "version": None}}, "the official SDKs"),
        ({"instructions": None}, "the TypeScript SDK"),
    ],
)
def test_the_clients_that_do_not_connect_are_those_that_were_seen_not_to(
    change: dict[str, Json], sdks: str
) -> None:
    opening = answered("initialize", {**INITIALIZED, **change})
    (finding,) = judged("mcp/result", evidence(surface(Era.LEGACY, opening=opening))).findings
    assert finding.message.endswith(f": clients on {sdks} do not connect.")


@pytest.mark.parametrize(("era", "page"), [(Era.MODERN, PAGE), (Era.LEGACY, {"tools": []})])
def test_a_cursor_that_is_null_ends_the_list_and_is_a_risk(era: Era, page: dict[str, Json]) -> None:
    found = of_result("tools/list", {**page, "nextCursor": None}, era=era)
    assert found == [("next-cursor", "nextCursor is null", Severity.HEADS_UP)]


def test_what_ends_the_read_of_the_list_is_not_said_twice() -> None:
    assert of_result("tools/list", {**PAGE, "nextCursor": 5}) == []
    assert of_result("tools/list", {**PAGE, "resultType": "input_required"}) == []


def test_a_question_back_owes_no_member_of_the_answer() -> None:
    question: dict[str, Json] = {"resultType": "input_required", "inputRequests": {}}
    assert of_result("tools/list", question) == []
    found = of_result("server/discover", {**question, "supportedVersions": [MODERN]})
    assert [code for code, *_ in found] == ["result-type"]


def test_a_fault_of_every_page_is_told_once() -> None:
    pages = tuple(answered("tools/list", {"tools": [], "nextCursor": None}) for _ in range(3))
    seen = evidence(surface(Era.LEGACY, listing=listing(tool(), exchanges=pages)))
    assert len(judged("mcp/result", seen).findings) == 1


def test_lists_that_are_watched_beside_the_tools_count_too() -> None:
    page = answered("prompts/list", {**PAGE, "ttlMs": None})
    prompts = FurtherList(kind="prompts", listing=listing(exchanges=(page,)))
    offered = FurtherList(kind="resources", listing=Missing("there are none", "no-resources"))
    seen = evidence(surface(Era.MODERN, further=(prompts, offered)))
    (finding,) = judged("mcp/result", seen).findings
    assert (finding.subject, finding.code) == ("prompts/list", "ttl-ms")


def test_a_refusal_is_no_result() -> None:
    page = answered("tools/list", {"tools": []}, status=500)
    seen = evidence(surface(Era.MODERN, listing=listing(tool(), exchanges=(page,))))
    assert judged("mcp/result", seen).state is State.VERIFIED
