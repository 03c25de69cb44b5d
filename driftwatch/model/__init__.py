"""The words that every room shares, as types.

Nothing here acts: these are the frozen values that travel along the arrows
``probe -> Evidence -> checks -> Report -> transitions -> store -> alerts``, and what
can be asked of them alone.
"""

from driftwatch.model.events import Event, EventKind, Silence
from driftwatch.model.hosts import is_loopback
from driftwatch.model.numbers import integer
from driftwatch.model.releases import DeployState, DeployVerdict, Release
from driftwatch.model.reports import Certificate, Fingerprint, Report, SurfaceSummary
from driftwatch.model.requests import ProbeRequest
from driftwatch.model.results import DEPTH_CODE, Finding, Result
from driftwatch.model.revisions import KNOWN_REVISIONS, MODERN_REVISION, position
from driftwatch.model.states import Depth, Era, Json, Level, Severity, State, Trigger

__all__ = [
    "DEPTH_CODE",
    "KNOWN_REVISIONS",
    "MODERN_REVISION",
    "Certificate",
    "DeployState",
    "DeployVerdict",
    "Depth",
    "Era",
    "Event",
    "EventKind",
    "Finding",
    "Fingerprint",
    "Json",
    "Level",
    "ProbeRequest",
    "Release",
    "Report",
    "Result",
    "Severity",
    "Silence",
    "State",
    "SurfaceSummary",
    "Trigger",
    "integer",
    "is_loopback",
    "position",
]
