"""A text for a terminal, line by line: wrapped to its width, coloured where that is wanted."""

import textwrap
from dataclasses import dataclass, field

from driftwatch.model import State

MIN_WIDTH = 40

COLOURS = {
    State.FAILED: "\x1b[1;31m",
    State.OBSERVED_RISK: "\x1b[33m",
    State.VERIFIED: "\x1b[32m",
    State.NOT_CHECKED: "\x1b[36m",
}
"""Of the four states; a colour only repeats what a word says already."""

BOLD = "\x1b[1m"
_RESET = "\x1b[0m"


@dataclass(slots=True)
class Page:
    """What has been written so far."""

    colour: bool
    width: int
    """Columns of the longest line, unless an address or an id is longer; at least MIN_WIDTH."""
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Widen what is too narrow to be read."""
        self.width = max(self.width, MIN_WIDTH)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines)

    def paint(self, text: str, code: str) -> str:
        """A part of a line in a colour."""
        return f"{code}{text}{_RESET}" if self.colour and code else text

    def gap(self) -> None:
        """Leave a line empty."""
        self.lines.append("")

    def write(self, text: str, *, indent: int = 0, label: str = "", code: str = "") -> None:
        """Wrapped text; a label stands before its first line, within the indent."""
        first, *rest = textwrap.wrap(
            text,
            width=max(self.width - indent, MIN_WIDTH // 2),
            break_on_hyphens=False,
            break_long_words=False,  # ids and addresses are there to be copied
        ) or [""]
        space = " " * (indent - len(label) - 2) if label else ""
        head = f"  {self.paint(label, code)}{space}" if label else " " * indent
        self.lines.append(f"{head}{first}".rstrip())
        self.lines.extend(f"{' ' * indent}{line}" for line in rest)
