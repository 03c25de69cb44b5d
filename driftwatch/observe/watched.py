"""What an observation needs: who visits, and what is known of a configured server."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from driftwatch import checks, transitions
from driftwatch.clock import Clock
from driftwatch.config import Config, Server
from driftwatch.errors import UsageError
from driftwatch.evidence import Evidence
from driftwatch.model import Depth, Trigger
from driftwatch.probe import Pause, Resolver, Target, TrustStore, probe


class Prober(Protocol):
    """Makes one visit."""

    async def __call__(self, target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        """Visit the target. Never raises for the server's fault."""


def prober(*, clock: Clock, resolver: Resolver, pause: Pause = asyncio.sleep) -> Prober:
    """A prober with one set of TLS contexts for all its visits; ``pause`` waits before a retry."""
    trust = TrustStore()

    async def visit(target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        return await probe(
            target,
            depth=depth,
            trigger=trigger,
            trust=trust,
            resolver=resolver,
            now=clock.now,
            pause=pause,
        )

    return visit


def checks_policy(config: Config, server: Server) -> checks.Policy:
    """What the checks may know of a server's settings. Raises UsageError for limits that make no sense."""
    try:
        clients = checks.client_limits(server.client_limits)
    except ValueError as error:
        raise UsageError(f'server "{server.name}".limits: {error}') from error
    return checks.Policy(off=frozenset(server.checks.off), clients=clients, tls_days=config.alerts.tls_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Everything an observation needs to know about one configured server."""

    target: Target
    tags: tuple[str, ...]
    revision: str
    """A digest of the settings that shape results; a new one re-bases silently."""
    checks: checks.Policy
    transitions: transitions.Policy
