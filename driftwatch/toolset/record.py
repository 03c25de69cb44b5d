"""A tool list that was read completely, with its fingerprint."""

from dataclasses import dataclass

from driftwatch.model import Fingerprint, Json
from driftwatch.toolset.tools import Toolset


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetRecord:
    """One complete tool list to remember; bodies are stored once per content."""

    era: str
    credential: str
    revision: str
    fingerprint: Fingerprint
    tools: tuple[Json, ...]
    instructions: str | None
    per_tool: tuple[tuple[str, str], ...]
    """Name and digest of each tool, in the list's order."""
    further: tuple[tuple[str, tuple[Json, ...]], ...] = ()
    """Kind and entries of the other lists that are watched."""
    volatile: bool = False
    """Whether it changes at every read, and this is what the reads of one probe have in common."""

    @property
    def content(self) -> Toolset:
        """What the fingerprint was made of."""
        return Toolset(tools=self.tools, instructions=self.instructions, further=self.further)
