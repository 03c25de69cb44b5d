"""Checks: pure judgements of evidence, one module per family."""

import difflib
from collections.abc import Mapping

from driftwatch.checks import (
    auth,
    errors,
    load,
    logs,
    mcp,
    network,
    release,
    schema,
    session,
    timeouts,
    tls,
    tool,
    tools,
    transport,
)
from driftwatch.checks.base import Declaration, Found, NotChecked, Policy, Remembered, Verified, check
from driftwatch.checks.clients import CLIENTS, Client, client, client_limits
from driftwatch.checks.reads import Comparison, compare
from driftwatch.checks.runner import Scene, ask
from driftwatch.evidence import Evidence, Missing
from driftwatch.model import Era, Fingerprint, Result

__all__ = [
    "CLIENTS",
    "FAMILIES",
    "Client",
    "Declaration",
    "Found",
    "NotChecked",
    "Policy",
    "Remembered",
    "Verified",
    "by_id",
    "catalogue",
    "check",
    "client",
    "client_limits",
    "nearest",
    "run",
]

FAMILIES = (
    tls,
    network,
    transport,
    auth,
    mcp,
    session,
    tools,
    tool,
    schema,
    errors,
    timeouts,
    load,
    logs,
    release,
)
"""Every family, in the order of a report: what blocks the others comes first."""

catalogue: tuple[Declaration, ...] = tuple(
    declaration
    for family in FAMILIES
    for declaration in vars(family).values()
    if isinstance(declaration, Declaration)
)
"""Every check, in the order of a report."""

_BY_ID = {declaration.id: declaration for declaration in catalogue}


def run(
    evidence: Evidence,
    *,
    fingerprints: Mapping[Era, Fingerprint | Missing],
    remembered: Mapping[Era, Remembered | Missing],
    policy: Policy,
    compared: Comparison | None = None,
) -> tuple[Result, ...]:
    """Judge the evidence: every check of the catalogue once, in catalogue order. Never raises.

    An era without an entry in ``fingerprints`` or ``remembered`` has none. ``compared`` is what ``compare``
    makes of the evidence, where that was done already.
    """
    scene = Scene(
        evidence=evidence,
        fingerprints=fingerprints,
        remembered=remembered,
        policy=policy,
        compared=compared or compare(evidence.surfaces, evidence.replicas),
    )
    return tuple(ask(declaration, scene) for declaration in catalogue)


def by_id(check_id: str) -> Declaration:
    """One check's declaration. Raises KeyError for an id that does not exist; see ``nearest``."""
    return _BY_ID[check_id]


def nearest(check_id: str) -> str | None:
    """The id that a mistyped one most likely meant."""
    wanted = check_id.lower().replace("_", "-")
    folded = {known.lower(): known for known in _BY_ID}
    names = {known.lower().partition("/")[2]: known for known in _BY_ID}
    for table in (folded, names):
        close = difflib.get_close_matches(wanted, table, n=1, cutoff=0.6)
        if close:
            return table[close[0]]
    return None
