"""The exception tree: what driftwatch raises, and what it exits with.

::

    DriftwatchError
    ├── ConfigError        the configuration is wrong (exit 2); carries every problem at once
    ├── UsageError         the command was used wrongly (exit 2)
    │   └── UnknownError   it names something that is not there (exit 2)
    ├── EvidenceError      a saved probe cannot be read (exit 2)
    ├── StoreError         the database cannot be used (exit 3)
    │   └── StoreBusyError another driftwatch holds it (exit 3)
    └── ServiceError       the service cannot start or go on (exit 3)

A fault of a probed server is never an exception: it is evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass


class DriftwatchError(Exception):
    """Anything that ends a command with a message instead of a traceback."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a configuration file."""

    file: str
    line: int | None
    key: str
    message: str
    """What is wrong and what to do about it."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class ConfigError(DriftwatchError):
    """The configuration is wrong; every problem is reported at once."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Keep the problems in the order of the file."""
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class UsageError(DriftwatchError):
    """A command was given something it cannot use."""

    exit_code = 2


class UnknownError(UsageError):
    """A server, a fingerprint, an incident, a message or the like that is not there, or not any more."""


class EvidenceError(DriftwatchError):
    """A saved probe cannot be read: not ours, damaged, or of a newer schema."""

    exit_code = 2


class StoreError(DriftwatchError):
    """The database cannot be opened, read or written; the message says why and what to do."""


class StoreBusyError(StoreError):
    """Another driftwatch holds the instance lock of this database."""


class ServiceError(DriftwatchError):
    """The service cannot start or go on, for example because its port is taken."""
