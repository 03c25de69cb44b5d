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
        """The tools in the list's order."""
        return tuple(map(Entry, self.tools))


@dataclass(frozen=True, eq=False)  # no slots: a canonical form is made once, and only where one is needed
class Entry:
    """One tool, and its canonical form."""

    tool: Json
    """As received: anything. What is no object is its own contract and has no surface."""

    @cached_property
    def name(self) -> str:
        """The name in canonical form, ``null`` without one."""
        return canonical(self.get("name"))

    @cached_property
    def schema(self) -> str:
        """The input schema, ``null`` without one."""
        return canonical_schema(self.get("inputSchema"))

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Their names: two tools with other ones do not have the same schema."""
        schema = self.get("inputSchema")
        declared = schema.get("properties") if isinstance(schema, dict) else None
        return frozenset(declared) if isinstance(declared, dict) else frozenset()

    @cached_property
    def contract(self) -> str:
        """The object of name and input schema."""
        if not isinstance(self.tool, dict):
            return canonical(self.tool)
        return f'{{"inputSchema":{self.schema},"name":{self.name}}}'

    @cached_property
    def surface(self) -> str:
        """The object of title, description, annotations, output schema and execution."""
        if not isinstance(self.tool, dict):
            return "null"
        return (
            f'{{"annotations":{_with_defaults(self.get("annotations"), HINTS, _HINTS)}'
            f',"description":{canonical(self.get("description"))}'
            f',"execution":{_with_defaults(self.get("execution"), TASK_SUPPORT, _TASK_SUPPORT)}'
            f',"outputSchema":{canonical_schema(self.get("outputSchema"))}'
            f',"title":{canonical(self.get("title"))}}}'
        )

    @property
    def order(self) -> tuple[str, str, str]:
        """The place in a canonical list: by name, then by content, so that twins do not swap."""
        return self.name, self.contract, self.surface

    def get(self, member: str) -> Json:
        """A member of the tool; None without it."""
        return self.tool.get(member) if isinstance(self.tool, dict) else None


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
