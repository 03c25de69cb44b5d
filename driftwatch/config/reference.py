"""docs/configure.md, written from the schema so that it cannot go stale.

``python -m driftwatch.config.reference`` writes it, with ``--check`` it only says whether it is up to date.
"""

import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from driftwatch.config.alerting import Window
from driftwatch.config.problems import inner_table, keys_of
from driftwatch.config.schema import Config
from driftwatch.config.server import Server
from driftwatch.config.service import Monitor
from driftwatch.config.shown import as_text
from driftwatch.config.values import Duration, Kind, Size, Table

PLACE = Path("docs/configure.md")

INTRODUCTION = """\
# Configuration

driftwatch reads one TOML file: the one that `--config` or `DRIFTWATCH_CONFIG` names, else `./config.toml`,
else `/etc/driftwatch/config.toml`. Begin with a copy of [config.example.toml](../config.example.toml).

`driftwatch config check` reports everything that is wrong at once, as `file:line: key: problem, what to do`.
`driftwatch config show` prints the configuration in force, every default included and every secret masked.

Only a server's `name` and `url` and a channel's `name` and `url` have to be given.
This page is generated from the schema.

## Values

| value | how it is written |
|---|---|
| duration | `"500ms"`, `"15m"`, `"1h30m"`, `"90d"`: whole numbers with units d, h, m, s, ms, largest first |
| size | `"4MiB"`, `"512MB"`: B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024) |
| rate | `"10/min"`: how many in which time (s, min, h) |
| cron line | `"30 4 * * mon-fri"`: minute, hour, day of the month, month, weekday (0 and 7 are Sunday) |
| path, file | relative ones start at the folder of the configuration; a file must exist |
| secret | text that is never shown, logged, stored or sent to a channel |

## Interpolation

Inside the text of any value, but not in keys:

| written | becomes |
|---|---|
| `${VAR}` | the environment variable; it is an error when it is not set |
| `${VAR:-default}` | the same, or the default when it is not set or empty |
| `${file:PATH}` | the content of a file, without the line breaks at its end; always a secret |
| `$$` | a dollar sign |

Numbers, `true` and `false` may come from a variable too: `concurrency = "${WORKERS:-8}"`.

## Secrets

Each secret has a second key that ends in `_file` (or `_files`) and names a regular file that holds nothing
else, as Docker, Kubernetes and systemd provide them. The values of a URL's query count as secret as well; a
secret in a server's path is recognised when it comes from `${file:PATH}`.
Problems are reported without any value.
"""


def render() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(f"{line}\n" for line in _sections(Config, ()))


def _sections(table: type[Table], path: tuple[str, ...]) -> Iterator[str]:
    for key, field in keys_of(table).items():
        inner = inner_table(field.annotation)
        if inner is not None:
            yield from _section(inner, field, (*path, key))
            yield from _sections(inner, (*path, key))


def _section(table: type[Table], field: FieldInfo, path: tuple[str, ...]) -> Iterator[str]:
    name = ".".join(path)
    by_name = get_origin(field.annotation) is dict
    title = (
        f"[[{name}]]" if get_origin(field.annotation) is tuple else f"[{name}{'.NAME' if by_name else ''}]"
    )
    yield f"\n## `{title}`\n"
    yield f"{(table.__doc__ or '').partition(chr(10))[0]}\n"
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    for key, inner in keys_of(table).items():
        if inner_table(inner.annotation) is None:
            cells = (f"`{key}`", _kind(inner.annotation, inner.metadata), _default(table, key, inner))
            yield f"| {' | '.join(cells)} | {inner.description} |"


def _default(table: type[Table], key: str, field: FieldInfo) -> str:
    if table in {Server, Window} and key in keys_of(Monitor):
        return "as `[monitor]`"
    value = field.get_default(call_default_factory=True)
    optional = NoneType in get_args(field.annotation)
    if field.is_required() or (value is None and not optional):
        return f"this or `{key}_file`" if f"{key}_file" in table.model_fields else "needed"
    return "" if value is None else f"`{as_text(value, field.metadata)}`"


def _kind(annotation: Any, metadata: Iterable[Any]) -> str:
    """What may be written, from the annotation that validates it."""
    marks = list(_marks(metadata))
    for mark in marks:
        if isinstance(mark, Duration | Size):
            return f"{type(mark).__name__.lower()}, {mark.low} to {mark.high}"
    kind = next((mark.name for mark in reversed(marks) if isinstance(mark, Kind)), None)
    if kind is not None:
        bounds = [f"{mark.ge:g}" for mark in marks if hasattr(mark, "ge")]
        bounds += [f"{mark.le:g}" for mark in marks if hasattr(mark, "le")]
        return f"{kind}, {' to '.join(bounds)}" if len(bounds) > 1 else kind
    return _plain_kind(annotation)


def _plain_kind(annotation: Any) -> str:
    inner = get_args(annotation)
    match get_origin(annotation):
        case None if isinstance(annotation, type) and issubclass(annotation, Enum):
            return ", ".join(f'`"{member.value}"`' for member in annotation)
        case None:
            return "text"
        case origin if origin is Annotated:
            return _kind(inner[0], inner[1:])
        case origin if origin is Literal:
            return ", ".join(f'`"{choice}"`' for choice in inner)
        case origin if origin is tuple:
            return f"list: {_kind(inner[0], ())}"
        case _:  # something or None
            return _kind(inner[0], ())


def _marks(metadata: Iterable[Any]) -> Iterator[Any]:
    for mark in metadata:
        yield mark
        if isinstance(mark, FieldInfo):
            yield from mark.metadata


def main(arguments: list[str]) -> int:
    """Write the page, or check it; 1 when it is out of date."""
    page = render()
    if "--check" not in arguments:
        PLACE.write_text(page, encoding="utf-8")
        return 0
    if PLACE.exists() and PLACE.read_text(encoding="utf-8") == page:
        return 0
    sys.stderr.write(f"{PLACE} is out of date: run python -m driftwatch.config.reference\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
