"""The states of a check and how much they hurt; the eras, depths and triggers of a probe."""

from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict with str keys."""


class State(StrEnum):
    """The state of a check. There are four, and there is never a score."""

    VERIFIED = "verified"
    FAILED = "failed"
    OBSERVED_RISK = "observed_risk"
    NOT_CHECKED = "not_checked"

    @property
    def words(self) -> str:
        """The state as people read it: ``observed risk`` instead of ``observed_risk``."""
        return self.value.replace("_", " ")


class Severity(StrEnum):
    """How much a finding hurts, in the words of the checks reference."""

    WILL_BREAK = "will break"
    HEADS_UP = "heads up"
    NOTE = "note"

    @property
    def state(self) -> State:
        """The state that one finding of this severity gives to its check."""
        return State.FAILED if self is Severity.WILL_BREAK else State.OBSERVED_RISK


class Level(StrEnum):
    """The severity of an event, by which channels filter."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Zero for info, two for error."""
        return list(Level).index(self)


class Era(StrEnum):
    """The three ways in which an MCP server can be spoken to over HTTP."""

    MODERN = "modern"
    LEGACY = "legacy"
    HTTP_SSE = "http+sse"


class Depth(StrEnum):
    """How much one probe asks: the handshake and the list, or the deliberate bad requests too."""

    LIGHT = "light"
    FULL = "full"


class Trigger(StrEnum):
    """Why a probe was made."""

    INTERVAL = "interval"
    DEPLOY = "deploy"
    CONFIRM = "confirm"
    MANUAL = "manual"
