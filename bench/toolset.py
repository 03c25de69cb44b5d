"""CPU time of fingerprint and diff on a large tool list: ``python bench/toolset.py``.

A thousand tools of about two megabytes, made up in the proportions of published servers: a dozen parameters
with descriptions, a nested object, an enum, a ``$ref``, an output schema. Prints the best of several runs, in
milliseconds of CPU time.
"""

import copy
import json
import time
from collections.abc import Callable
from typing import Any

from driftwatch.toolset import Toolset, diff, fingerprint, tool_digests

TOOLS = 1_000
RUNS = 7
PROSE = "Describes in a sentence or two what this is for, when to use it and what comes back, as servers do. "

Tool = dict[str, Any]


def tool(index: int) -> Tool:
    parameters: dict[str, Any] = {
        f"parameter_{number}": {
            "type": ("string", "integer", "boolean")[number % 3],
            "description": PROSE[: 20 + 7 * ((index + number) % 9)],
            "title": f"Parameter {number}",
        }
        for number in range(8)
    }
    parameters["mode"] = {"type": "string", "enum": ["fast", "exact", "none"], "default": "fast"}
    parameters["limit"] = {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
    parameters["filter"] = {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}], "default": None}
    parameters["ratio"] = {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}
    condition = {"field": {"type": "string"}, "values": {"type": "array", "items": {"type": "string"}}}
    return {
        "name": f"tool_{index:04}",
        "title": f"Tool {index}",
        "description": f"Number {index}. " + PROSE * 2,
        "inputSchema": {
            "type": "object",
            "properties": parameters,
            "required": ["parameter_0", "mode"],
            "$defs": {"Filter": {"type": "object", "properties": condition, "required": ["field"]}},
        },
        "outputSchema": {
            "type": "object",
            "properties": {"result": {"type": "string"}},
            "required": ["result"],
        },
        "annotations": {"readOnlyHint": index % 2 == 0},
    }


def reordered(tools: list[Tool]) -> None:
    tools.reverse()


def twenty_descriptions(tools: list[Tool]) -> None:
    for item in tools[::50]:
        item["description"] += "Always call this first."


def every_description(tools: list[Tool]) -> None:
    for item in tools:
        item["description"] += "More."


def every_dialect(tools: list[Tool]) -> None:
    for item in tools:
        item["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#"


def every_schema(tools: list[Tool]) -> None:
    for item in tools:
        del item["inputSchema"]["properties"]["parameter_3"]
        item["inputSchema"]["properties"]["limit"]["maximum"] = 50


def every_name(tools: list[Tool]) -> None:
    for item in tools:
        item["name"] = f"v2_{item['name']}"


def cpu_ms(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best * 1000


def main() -> None:
    tools = [tool(index) for index in range(TOOLS)]
    listed = tuple(tools)
    print(f"{TOOLS} tools, {len(json.dumps(tools)) / 1e6:.2f} MB of JSON; best of {RUNS}, ms of CPU time")

    def digests() -> None:
        toolset = Toolset(listed)
        fingerprint(toolset)
        tool_digests(toolset)

    print(f"{'fingerprint and tool_digests':<34}{cpu_ms(digests):7.1f}")
    for edit in (reordered, twenty_descriptions, every_description, every_dialect, every_schema, every_name):
        changed = copy.deepcopy(tools)
        edit(changed)
        new = tuple(changed)
        # Both lists as they come out of the store: their canonical form is part of the cost.
        spent = cpu_ms(lambda new=new: diff(Toolset(listed), Toolset(new)))  # type: ignore[misc]
        found = diff(Toolset(listed), Toolset(new))
        print(f"{'diff: ' + edit.__name__.replace('_', ' '):<34}{spent:7.1f}   {found.summary}")


if __name__ == "__main__":
    main()
