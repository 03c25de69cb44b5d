"""A tool list, and what of each tool counts: its contract, and the surface that a model reads beside it."""

from dataclasses import dataclass
from functools import cached_property

from driftwatch.model import Json
from driftwatch.toolset.canonical import canonical, canonical_schema

HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""The hints of ``annotations`` with the value that an absent one has (specification, ToolAnnotations)."""

TASK_SUPPORT = {"taskSupport": "forbidden"}
"""The default of ``execution`` (2025-11-25; the member is gone in 2026-07-28)."""

UNNAMED = "(no name)"


@dataclass(frozen=True)  # no slots: the canonical form is made once
class Toolset:
    """One complete tool list, as received, and the server's instructions."""

    tools: tuple[Json, ...]
    instructions: str | None = None
    further: tuple[tuple[str, tuple[Json, ...]], ...] = ()
    """Kind and entries of the other lists that are watched: prompts, resources, templates."""

    @cached_property
    def entries(self) -> "tuple[Entry, ...]":
        """The tools in canonical form, in the list's order."""
        return tuple(map(Entry.of, self.tools))


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One tool in canonical form."""

    tool: Json
    """As received."""
    name: str
    """The name in canonical form, ``null`` without one."""
    schema: str
    """The input schema, ``null`` without one."""
    contract: str
    """The object of name and input schema."""
    surface: str
    """The object of title, description, annotations, output schema and execution."""

    @classmethod
    def of(cls, tool: Json) -> "Entry":
        """Accepts anything: what is no object is its own contract and has no surface."""
        if not isinstance(tool, dict):
            return cls(tool, "null", "null", canonical(tool), "null")
        name = canonical(tool.get("name"))
        schema = canonical_schema(tool.get("inputSchema"))
        surface = (
            f'{{"annotations":{_with_defaults(tool.get("annotations"), HINTS, _HINTS)}'
            f',"description":{canonical(tool.get("description"))}'
            f',"execution":{_with_defaults(tool.get("execution"), TASK_SUPPORT, _TASK_SUPPORT)}'
            f',"outputSchema":{canonical_schema(tool.get("outputSchema"))}'
            f',"title":{canonical(tool.get("title"))}}}'
        )
        return cls(tool, name, schema, f'{{"inputSchema":{schema},"name":{name}}}', surface)

    @property
    def order(self) -> tuple[str, str, str]:
        """The place in a canonical list: by name, then by content, so that twins do not swap."""
        return self.name, self.contract, self.surface


def with_defaults(value: Json, defaults: dict[str, Json]) -> Json:
    """The object with absent and null members at their default; anything but an object and null stays."""
    if value is None:
        return defaults
    if not isinstance(value, dict):
        return value
    return defaults | {name: member for name, member in value.items() if member is not None}


def _with_defaults(value: Json, defaults: dict[str, Json], form: str) -> str:
    """In canonical form; ``form`` is that of the defaults alone, which most tools have."""
    return form if value is None else canonical(with_defaults(value, defaults))


_HINTS = canonical(HINTS)
_TASK_SUPPORT = canonical(TASK_SUPPORT)


def name_of(tool: Json) -> str:
    """A name to say: the tool's own when it is a string, else its JSON, else ``(no name)``."""
    name = tool.get("name") if isinstance(tool, dict) else None
    if isinstance(name, str):
        return name
    return UNNAMED if name is None else canonical(name)
