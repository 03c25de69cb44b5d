"""Every table of a configuration, down to the innermost."""

from collections.abc import Iterator

from driftwatch.config.problems import inner_table, keys_of
from driftwatch.config.values import Table


def tables(table: type[Table], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], type[Table]]]:
    yield path, table
    for key, field in keys_of(table).items():
        inner = inner_table(field.annotation)
        if inner is not None:
            yield from tables(inner, (*path, key))
