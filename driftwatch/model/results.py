"""What a check says: its result, and what it holds against a server."""

from dataclasses import dataclass

from driftwatch.model.states import Era, Json, Severity, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check holds against a server."""

    severity: Severity
    code: str
    """Stable and persisted: alerts compare codes, never messages."""
    subject: str
    """What it is about: a tool's name, a header, a method; never a list."""
    message: str
    """One sentence for a person; foreign text in it is not neutralised yet."""
    expected: str
    measured: str
    era: Era | None = None
    """The surface it was seen on, set by the runner; None where eras do not matter."""
    pointer: str | None = None
    """A JSON pointer into the subject."""
    clients: tuple[str, ...] = ()
    """The clients that are hurt, by name."""

    def to_json(self) -> dict[str, Json]:
        """The finding as reports, remembered states and events carry it, field by field."""
        return {
            "severity": self.severity.value,
            "code": self.code,
            "era": self.era.value if self.era else None,
            "subject": self.subject,
            "pointer": self.pointer,
            "message": self.message,
            "expected": self.expected,
            "measured": self.measured,
            "clients": list(self.clients),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of one check on one probe."""

    check: str
    state: State
    version: int = 1
    """The version of the check's declaration."""
    code: str | None = None
    """The code of the worst finding, or why it was not checked; None for a plain verified."""
    reason: str | None = None
    """Always there for not_checked; a remark otherwise."""
    cause: str | None = None
    """The id of the root check that blocks this one, or that tells of what it found."""
    findings: tuple[Finding, ...] = ()


DEPTH_CODE = "depth"
"""The reserved code of a check that this probe's depth does not exercise; transitions ignore it."""
