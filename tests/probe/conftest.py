"""A wire to servers on loopback, whatever they are called."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from driftwatch.probe.wire.connect import Address
from driftwatch.probe.wire.exchange import Limits, Wire
from driftwatch.probe.wire.tls import Trust, TrustStore
from tests.servers import certificates

OpenWire = Callable[..., AbstractAsyncContextManager[Wire]]


class Loopback:
    """Every name is this machine."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        return [Address(ip_address("127.0.0.1"), port)]


@pytest.fixture(scope="session")
def ca_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificates.write_root(tmp_path_factory.mktemp("roots"))


@pytest.fixture(scope="session")
def trust(ca_file: Path) -> Trust:
    return TrustStore().get(ca_file=ca_file)


@pytest.fixture
def open_wire(trust: Trust) -> OpenWire:
    """A wire to a URL; limits are given by name."""

    def make(
        url: str,
        *,
        credential: Any = None,
        resolver: Any = None,
        tls: Trust | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        **limits: Any,
    ) -> Wire:
        return Wire(
            url=url,
            tls=tls or trust,
            resolver=resolver or Loopback(),
            clock=clock,
            credential=credential,
            limits=Limits(**limits),
        )

    return make
