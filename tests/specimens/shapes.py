"""Definitions and results of another shape than the specification's."""

from collections.abc import Callable

from driftwatch.model import Era
from tests.specimens.mcp import MODERN, TOOLS, Json, Mcp, tool
from tests.specimens.specimen import FAILED, RISK, Specimen


def _tool(name: str, deviation: str, code: str, **members: Json) -> Specimen:
    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(tools=(*TOOLS, tool("odd", **members))),
        expect={"tool/definition": (FAILED, code)},
    )


def _schema(name: str, deviation: str, code: str, schema: Json) -> Specimen:
    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(tools=(*TOOLS, tool("odd", inputSchema=schema))),
        expect={"schema/invalid": (FAILED, code)},
    )


def _changing(of: str, **members: Json) -> Callable[[str, Json, Json], Json]:
    """Changes members of one method's results in every era; ``...`` leaves one out."""

    def result(method: str, _: Json, whole: Json) -> Json:
        changed = {**whole, **members} if method == of else whole
        return {name: item for name, item in changed.items() if item is not ...}

    return result


def _modern(name: str, deviation: str, code: str, method: str = "tools/list", **members: Json) -> Specimen:
    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(legacy=False, result=_changing(method, **members)),
        eras=(Era.MODERN,),
        expect={"mcp/result": (FAILED, code), "mcp/era-coverage": (RISK, "modern-only")},
    )


def _legacy(name: str, deviation: str, code: str, **members: Json) -> Specimen:
    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(modern=False, result=_changing("initialize", **members)),
        eras=(Era.LEGACY,),
        expect={"mcp/result": (FAILED, code)},
    )


TEXT = {"type": "string"}

SHAPES = (
    Specimen(
        name="description-number",
        deviation="a description that is a number",
        make=lambda: Mcp(tools=(tool(description=5),)),
        expect={
            "tool/definition": (FAILED, "description"),
            "tool/missing-description": (RISK, "missing"),
        },
    ),
    _tool("title-number", "a title that is a number", "title", title=5),
    _tool("title-null", "null in the place of no title", "title", title=None),
    _tool("annotations-list", "annotations that are a list", "annotations", annotations=[1]),
    _tool("hint-text", "a hint that is a text", "annotations", annotations={"readOnlyHint": "true"}),
    _tool("output-schema-null", "null in the place of an output schema", "output-schema", outputSchema=None),
    _tool("icons-text", "icons that are a text", "icons", icons="https://icons.invalid/a.png"),
    _tool(
        "execution-word", "a taskSupport that does not exist", "execution", execution={"taskSupport": "yes"}
    ),
    _tool("meta-list", "_meta that is a list", "meta", _meta=[]),
    _schema("properties-null", "properties that are null", "keyword", {"type": "object", "properties": None}),
    _schema(
        "required-text",
        "one required name instead of a list",
        "keyword",
        {"type": "object", "properties": {"a": TEXT}, "required": "a"},
    ),
    _schema(
        "type-unknown",
        "a type of another language",
        "type",
        {"type": "object", "properties": {"a": {"type": "str"}}, "required": ["a"]},
    ),
    _schema(
        "ref-to-nothing",
        "a reference whose definition was left behind",
        "reference",
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"]},
    ),
    _schema(
        "pattern-broken",
        "a pattern that is no regular expression",
        "pattern",
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "["}}, "required": ["a"]},
    ),
    Specimen(
        name="output-schema-invalid",
        deviation="an output schema that is no valid JSON Schema",
        make=lambda: Mcp(tools=(tool(outputSchema={"type": "object", "properties": {"a": {"enum": "b"}}}),)),
        expect={"schema/invalid": (FAILED, "keyword")},
    ),
    _modern("list-untyped", "a list without resultType", "result-type", resultType=...),
    _modern("list-ttl-negative", "a negative ttlMs", "ttl-ms", ttlMs=-5),
    _modern("list-scope-unknown", "a cacheScope that does not exist", "cache-scope", cacheScope="shared"),
    _modern("list-meta-null", "a result whose _meta is null", "meta", _meta=None),
    _modern("discover-no-ttl", "discover without ttlMs", "ttl-ms", "server/discover", ttlMs=...),
    _modern(
        "discover-versions-mixed",
        "a revision that is a number",
        "supported-versions",
        "server/discover",
        supportedVersions=[MODERN, 5],
    ),
    Specimen(
        name="cursor-null",
        deviation="nextCursor is null on the last page",
        make=lambda: Mcp(result=_changing("tools/list", nextCursor=None)),
        expect={"mcp/result": (RISK, "next-cursor")},
    ),
    _legacy("initialize-no-capabilities", "no capabilities", "capabilities", capabilities=...),
    _legacy("initialize-no-info", "no serverInfo", "server-info", serverInfo=...),
    _legacy(
        "initialize-version-number",
        "a version that is a number",
        "server-info",
        serverInfo={"name": "specimen", "version": 1},
    ),
    _legacy("instructions-list", "instructions that are a list", "instructions", instructions=["Be kind."]),
    Specimen(
        name="discover-versions-text",
        deviation="supportedVersions is a text: clients of 2026-07-28 fall back to initialize",
        make=lambda: Mcp(result=_changing("server/discover", supportedVersions=MODERN)),
        eras=(Era.LEGACY,),
        expect={"mcp/era-coverage": (RISK, "supported-versions")},
    ),
)
