"""A difference of two tool lists, for a terminal and as Markdown.

Whatever the watched server chose is neutralised, as in every other form of a report.
"""

import json
import textwrap
from collections.abc import Iterator

from driftwatch.model import Json
from driftwatch.report.markdown import escaped
from driftwatch.report.terminal import plain
from driftwatch.toolset import Change, Diff
from driftwatch.toolset.change import BREAKING, CLASSES, COMPATIBLE, COSMETIC, TEXT

_COLOURS = {
    BREAKING: "\x1b[1;31m",
    COMPATIBLE: "\x1b[32m",
    TEXT: "\x1b[33m",
    COSMETIC: "\x1b[2m",
}
_REMOVED, _ADDED, _BOLD, _RESET = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"
_WIDTH = max(map(len, CLASSES))
_SPACE = " " * (2 + _WIDTH + 2)
_NARROWEST = 24
_TEXT = 300
_FLAGS = {"new-link": "new link", "widens-harm": "allows more harm"}


def changes_to_text(
    subject: str, before: str, after: str, diff: Diff, *, colour: bool, width: int | None = None
) -> str:
    """One surface's changes as lines, worst first; with a width they are folded.

    Colours only repeat what a word or a sign already says.
    """

    def paint(text: str, code: str) -> str:
        return f"{code}{text}{_RESET}" if code and colour else text

    def folded(text: str, code: str = "") -> str:
        if width is None:
            return paint(text, code)
        parts = textwrap.wrap(text, max(width - len(_SPACE), _NARROWEST), break_on_hyphens=False)
        return below.join(paint(part, code) for part in parts)

    below = f"\n{_SPACE}"
    lines = [paint(f"{plain(subject)}: {before} -> {after}", _BOLD)]
    if not diff.changes:
        lines.append("  no difference")
    for change in diff.changes:
        word = paint(f"{change.klass:<{_WIDTH}}", _COLOURS[change.klass])
        flags = paint(f"[{_flags(change)}]", _COLOURS[BREAKING]) if change.flags else ""
        beside = "" if not flags else "  " if width is None else below
        lines.append(f"  {word}  {folded(plain(change.message, _TEXT))}{beside}{flags}")
        if _is_long(change):
            lines.append(f"{_SPACE}{folded(f'- {plain(_one_line(change.before), _TEXT)}', _REMOVED)}")
            lines.append(f"{_SPACE}{folded(f'+ {plain(_one_line(change.after), _TEXT)}', _ADDED)}")
    return "\n".join(lines)


def changes_to_markdown(subject: str, before: str, after: str, diff: Diff) -> str:
    """One surface's changes as a table of GitHub-flavoured Markdown."""
    return "\n".join(_markdown(subject, before, after, diff)) + "\n"


def _markdown(subject: str, before: str, after: str, diff: Diff) -> Iterator[str]:
    yield f"### {escaped(subject)}"
    yield ""
    yield f"`{before}` -> `{after}`"
    yield ""
    if not diff.changes:
        yield "No difference."
        return
    yield f"**{escaped(diff.summary)}**"
    yield ""
    yield "| class | tool | what | old | new |"
    yield "| --- | --- | --- | --- | --- |"
    for change in diff.changes:
        flags = f" **{_flags(change)}**" if change.flags else ""
        what = f"{escaped(change.message, _TEXT)}{flags}"
        tool = escaped(change.tool or ", ".join(change.tools))
        yield f"| {change.klass} | {tool} | {what} | {_cell(change.before)} | {_cell(change.after)} |"


def _is_long(change: Change) -> bool:
    """Whether old and new are texts of which the sentence can only show a part."""
    return isinstance(change.before, str) and isinstance(change.after, str) and change.klass == TEXT


def _flags(change: Change) -> str:
    return ", ".join(_FLAGS.get(flag, flag) for flag in change.flags)


def _cell(value: Json) -> str:
    return "" if value is None else escaped(_one_line(value))


def _one_line(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
