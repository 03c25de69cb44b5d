"""``${VAR}``, ``${VAR:-default}``, ``${file:PATH}`` and ``$$`` in the strings of a parsed document.

Interpolation comes after parsing, so a value can never change the shape of the file; keys are left alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from driftwatch.config.files import read_secret
from driftwatch.config.masking import MIN_LENGTH, looks_secret
from driftwatch.config.quantities import InvalidValueError
from driftwatch.config.toml_lines import KeyPath
from driftwatch.model import Json

_REFERENCE = re.compile(r"\$\$|\$\{(?P<inside>[^}]*)\}|\$\{")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpolated:
    """A document after interpolation."""

    document: dict[str, Json]
    faults: tuple[tuple[KeyPath, str], ...]
    """What could not be resolved; the strings there keep the reference as it was."""
    secrets: tuple[str, ...]
    """What came from files, and what of variables looks like a secret inside the arguments of a tool."""
    files: tuple[Path, ...] = ()
    """The files that were named, readable or not."""


def interpolate(document: Mapping[str, Json], environ: Mapping[str, str], folder: Path) -> Interpolated:
    """Resolve every reference; paths are relative to ``folder``."""
    work = _Interpolation(environ, folder)
    return Interpolated(
        document={key: work.value((key,), value) for key, value in document.items()},
        faults=tuple(work.faults),
        secrets=tuple(dict.fromkeys(work.secrets)),
        files=tuple(dict.fromkeys(work.files)),
    )


@dataclass(slots=True)
class _Interpolation:
    environ: Mapping[str, str]
    folder: Path
    faults: list[tuple[KeyPath, str]] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def value(self, path: KeyPath, value: Json) -> Json:
        match value:
            case dict():
                return {key: self.value((*path, key), inner) for key, inner in value.items()}
            case list():
                return [self.value((*path, number), inner) for number, inner in enumerate(value)]
            case str() if "$" in value:
                return _REFERENCE.sub(lambda found: self._resolved(path, found), value)
            case _:
                return value

    def _resolved(self, path: KeyPath, found: re.Match[str]) -> str:
        try:
            return self._resolve(path, found)
        except InvalidValueError as fault:
            self.faults.append((path, str(fault)))
            return found[0]

    def _resolve(self, path: KeyPath, found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        inside = found["inside"]
        if inside is None:
            raise InvalidValueError("${ without its closing brace: close it, or write $$ for a $")
        if "${" in inside:
            raise InvalidValueError("${…} cannot stand inside another one: write a plain default")
        if inside.startswith("file:"):
            file = self.folder / inside.removeprefix("file:")
            self.files.append(file)
            secret = read_secret(file)
            self._keep_secret(secret)
            return secret
        reference = _VARIABLE.fullmatch(inside)
        if reference is None:
            raise InvalidValueError(
                "${…} holds neither a variable's name nor file:PATH: correct it, or write $$ for a $"
            )
        name, default = reference["name"], reference["default"]
        value = self.environ.get(name)
        if default is not None and not value:
            return default
        if value is None:
            raise InvalidValueError(
                f"environment variable {name} is not set: set it, or write ${{{name}:-default}}"
            )
        if "arguments" in path and looks_secret(value):
            self._keep_secret(value)
        return value

    def _keep_secret(self, value: str) -> None:
        if len(value) >= MIN_LENGTH:
            self.secrets.append(value)
