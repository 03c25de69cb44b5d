"""What an observation needs to know about a configured server."""

from dataclasses import dataclass

from driftwatch import checks, transitions
from driftwatch.config import Config, Server
from driftwatch.errors import UsageError
from driftwatch.probe import Target


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
