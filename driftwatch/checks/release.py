"""What a release changed: the toolset against the one that was accepted."""

from driftwatch.checks.base import Found, NotChecked, Remembered, Verdict, check
from driftwatch.checks.sources import item
from driftwatch.model import Fingerprint, Severity

_SHORT = 12
"""Hex digits of a digest that a person compares."""


@check(
    id="release/fingerprint",
    title="The toolset is not the one that was accepted",
    severity=Severity.HEADS_UP,
    sources=(item(13),),
)
def fingerprint(fingerprint: Fingerprint, remembered: Remembered) -> Verdict:
    """The fingerprint of the complete tool list against the accepted one, per era and credential.

    The fingerprint has two halves: the contract (names and input schemas) and the surface (everything else
    that a model reads: descriptions, titles, annotations, output schemas, instructions). A list that was
    not read to its end has none, and is compared with nothing.

    Why it matters:
        Agents, their prompts and the people who approved your tools rely on the list as it was. A renamed
        tool or a dropped parameter breaks them without a message, and a rewritten description changes what
        they do.

    How to fix it:
        If the change is meant, accept it: `driftwatch accept` with the new fingerprint makes it the
        baseline. If not, `driftwatch diff` names every tool that changed; look at the release that brought
        it.
    """
    if fingerprint.pair == remembered.accepted:
        return ()
    algorithm, _, digests = remembered.accepted.partition(":")
    if algorithm != fingerprint.algorithm:
        reason = f"the baseline was recorded with {algorithm:.20}, this is {fingerprint.algorithm}"
        return NotChecked(reason, "other-algorithm")
    contract, _, surface = digests.partition(".")
    changed = "names or input schemas" if contract != fingerprint.contract else "texts only"
    found = Found(
        code="changed",
        subject="tools/list",
        message=remembered.difference or f"The tool list differs from the accepted one: {changed}.",
        expected=_short(contract, surface),
        measured=_short(fingerprint.contract, fingerprint.surface),
    )
    return [found]


def _short(contract: str, surface: str) -> str:
    return f"contract {contract[:_SHORT]}, surface {surface[:_SHORT]}"
