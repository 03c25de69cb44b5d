"""What must hold between tables. It is judged on the document, so that one fault does not hide another."""

import difflib
from collections.abc import Iterator, Mapping

from driftwatch.config.toml_lines import KeyPath
from driftwatch.model import Json


def broken_rules(document: Mapping[str, Json]) -> Iterator[tuple[KeyPath, str]]:
    """Every rule that is broken: where, and what to do."""
    yield from _names_twice(document, "server")
    yield from _names_twice(document, "alert")
    yield from _previous_names(document)
    yield from _unknown_servers(document)


def _tables(value: Json) -> list[tuple[int, dict[str, Json]]]:
    tables = enumerate(value) if isinstance(value, list) else ()
    return [(number, table) for number, table in tables if isinstance(table, dict)]


def _values(document: Mapping[str, Json], table: str, key: str) -> list[tuple[int, str]]:
    return [
        (number, row[key]) for number, row in _tables(document.get(table)) if isinstance(row.get(key), str)
    ]


def _names_twice(document: Mapping[str, Json], table: str) -> Iterator[tuple[KeyPath, str]]:
    seen: dict[str, int] = {}
    for number, name in _values(document, table, "name"):
        first = seen.setdefault(name, number)
        if first != number:
            yield (table, number, "name"), f"{table} #{first + 1} has this name already: give each its own"


def _previous_names(document: Mapping[str, Json]) -> Iterator[tuple[KeyPath, str]]:
    in_use = {name for _, name in _values(document, "server", "name")}
    seen: set[str] = set()
    for number, name in _values(document, "server", "previous_name"):
        if name in in_use:
            yield (
                ("server", number, "previous_name"),
                "a server still has this name: remove the key or rename it",
            )
        elif name in seen:
            yield (
                ("server", number, "previous_name"),
                "two servers cannot both continue this one: remove one of them",
            )
        seen.add(name)


def _unknown_servers(document: Mapping[str, Json]) -> Iterator[tuple[KeyPath, str]]:
    known = [name for _, name in _values(document, "server", "name")]
    alerts = document.get("alerts")
    for window, table in _tables(alerts.get("window") if isinstance(alerts, dict) else None):
        servers = table.get("servers")
        for number, name in enumerate(servers if isinstance(servers, list) else ()):
            if isinstance(name, str) and name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f', did you mean "{near[0]}"?' if near else ": write the name of a [[server]]"
                yield ("alerts", "window", window, "servers", number), f"no server has this name{hint}"
