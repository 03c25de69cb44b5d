"""One tool as checks look at it: never what was promised, always what came."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from driftwatch.checks import dialects, json_schema
from driftwatch.model import Json

MAX_TEXTS = 20_000
"""Texts of one tool that are looked at."""

_HARMLESS = "value"
"""A word that no rule has anything against."""

_READ = (str, dict, list)
"""What is a text, or may hold one."""

_UNREAD = frozenset({"_meta", "icons"})
"""Members of a tool that no model reads."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool:
    """One tool of a complete list."""

    raw: Json
    """As the server sent it; where a secret of ours stood, a harmless word."""
    index: int
    """Its place in the list, from 0."""
    called: str | None = None
    """The name as it was recorded, where it held a secret."""

    @classmethod
    def each(cls, tools: tuple[Json, ...], marks: frozenset[str] = frozenset()) -> tuple[Self, ...]:
        """A view of every tool of a list; ``marks`` stand in it in the place of secrets of ours."""
        return tuple(cls._of(raw, index, marks) for index, raw in enumerate(tools))

    @classmethod
    def _of(cls, raw: Json, index: int, marks: frozenset[str]) -> Self:
        view = cls(raw=_unmarked(raw, marks) if marks else raw, index=index)
        name = raw.get("name") if isinstance(raw, dict) else None
        return view if name == view.name or not isinstance(name, str) else replace(view, called=name)

    @property
    def name(self) -> str:
        """The name; empty where there is none that is a text."""
        name = self.get("name")
        return name if isinstance(name, str) else ""

    @property
    def subject(self) -> str:
        """How findings call it: the name, or the place in the list (counted from 1) where it has none."""
        return self.called or self.name or f"(tool {self.index + 1}, without a name)"

    @property
    def schema(self) -> Json:
        """The input schema; None where there is none."""
        return self.get("inputSchema")

    @cached_property
    def counted(self) -> Json:
        """The input schema without what the dialect that it declares ignores."""
        declared = any(pointer.endswith("/$schema") for pointer, _ in self.texts)
        return dialects.meant(self.schema) if declared else self.schema

    @cached_property
    def places(self) -> tuple[json_schema.Place, ...]:
        """Every subschema of the input schema; the walk is made once for all checks."""
        return tuple(json_schema.places(self.counted))

    @cached_property
    def parameters(self) -> dict[str, Json]:
        """The properties of the input schema, its references and compositions included."""
        return json_schema.properties(self.counted, self.counted)

    @cached_property
    def levels(self) -> int:
        """How deep the input schema nests, up to json_schema.MAX_LEVEL."""
        return json_schema.depth(self.counted)

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Every text that a model may read, with its JSON pointer; members' names where they are no words."""
        return tuple(itertools.islice(_texts(self.raw), MAX_TEXTS))

    def get(self, member: str) -> Json:
        """A member of the tool's object; None where it is absent or the tool is no object."""
        return self.raw.get(member) if isinstance(self.raw, dict) else None


def _unmarked(value: Json, marks: frozenset[str]) -> Json:
    """A value in which nobody judges the marks that our own redaction has left."""
    if isinstance(value, str):
        for mark in marks:
            value = value.replace(mark, _HARMLESS)
        return value
    if isinstance(value, list):
        return [_unmarked(item, marks) for item in value]
    if isinstance(value, dict):
        return {_unmarked(name, marks): _unmarked(item, marks) for name, item in value.items()}
    return value


def _texts(tool: Json) -> Iterator[tuple[str, str]]:
    pending: list[Iterator[tuple[str, Json]]] = [iter([("", tool)] if isinstance(tool, _READ) else [])]
    while pending:
        item = next(pending[-1], None)
        if item is None:
            pending.pop()
            continue
        pointer, value = item
        if isinstance(value, str):
            yield item
        else:
            pending.append(_members(pointer, value))
        if isinstance(value, dict):
            for name in value:
                if not _is_word(name):
                    yield f"{pointer}/{json_schema.escape(name)}", name


def _members(pointer: str, value: dict[str, Json] | list[Json]) -> Iterator[tuple[str, Json]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, _READ):
                yield f"{pointer}/{index}", item
        return
    for name, member in value.items():
        if isinstance(member, _READ) and (pointer or name not in _UNREAD):
            yield f"{pointer}/{name if name.isidentifier() else json_schema.escape(name)}", member


def _is_word(name: str) -> bool:
    """True for what is a name and nothing else: plain letters, perhaps with signs between them."""
    return name.isascii() and (name.isidentifier() or (" " not in name and name.isprintable()))
