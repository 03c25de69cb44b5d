"""A small tool list, and how one edit to it is checked."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from driftwatch.model import Level
from driftwatch.toolset import Toolset, diff, fingerprint

TOOLS: list[dict[str, Any]] = [
    {
        "name": "create_order",
        "title": "Create an order",
        "description": "Places an order for a customer.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "customer": {"type": "string", "description": "Customer number", "minLength": 3},
                "items": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": {
                            "sku": {"type": "string", "pattern": "^[A-Z]{3}"},
                            "qty": {"type": "integer", "minimum": 1, "maximum": 100},
                        },
                        "required": ["sku", "qty"],
                    },
                },
                "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal"},
                "note": {"type": "string"},
                "when": {"type": "string", "format": "date"},
            },
            "required": ["customer", "items"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "total": {"type": "integer", "maximum": 1000},
                "state": {"type": "string", "enum": ["open", "paid"]},
                "lines": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["id", "total"],
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
    },
    {
        "name": "search",
        "description": "Searches orders by text.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                "score": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
                "filter": {
                    "type": "object",
                    "properties": {"city": {"type": "string", "maxLength": 40}},
                    "additionalProperties": False,
                },
                "mode": {"const": "fast"},
                "area": {"type": ["string", "null"]},
            },
            "required": ["query"],
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "status",
        "description": "Tells the state of an order.",
        "inputSchema": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "description": "Order number"}},
            "required": ["order_id"],
        },
        "execution": {"taskSupport": "optional"},
    },
    {
        "name": "ping",
        "description": "Answers.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    },
]
INSTRUCTIONS = "Look up the customer before you create an order."


@dataclass
class Scene:
    """A tool list that an edit may change."""

    tools: list[dict[str, Any]]
    instructions: str | None

    def tool(self, name: str) -> dict[str, Any]:
        return next(tool for tool in self.tools if tool["name"] == name)

    def parameters(self, name: str) -> dict[str, Any]:
        properties: dict[str, Any] = self.tool(name)["inputSchema"]["properties"]
        return properties

    def output(self) -> dict[str, Any]:
        schema: dict[str, Any] = self.tool("create_order")["outputSchema"]
        return schema

    def toolset(self) -> Toolset:
        return Toolset(tuple(self.tools), self.instructions)


def scene() -> Scene:
    return Scene(copy.deepcopy(TOOLS), INSTRUCTIONS)


Edit = Callable[[Scene], object]


def item_schema(s: Scene) -> dict[str, Any]:
    schema: dict[str, Any] = s.parameters("create_order")["items"]["items"]
    return schema


@dataclass(frozen=True)
class Case:
    """One edit, and the one change that a diff must find."""

    name: str
    edit: Edit
    klass: str
    kind: str
    pointer: str | None
    flags: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return self.name


def case(name: str, edit: Edit, expected: str, message: str) -> Case:
    """``expected`` is class, kind, pointer (``-`` for none) and flags."""
    klass, kind, pointer, *flags = expected.split()
    return Case(name, edit, klass, kind, None if pointer == "-" else pointer, tuple(flags), message)


def check(case: Case) -> None:
    old, new = scene(), scene()
    case.edit(new)
    found = diff(old.toolset(), new.toolset())
    assert [change.message for change in found.changes] == [case.message]
    (change,) = found.changes
    assert (change.klass, change.kind, change.pointer, change.flags) == (
        case.klass,
        case.kind,
        case.pointer,
        case.flags,
    )
    assert fingerprint(old.toolset()).pair != fingerprint(new.toolset()).pair
    grave = case.klass == "breaking" or not {"steers", "hides", "widens-harm"}.isdisjoint(case.flags)
    calm = Level.INFO if case.klass == "cosmetic" else Level.WARNING
    assert found.level is (Level.ERROR if grave else calm)


SAME = "input schema written differently, same meaning"


def messages(old: Any, new: Any, member: str = "inputSchema") -> list[tuple[str, str]]:
    """Class and words of each change, where a parameter (or output) ``p`` has another schema."""

    def toolset(schema: Any) -> Toolset:
        return Toolset(
            ({"name": "t", "inputSchema": {}, member: {"type": "object", "properties": {"p": schema}}},)
        )

    found = diff(toolset(old), toolset(new))
    return [(change.klass, change.message.removeprefix('"t": ')) for change in found.changes]
