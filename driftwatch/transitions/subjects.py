"""Subjects: what a state, an incident or an event is about, as the short string that is persisted."""

from collections.abc import Container
from typing import TypeGuard

from driftwatch.model import Era

CHECK = "check:"
"""How the subjects of checks begin."""

TOOLSET = "toolset:"
"""How the subjects of tool lists begin."""

REVISION = "revision:"
"""How the subjects begin whose values name the revisions that a server speaks in an era."""

ERAS = "eras"
"""The subject whose value names the eras that a server speaks."""


def check_subject(check: str) -> str:
    """The subject of a check's state."""
    return f"{CHECK}{check}"


def toolset_subject(era: Era, credential: str) -> str:
    """The subject of a toolset: each credential may be shown another list."""
    return f"{TOOLSET}{era}:{credential}"


def revision_subject(era: Era) -> str:
    """The subject of the revisions that are spoken in an era."""
    return f"{REVISION}{era}"


def is_check(subject: str | None) -> TypeGuard[str]:
    """Whether a subject is a check's."""
    return subject is not None and subject.startswith(CHECK)


def is_toolset(subject: str | None) -> TypeGuard[str]:
    """Whether a subject is that of a tool list."""
    return subject is not None and subject.startswith(TOOLSET)


def is_revision(subject: str | None) -> TypeGuard[str]:
    """Whether a subject is that of the revisions of an era."""
    return subject is not None and subject.startswith(REVISION)


def is_spoken(subject: str) -> bool:
    """Whether a subject's value names what the server speaks: eras, or the revisions of one."""
    return subject == ERAS or is_revision(subject)


def is_accepted_by_hand(subject: str) -> bool:
    """Whether a person may say that a subject's value is meant."""
    return is_toolset(subject) or is_revision(subject)


def check_of(subject: str) -> str:
    """The id of the check that a subject is about; any other subject as it is."""
    return subject.removeprefix(CHECK)


def surface_of(subject: str) -> tuple[str, str]:
    """The era and the credential of a toolset's subject."""
    _, era, credential = subject.split(":", 2)
    return era, credential


def named_together(eras: Container[str]) -> str:
    """``modern and legacy``: the eras among these, always in the same order."""
    return " and ".join(era for era in Era if era in eras)
