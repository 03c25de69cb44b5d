from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from driftwatch import cli
from driftwatch.demo.sample import SampleServer
from tests.cli.running import sample_server


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def driftwatch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """The command line in an empty folder, run in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str | Path) -> Ended:
        monkeypatch.setattr("sys.argv", ["driftwatch", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return run


@pytest.fixture
def sample() -> Iterator[tuple[SampleServer, str]]:
    with sample_server() as running:
        yield running
