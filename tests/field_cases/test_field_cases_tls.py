"""Failures that people reported about certificates, replayed over real handshakes.

Each test is named by the case's id. docs/decisions/0003-field-cases.md says where an expectation was decided.
"""

import itertools
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from driftwatch.model import EventKind, State
from tests.servers.certificates import NOW, Issued, intermediate
from tests.specimens.mcp import Mcp
from tests.specimens.replay import VERIFIED, one_message
from tests.specimens.watching import Watch, watching

HOST = "127.0.0.1"
HOUR = 1 / 24


@asynccontextmanager
async def over_tls(folder: Path, ca_file: Path, context: ssl.SSLContext) -> AsyncIterator[Watch]:
    """A server with a past, watched at the time that certificates are made for."""
    async with watching(Mcp(), folder, context=context, ca_file=ca_file) as watched:
        watched.clock.wall = NOW
        watched.running.now = watched.clock.now
        await watched.look(2)
        assert watched.alerts == []
        yield watched


def leaf(left: float, lifetime: float) -> Issued:
    """A certificate with so many hours left of so many."""
    return intermediate().issue(HOST, days=((left - lifetime) * HOUR, left * HOUR))


async def test_chain_incomplete(tmp_path: Path, ca_file: Path) -> None:
    issued = leaf(80 * 24, 90 * 24)
    context = issued.context()
    async with over_tls(tmp_path, ca_file, context) as watched:
        issued.show(context, chain=False)
        await one_message(watched)
        assert watched.state("tls/chain") == (State.FAILED, "missing-intermediate")
        assert watched.state("tls/expiry") == VERIFIED
        assert watched.state("transport/endpoint") == (State.NOT_CHECKED, "certificate")
        assert watched.pairs == []


async def test_six_day_cert(tmp_path: Path, ca_file: Path) -> None:
    context = leaf(75, 160).context()
    async with over_tls(tmp_path, ca_file, context) as watched:
        assert watched.state("tls/expiry") == VERIFIED
        leaf(30, 160).show(context)
        await one_message(watched, kind=EventKind.TLS_REMINDER)
        assert watched.state("tls/expiry") == (State.OBSERVED_RISK, "within-1-days")


async def test_two_certs_served(tmp_path: Path, ca_file: Path) -> None:
    old, new = leaf(20, 90 * 24), leaf(80 * 24, 90 * 24)
    context = new.context()
    async with over_tls(tmp_path, ca_file, context) as watched:
        nodes = itertools.cycle((old, new))

        def next_node(*_: object) -> None:
            next(nodes).show(context)

        context.sni_callback = next_node
        await one_message(watched, kind=EventKind.TLS_REMINDER)
        assert watched.state("tls/expiry") == (State.OBSERVED_RISK, "within-1-days")
        assert watched.last is not None
        (finding,) = watched.last.result("tls/expiry").findings
        assert (
            f"another certificate is served too: serial {new.certificate.serial_number:x}" in finding.measured
        )
        assert watched.pairs[0] is not None
