"""Trust settings and the certificate facts of one connection."""

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, eq=False)
class Trust:
    """One trust setting, ready to use."""

    name: str
    """``default`` or the configured CA file's name."""
    context: ssl.SSLContext


class TrustStore:
    """One SSLContext for each distinct trust setting: building one costs about 20 ms."""

    def get(
        self, *, ca_file: Path | None = None, client_cert: Path | None = None, client_key: Path | None = None
    ) -> Trust:
        """The shared trust of a setting. Raises OSError or ssl.SSLError when a file cannot be used."""
        raise NotImplementedError
