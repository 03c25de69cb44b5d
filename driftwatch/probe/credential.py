"""The credential of a probe, and how it is kept out of what is recorded."""

from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Header values that authorise the probe; applied at the wire only, recorded as ``<label>``."""

    label: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)

    @classmethod
    def bearer(cls, label: str, token: str) -> Self:
        """An ``Authorization: Bearer`` header."""
        return cls(label=label, headers=(("Authorization", f"Bearer {token}"),))
