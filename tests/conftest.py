"""What every test shares: a clean environment and no way out of this machine."""

import logging
import os
import socket
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The suite gives the same answer every time; HYPOTHESIS_PROFILE=explore looks for new examples.
settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# They wait for whole services and processes: begun last, each would keep a worker when the others are done.
LONG = ("tests/service/", "tests/cli/test_processes.py", "tests/observe/test_invariants.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("SSL_", "DRIFTWATCH_")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that would leave the machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            pytest.fail(f"a test tried to reach {address[0]}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Put logging back as it was: commands that run in this process set it up for themselves."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    names = [name for name in logging.root.manager.loggerDict if name.startswith("driftwatch")]
    levels = {name: logging.getLogger(name).level for name in ("driftwatch", *names)}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in (*levels, *logging.root.manager.loggerDict):
        if name.startswith("driftwatch"):
            logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))
