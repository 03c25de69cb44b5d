"""The configuration in force as people may see it, and the secrets that they may not."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time, timedelta

from pydantic import SecretStr

from driftwatch.config.cron import Cron
from driftwatch.config.masking import (
    MASK,
    MIN_LENGTH,
    header_secrets,
    mask_secret,
    mask_url,
    secret_url_secrets,
    web_url_secrets,
)
from driftwatch.config.quantities import format_duration, format_size
from driftwatch.config.secret_files import SecretFile
from driftwatch.config.values import Size, Table
from driftwatch.model import Json


def shown(table: Table, hidden: Iterable[str] = ()) -> dict[str, Json]:
    """A table as JSON, keys as they are written, secrets masked, ``hidden`` texts too."""
    hidden = tuple(hidden)
    rows: dict[str, Json] = {}
    for name, field in type(table).model_fields.items():
        value = getattr(table, name)
        files = getattr(table, f"{name}_file", None), getattr(table, f"{name.removesuffix('s')}_files", ())
        if files[0] is not None:
            value = None  # the file's content; the file itself is shown
        elif files[1]:
            value = value[: len(value) - len(files[1])]
        rows[field.alias or name] = _sized(value, field.metadata) or _shown(value, hidden)
    return rows


def as_text(value: object, metadata: Iterable[object] = ()) -> str:
    """One value as it stands in a file; the metadata of its field tell a size from a number."""
    return _value(_sized(value, metadata) or _shown(value, ()))


def _sized(value: object, metadata: Iterable[object]) -> str | None:
    sized = isinstance(value, int) and any(isinstance(kind, Size) for kind in metadata)
    return format_size(value) if isinstance(value, int) and sized else None


def _shown(value: object, hidden: tuple[str, ...]) -> Json:
    match value:
        case None | bool() | int() | float():
            return value
        case Table():
            return shown(value, hidden)
        case SecretStr():
            return mask_secret(value.get_secret_value())
        case dict():
            return {str(key): _shown(inner, hidden) for key, inner in value.items()}
        case list() | tuple():
            return [_shown(inner, hidden) for inner in value]
        case _:
            return _text(value, hidden)


def _text(value: object, hidden: tuple[str, ...]) -> str:
    match value:
        case timedelta():
            return format_duration(value)
        case Cron():
            return value.text
        case date() | time():  # datetimes too
            return value.isoformat()
        case str() if "://" in value:
            return mask_url(value, hidden)
        case _:
            return _masked(str(value.path if isinstance(value, SecretFile) else value), hidden)


def _masked(text: str, hidden: tuple[str, ...]) -> str:
    for secret in hidden:
        text = text.replace(secret, MASK)
    return text


def as_toml(document: Mapping[str, Json]) -> str:
    """What ``shown`` gave as a TOML document; keys without a value become comments."""
    return "\n".join(_table_lines(document, ())) + "\n"


def _table_lines(table: Mapping[str, Json], path: tuple[str, ...]) -> Iterator[str]:
    inner: list[tuple[str, Json]] = []
    for key, value in table.items():
        if _is_table(value) or _is_tables(value):
            inner.append((key, value))
        elif value is None:
            yield f"# {_key(key)}: not set"
        else:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in inner:
        name = ".".join(map(_key, (*path, key)))
        for entry in value if isinstance(value, list) else [value]:
            yield ""
            yield f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
            yield from _table_lines(entry, (*path, key))


def _is_table(value: Json) -> bool:
    """An empty one is written ``{}`` on one line, and so is one that holds only plain values."""
    return isinstance(value, dict) and bool(value)


def _is_tables(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Json) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in value.items())}}}"
        case str():
            # JSON's escapes are TOML's, but for DEL and for surrogates outside pairs, which TOML cannot hold.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return str(value)


def secret_values(table: Table, hidden: Iterable[str] = ()) -> tuple[str, ...]:
    """Every secret in a table, the longest first."""
    found = {secret for secret in (*hidden, *_secrets(table)) if len(secret) >= MIN_LENGTH}
    return tuple(sorted(found, key=lambda secret: (-len(secret), secret)))


def _secrets(value: object) -> Iterator[str]:
    match value:
        case Table():
            for name in type(value).model_fields:
                inner = getattr(value, name)
                if name == "headers":
                    for header, secret in inner.items():
                        yield from header_secrets(header, secret.get_secret_value())
                else:
                    yield from _secrets(inner)
        case SecretStr():
            yield from secret_url_secrets(value.get_secret_value())
        case SecretFile():
            yield from _secrets(value.text)
        case str() if "://" in value:
            yield from web_url_secrets(value)
        case list() | tuple():
            for inner in value:
                yield from _secrets(inner)
