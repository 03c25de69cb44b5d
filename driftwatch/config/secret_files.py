"""Secrets, written into the file or kept in files of their own: ``token`` beside ``token_file``.

A ``…_file`` key stands before the key that it feeds, whose before-validator is one of the functions below; so
a table holds the secret under one name, wherever it came from.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, SecretStr, ValidationInfo

from driftwatch.config.files import read_secret
from driftwatch.config.quantities import InvalidValueError
from driftwatch.config.values import Kind, absolute_path

UNREAD = "unread://"
"""Stands for the content of a file that cannot be read, which is reported itself."""


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A file that holds a secret, and what was in it when the configuration was loaded."""

    path: Path
    text: SecretStr


def _secret_file(value: object, info: ValidationInfo) -> SecretFile:
    path = absolute_path(value, info)
    if info.context is not None:
        info.context.setdefault("files", []).append(path)
    return SecretFile(path, SecretStr(read_secret(path)))


SecretPath: TypeAlias = Annotated[SecretFile, BeforeValidator(_secret_file), Kind("file")]


def _secret(value: SecretStr) -> SecretStr:
    if not value.get_secret_value():
        raise InvalidValueError("empty: give the secret, or remove the key")
    return value


def _header_safe(value: SecretStr) -> SecretStr:
    text = _secret(value).get_secret_value()
    if not re.fullmatch(r"[\x21-\x7e]+", text):
        raise InvalidValueError(
            'a token is visible ASCII without blanks: give only the token, without "Bearer" before it'
        )
    return value


Secret: TypeAlias = Annotated[SecretStr, AfterValidator(_secret), Kind("secret")]
Token: TypeAlias = Annotated[SecretStr, AfterValidator(_header_safe), Kind("secret")]


def from_file(value: Any, info: ValidationInfo) -> Any:
    """Before-validator of ``x`` beside ``x_file``: the file's content stands in for the value."""
    file: SecretFile | None = info.data.get(f"{info.field_name}_file")
    if file is None:
        return value
    if value is not None:
        raise InvalidValueError(f"{info.field_name} and {info.field_name}_file are both given: keep one")
    return file.text


def required_from_file(value: Any, info: ValidationInfo) -> Any:
    """Before-validator of an ``x`` that is needed, either itself or as ``x_file``."""
    name = f"{info.field_name}_file"
    if value is None and name not in info.data:
        return UNREAD
    found = from_file(value, info)
    if found is None:
        raise InvalidValueError(f"missing: give {info.field_name} or {name}")
    return found


def with_files(value: Any, info: ValidationInfo) -> Any:
    """Before-validator of ``xs`` beside ``x_files``: the files' contents come after the values."""
    files: tuple[SecretFile, ...] = info.data.get(f"{(info.field_name or '').removesuffix('s')}_files", ())
    return [*value, *(file.text for file in files)] if isinstance(value, list | tuple) else value
