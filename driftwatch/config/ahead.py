"""Keys that are read and checked, and that this version does not act on yet: whoever sets one is told."""

from collections.abc import Iterator, Mapping, Sequence

from driftwatch.config.values import Table

AHEAD: Mapping[str, frozenset[str]] = {
    "server": frozenset({"previous_name"}),
}
"""By table, the keys whose feature is not there yet."""


def ahead(tables: Mapping[str, Sequence[Table]]) -> Iterator[str]:
    """A sentence for every such key that was set, in the order of the tables."""
    for name, entries in tables.items():
        for entry in entries:
            owner = f'server "{getattr(entry, "name", "")}"' if name == "server" else name
            for key in sorted(AHEAD.get(name, frozenset()) & entry.model_fields_set):
                yield f"{owner}.{key}: this version checks it and does not act on it yet"
