"""The revisions of the protocol."""

KNOWN_REVISIONS = ("2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""Every protocol revision, oldest first. An enumerated set: positions are compared, never the strings."""

MODERN_REVISION = "2026-07-28"


def position(revision: str) -> int:
    """The place of a revision in KNOWN_REVISIONS; an unknown one counts as the newest."""
    known = revision in KNOWN_REVISIONS
    return KNOWN_REVISIONS.index(revision) if known else len(KNOWN_REVISIONS) - 1
