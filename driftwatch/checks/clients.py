"""What MCP clients are known to take: revisions, and how long a name and a description may be.

Clients do not publish these figures as a contract, so they are data with a date: ``client_limits`` lays a
server's own figures over them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from driftwatch.model import KNOWN_REVISIONS

FIRST_ANSWER_S = 5.0
"""Seconds that a client waits for its first answer where nobody set a limit: its HTTP library's default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client's limits."""

    name: str
    oldest: str
    """The oldest revision it negotiates."""
    newest: str
    description_limit: int
    """Characters (code points) of a tool's description that it keeps."""
    name_limit: int
    """Characters of a tool's name that it accepts."""

    def __post_init__(self) -> None:
        """Raise ValueError for a revision that does not exist or a limit below one."""
        for revision in (self.oldest, self.newest):
            if revision not in KNOWN_REVISIONS:
                raise ValueError(f"{revision!r} is no protocol revision: {', '.join(KNOWN_REVISIONS)}")
        if min(self.description_limit, self.name_limit) < 1:
            raise ValueError("a limit is at least 1 character")


_FIGURES = {"description_limit": "description", "name_limit": "name", "oldest": "oldest", "newest": "newest"}
"""What a client has, and what the configuration calls it."""

CLIENTS_AS_OF = date(2026, 11, 30)
"""When these figures were last compared with the checks reference."""

CLIENTS = (
    Client(
        name="Claude.ai",
        oldest="2024-11-05",
        newest="2026-07-28",
        description_limit=1024,
        name_limit=64,
    ),
    Client(
        name="ChatGPT",
        oldest="2025-03-26",
        newest="2025-06-18",
        description_limit=1024,
        name_limit=64,
    ),
    Client(
        name="Claude Code",
        oldest="2024-11-05",
        newest="2025-06-18",
        description_limit=8192,
        name_limit=128,
    ),
)


def client_limits(overrides: Mapping[str, Mapping[str, str | int]]) -> tuple[Client, ...]:
    """The table with a server's own figures laid over it, by client name.

    A client that the table does not know is added and must give every figure. Raises ValueError for a figure
    that does not exist, is missing or is out of range; the message names the client.
    """
    table = {client.name: client for client in CLIENTS}
    for name, figures in overrides.items():
        try:
            table[name] = client(name, figures)
        except ValueError as error:
            raise ValueError(f"limits of {name!r}: {error}") from error
    return tuple(table.values())


def client(name: str, figures: Mapping[str, str | int]) -> Client:
    """One client with these figures, the others as the table has them.

    Raises ValueError for a figure that does not exist, is missing or is out of range.
    """
    known = next((client for client in CLIENTS if client.name == name), None)
    if known is None and (missing := _FIGURES.keys() - figures.keys()):
        keys = ", ".join(key for figure, key in _FIGURES.items() if figure in missing)
        raise ValueError(f"this client is not in driftwatch's own table: {keys} missing")
    try:
        return replace(known, **figures) if known else Client(name=name, **figures)  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(str(error)) from error
