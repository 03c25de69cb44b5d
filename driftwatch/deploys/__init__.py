"""Releases: what is to be read after one was announced, when it has settled, and what it did. Pure."""

from driftwatch.deploys import attribution
from driftwatch.deploys.outcome import GATES, DeployOutcome, verdict
from driftwatch.deploys.requests import PRIORITY, probes
from driftwatch.deploys.settling import (
    LONGEST_PAUSE,
    Look,
    Phase,
    Progress,
    Rules,
    advance,
    anew,
    next_read,
    phase,
)

__all__ = [
    "GATES",
    "LONGEST_PAUSE",
    "PRIORITY",
    "DeployOutcome",
    "Look",
    "Phase",
    "Progress",
    "Rules",
    "advance",
    "anew",
    "attribution",
    "next_read",
    "phase",
    "probes",
    "verdict",
]
