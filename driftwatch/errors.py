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

import difflib
from collections.abc import Iterable, Sequence
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


NAMES_SHOWN = 10
"""Of a fleet, where a name is not in it."""


def no_server(name: str, known: Iterable[str]) -> UnknownError:
    """The error for a name that no server has; it says which was probably meant, or which there are."""
    return UnknownError(f"no server is named {name!r}; {or_meant(name, known)}")


def or_meant(name: str, known: Iterable[str]) -> str:
    """``did you mean 'api'?`` for a name that is nearly one of a server, else the names there are."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    more = f" +{len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"configured: {', '.join(names[:NAMES_SHOWN]) or 'none'}{more}"


class EvidenceError(DriftwatchError):
    """A saved probe cannot be read: not ours, damaged, or of a newer schema."""

    exit_code = 2


class StoreError(DriftwatchError):
    """The database cannot be opened, read or written; the message says why and what to do."""


class StoreBusyError(StoreError):
    """Another driftwatch holds the instance lock of this database."""


class ServiceError(DriftwatchError):
    """The service cannot start or go on, for example because its port is taken."""
