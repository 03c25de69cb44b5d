"""What one specimen is: a server, its one deviation, and what a full probe must say about it."""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from driftwatch.model import Era, State
from tests.specimens.mcp import Mcp

DUAL = (Era.MODERN, Era.LEGACY)

FAILED = State.FAILED
RISK = State.OBSERVED_RISK
NOT_CHECKED = State.NOT_CHECKED
VERIFIED = (State.VERIFIED, "")
"""Where everything else is blocked, and this is not."""


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """One programmable server."""

    name: str
    deviation: str
    """The one thing that it does otherwise than a healthy server, in a sentence."""
    make: Callable[[], Mcp] = Mcp
    eras: tuple[Era, ...] = DUAL
    """The surfaces that a probe finds, in order."""
    expect: Mapping[str, tuple[State, str]] = field(default_factory=dict)
    """Check id to (state, code), for every check that is not verified."""
    blocked: str | None = None
    """The code with which every check that is not in ``expect`` is not_checked; None: they are verified."""
    path: str = "/mcp"
    leaves_sessions: bool = False
    """True where DELETE does nothing."""
    target: Mapping[str, Any] = field(default_factory=dict)
    """How the probe's target is configured."""
    secure: bool = False
    """True: its address is an https one."""
    certificate: Callable[[], ssl.SSLContext] | None = None
    """What it shows there; None: nobody speaks TLS at that address."""
    handshake_only: bool = False
    """True: it never serves anything, and tells by an alert why a handshake failed."""

    def __str__(self) -> str:
        return self.name
