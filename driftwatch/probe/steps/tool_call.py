"""A call of a tool: only ever one that the configuration names, with the arguments that it names."""

import base64
import re
from collections.abc import Iterator
from dataclasses import replace

from driftwatch.evidence import Missing
from driftwatch.model import Era, Json
from driftwatch.probe.conversation.talk import Talk
from driftwatch.probe.wire.request import Request

_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
"""A text that a header carries as it is."""
_ENCODED = "=?base64?"
_LARGEST = 2**53 - 1
"""Beyond it a client must not mirror an integer."""


def tool_call(talk: Talk, label: str, name: str, arguments: dict[str, Json]) -> Request | Missing:
    """The request that calls a tool; Missing where the server's complete list does not have it.

    In the modern era the tool's name, and every argument that the tool marks with ``x-mcp-header``, are in
    the headers too.
    """
    tools = talk.surface.tools
    found = None if isinstance(tools, Missing) else _find(tools, name)
    if found is None and not isinstance(tools, Missing):
        return Missing(f"the configured tool {name[:80]!r} is not in the list", "no-such-tool")
    request = talk.further(label, "tools/call", {"name": name, "arguments": arguments})
    if talk.surface.era is not Era.MODERN:
        return request
    mirrored = (("Mcp-Name", header_value(name)), *_mirrored(found, arguments))
    return replace(request, headers=(*request.headers, *mirrored))


def header_value(value: str) -> str:
    """A text as a header carries it: encoded where it is not plain ASCII, padded, or looks encoded."""
    if _PLAIN.fullmatch(value) and not value.startswith(_ENCODED):
        return value
    return f"{_ENCODED}{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="


def _find(tools: tuple[Json, ...], name: str) -> Json:
    return next((tool for tool in tools if tool["name"] == name), None)


def _mirrored(tool: Json, arguments: dict[str, Json]) -> Iterator[tuple[str, str]]:
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, definition in properties.items() if isinstance(properties, dict) else ():
        header = definition.get("x-mcp-header") if isinstance(definition, dict) else None
        text = _text(arguments.get(name))
        if (
            isinstance(header, str)
            and re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", header)
            and text is not None
        ):
            yield f"Mcp-Param-{header}", header_value(text)


def _text(value: Json) -> str | None:
    """An argument as a text; None for one that is not mirrored."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if abs(value) <= _LARGEST else None
    return value if isinstance(value, str) else None
