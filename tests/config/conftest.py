"""Configurations as files."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from driftwatch.config import Config, load
from driftwatch.errors import ConfigError

Load = Callable[..., Config]
Problems = Callable[..., list[str]]


@pytest.fixture
def loaded(tmp_path: Path) -> Load:
    """Write a text to config.toml and load it."""

    def load_text(
        text: str | bytes,
        environ: Mapping[str, str] | None = None,
        known_checks: Collection[str] | None = None,
    ) -> Config:
        path = tmp_path / "config.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load(path, environ or {}, known_checks=known_checks)

    return load_text


@pytest.fixture
def problems(tmp_path: Path, loaded: Load) -> Problems:
    """Every problem of a text, as ``line: key: message``."""

    def problems_of(
        text: str | bytes,
        environ: Mapping[str, str] | None = None,
        known_checks: Collection[str] | None = None,
    ) -> list[str]:
        with pytest.raises(ConfigError) as raised:
            loaded(text, environ, known_checks)
        return [line.removeprefix(f"{tmp_path}/config.toml:") for line in str(raised.value).splitlines()]

    return problems_of
