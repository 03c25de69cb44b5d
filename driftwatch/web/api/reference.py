"""docs/api.md, written from the OpenAPI document."""

import re
from collections.abc import Iterator, Sequence

from driftwatch.model import Json
from driftwatch.web.api.door import PREFIX
from driftwatch.web.api.endpoint import Endpoint
from driftwatch.web.api.openapi import describe

INTRODUCTION = """\
<!-- written by python -m driftwatch.docs from the endpoints' own declarations: edit those -->

# The API

{description}

    curl -s -H "Authorization: Bearer $READ_TOKEN" https://driftwatch.example{prefix}/servers

    curl -s -H "Authorization: Bearer $ADMIN_TOKEN" -H "Content-Type: application/json" \\
      -d '{{"fingerprint": "dw1:9a2453a2.de3d2642", "reason": "v2"}}' \\
      https://driftwatch.example{prefix}/servers/api-prod/accept

The same as OpenAPI 3.1: `{prefix}/openapi.json`. `etag` and `If-None-Match` spare a poller what it has.
Accepting, acknowledging and asking for a probe may be repeated: what is so already is not done again."""


def render(endpoints: Sequence[Endpoint]) -> str:
    """The page."""
    document = describe(endpoints)
    parts = [INTRODUCTION.format(description=document["info"]["description"], prefix=PREFIX)]
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    parts.append(_overview(operations))
    parts += [section for each in operations for section in _operation(*each)]
    parts.append("## Shapes")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += [f"### {name}", schema.get("description", ""), _table(schema)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _overview(operations: Sequence[tuple[str, str, Json]]) -> str:
    rows = [
        f"| {method.upper()} | [`{path}`](#{_anchor(method, path)}) "
        f"| {_rights(operation)} | {operation['summary']} |"
        for method, path, operation in operations
    ]
    return "\n".join(["| method | path | token | |", "| --- | --- | --- | --- |", *rows])


def _operation(method: str, path: str, operation: Json) -> Iterator[str]:
    yield f"## {method.upper()} {path}"
    yield f"{operation['summary']}."
    yield operation["description"]
    if operation["parameters"]:
        rows = [
            f"| `{each['name']}` | {each['in']} | {_given(each['schema'])} | {_described(each)} |"
            for each in operation["parameters"]
        ]
        yield "\n".join(["| parameter | in | | |", "| --- | --- | --- | --- |", *rows])
    if "requestBody" in operation:
        yield "Body:"
        yield _table(operation["requestBody"]["content"]["application/json"]["schema"])
    answers = [status for status, each in operation["responses"].items() if int(status) < 400]  # noqa: PLR2004
    schema = operation["responses"][answers[0]]["content"]["application/json"]["schema"]
    errors = ", ".join(status for status in operation["responses"] if status not in answers)
    yield f"Answers {', '.join(answers)} with {_kind(schema)}; errors: {errors}."


def _table(schema: Json) -> str:
    members = schema.get("properties", {})
    if not members:
        return "An empty object, or nothing."
    required = schema.get("required", ())
    rows = [
        f"| `{name}`{'' if name in required else ' (optional)'} | {_kind(member)} | {_described(member)} |"
        for name, member in members.items()
    ]
    return "\n".join(["| member | | |", "| --- | --- | --- |", *rows])


def _anchor(method: str, path: str) -> str:
    """What GitHub makes of the heading: letters and digits, and a hyphen for the blank."""
    return f"{method}-{re.sub(r'[^a-z]', '', path)}"


def _rights(operation: Json) -> str:
    return " or ".join(name for each in operation["security"] for name in each)


def _described(member: Json) -> str:
    text = str(member.get("description", "")).replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")
    default = member.get("schema", member).get("default")
    return text if default in (None, "", [], ()) else f"{text} Default: `{default}`.".strip()


def _given(schema: Json) -> str:
    """The kind of a parameter: that it may be left out says its place already."""
    return _kind(schema).removesuffix(" or null")


def _kind(schema: Json) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("format") == "date-time":
        return "time"
    kind = str(schema.get("type", "any JSON"))
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])}"
    limits = [f"{schema[each]}" for each in ("minimum", "maximum") if each in schema]
    return f"{kind}, {' to '.join(limits)}" if limits else kind
