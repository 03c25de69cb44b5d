"""Faults in people's words: the key as they wrote it, what is wrong, what to do; never a value."""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from driftwatch.config.quantities import InvalidValueError
from driftwatch.config.schema import Config
from driftwatch.config.toml_lines import KeyPath
from driftwatch.config.values import Table, valid_name
from driftwatch.model import Json

_MESSAGES = {
    "string_type": 'write it as text, in quotes: "…"',
    "string_too_short": "empty: give it a value, or remove the key",
    "int_type": "not a whole number: write one without quotes, such as 3",
    "bool_type": "write true or false, without quotes",
    "greater_than_equal": "too small: it must be at least {ge:g}",
    "less_than_equal": "too large: it may be at most {le:g}",
    "dict_type": "write a table, such as {{ key = … }}",
}


FEW_HOMES = 2
"""Tables that an unknown key may belong to; one that many have, such as `name`, says nothing."""

FEW_KEYS = 12
"""Keys of a table that are listed for an unknown one."""


def faults_of(error: ValidationError) -> Iterator[tuple[KeyPath, str]]:
    """Every fault that pydantic found: where, and what to do."""
    for details in error.errors(include_url=False):
        *parents, last = (step for step in details["loc"] if step != "[key]")
        table = table_at(tuple(parents))
        field = table.model_fields.get(str(last)) if table else None
        if field is not None and field.alias and details["type"] != "extra_forbidden":
            last = field.alias  # a fault in a default bears the field's name instead of the key's
        path = (*parents, last)
        yield path, _message(path, details)


def _message(path: KeyPath, details: ErrorDetails) -> str:
    kind, context = details["type"], details.get("ctx", {})
    match kind:
        case "value_error" if isinstance(context["error"], InvalidValueError):
            return str(context["error"])
        case "extra_forbidden":
            return f"unknown key{_better_key(path)}"
        case "missing":
            return f"missing: write it, such as {_example(path)}"
        case "literal_error" | "enum":
            return _one_of(context["expected"], details["input"])
        case "tuple_type" | "model_type":
            return _shape(path, kind, details["input"])
        case _ if kind in _MESSAGES:
            return _MESSAGES[kind].format(**context)
        case _:
            return "this value cannot be used here: see config.example.toml"


def _better_key(path: KeyPath) -> str:
    key = str(path[-1])
    table = table_at(path[:-1])
    near = difflib.get_close_matches(key, keys_of(table), n=1) if table else []
    if near:
        return f', did you mean "{near[0]}"?'
    homes = [home for home, inner in _all_tables(Config) if key in keys_of(inner)]
    if homes and len(homes) <= FEW_HOMES:
        return f": it belongs to {' or '.join(homes)}"
    keys = sorted(keys_of(table)) if table else []
    if keys and len(keys) <= FEW_KEYS:
        return f": there are {', '.join(keys)}"
    return ": remove it, or see config.example.toml for the keys there are"


def _example(path: KeyPath) -> str:
    table = table_at(path[:-1])
    field = keys_of(table)[str(path[-1])] if table else None
    return f'{path[-1]} = "{field.examples[0] if field and field.examples else "…"}"'


def _one_of(expected: str, value: object) -> str:
    choices = re.findall(r"'([^']*)'", expected)
    near = difflib.get_close_matches(value, choices, n=1) if isinstance(value, str) else []
    hint = f', did you mean "{near[0]}"?' if near else ""
    *others, last = (f'"{choice}"' for choice in choices)
    return f"must be {', '.join(others)} or {last}{hint}"


def _shape(path: KeyPath, kind: str, value: object) -> str:
    name = ".".join(_key(step, path[:depth]) for depth, step in enumerate(path) if isinstance(step, str))
    if kind == "model_type":
        if path == ("alerts",) and isinstance(value, list):
            return "[alerts] stands once, in single brackets; channels are [[alert]]"
        header = f"[[{name}]]" if isinstance(path[-1], int) else f"[{name}]"
        return f"write a table: {header}, and its keys below it"
    if table_at(path) is not None:
        return f"there can be several: write [[{name}]], in double brackets"
    return 'write a list, in brackets: ["…", "…"]'


def keys_of(table: type[Table]) -> dict[str, FieldInfo]:
    """The keys of a table as they are written."""
    return {field.alias or name: field for name, field in table.model_fields.items()}


def inner_table(annotation: Any) -> type[Table] | None:
    """The kind of table that a key holds, itself or in a list or under names; None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    return next(filter(None, map(inner_table, get_args(annotation))), None)


def table_at(path: KeyPath) -> type[Table] | None:
    """The kind of table at a path; None where there is none."""
    table: type[Table] | None = Config
    under_names = False
    for step in path:
        if isinstance(step, int) or under_names:
            under_names = False
            continue
        field = keys_of(table).get(step) if table else None
        table = inner_table(field.annotation) if field else None
        under_names = field is not None and get_origin(field.annotation) is dict
    return table


def _all_tables(table: type[Table], path: str = "") -> Iterator[tuple[str, type[Table]]]:
    for key, field in keys_of(table).items():
        inner = inner_table(field.annotation)
        if inner is not None:
            name = f"{path}{key}"
            yield (f"[[{name}]]" if get_origin(field.annotation) is tuple else f"[{name}]"), inner
            yield from _all_tables(inner, f"{name}.")


def readable(path: KeyPath, document: Mapping[str, Json]) -> str:
    """A path as people read it: ``server "api".interval``; positions without a name count from one."""
    text = ""
    value: Any = document
    for depth, step in enumerate(path):
        value = _step_into(value, step)
        if isinstance(step, int):
            name = _name_of(value) if depth == 1 else None
            text += f' "{name}"' if name else f" #{step + 1}"
        else:
            text += f".{_key(step, path[:depth])}" if text else _key(step, ())
    return text


def _name_of(table: Any) -> str | None:
    name = table.get("name") if isinstance(table, dict) else None
    try:
        return valid_name(name) if isinstance(name, str) else None
    except InvalidValueError:
        return None


def _step_into(value: Any, step: str | int) -> Any:
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return None


def _key(key: str, parents: KeyPath) -> str:
    if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", key):
        return key
    if parents and parents[-1] == "limits" and len(key) <= 64 and key.isprintable():  # noqa: PLR2004
        return f'"{key}"'
    # People have written "Authorization: Bearer …" where a header's name belongs.
    return "(a quoted key)"
