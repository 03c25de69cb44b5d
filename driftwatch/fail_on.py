"""What may fail a build; not among the words of ``model``, which ``driftwatch --help`` would have to load."""

from enum import StrEnum


class FailOn(StrEnum):
    """What a build counts against a server. Drift always does."""

    FAILED = "failed"
    """A failed check."""
    RISK = "risk"
    """A failed check or an observed risk."""
    NOT_CHECKED = "not-checked"
    """A failed check, or one that something kept from being checked."""
    DRIFT = "drift"
    """Only drift: what is as bad as in the baseline is let through."""
