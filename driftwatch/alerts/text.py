"""Foreign text made harmless and short, and the few formats that every message shares (pure).

Everything that a watched server, a release or a receiver can choose goes through ``foreign`` before it stands
in a message: it must not move the cursor, hide, reorder, ping a room, or look like markup.
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo

NAME_LIMIT = 64
"""Characters of a name before it is cut."""

LINE_LIMIT = 280
"""Characters of one line of a message before it is cut."""

_RUN_SHOWN = 4
"""Of a run of hidden characters this many are spelled out; a hidden essay must not crowd out the message."""

_MARKS_KEPT = 2
"""Combining marks that one letter keeps; more than any language needs is a tower over the next line."""

# Letters by category, nothing on a screen: the Hangul fillers, the Braille blank, the Khmer inherent vowels.
_BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_MENTION = re.compile(
    r"@(?=everyone|here|channel|all\b|room\b)|(?<![\w.+-])@(?=\w)|(?<=<)(?=[@!#]|https?:|mailto:|/?at>)",
    re.IGNORECASE,
)
"""``@here``, ``<!channel>``, ``<#C1>``, ``<https://evil|text>``, ``<at>``; but not ``me@example.org``."""

_LINK = re.compile(r"\](?=[(\[])")
"""The middle of a Markdown link, ``[text](address)``: split, it is only text."""


def foreign(text: str, limit: int = LINE_LIMIT) -> str:
    r"""A foreign text as one harmless line of at most ``limit`` characters.

    Control, format, bidirectional, zero-width, tag, private and unassigned characters, lone surrogates,
    variation selectors and blank letters are spelled out (``\u200b``, ``\n``); mentions, chat links and
    Markdown links are broken by a space.
    """
    spelled = _MENTION.sub(_apart, plain(text, limit * 4))
    return clip(_LINK.sub("] ", spelled), limit)


def plain(text: str, limit: int = LINE_LIMIT) -> str:
    r"""A foreign text as one line that hides and moves nothing, for a page that escapes markup itself."""
    # Nobody needs more of it, and a text of megabytes must not cost seconds.
    text = text[: limit + 1]
    return clip(text if text.isascii() and text.isprintable() else _spell_out(text), limit)


def label(text: str) -> str:
    """A foreign name, cut at NAME_LIMIT."""
    return foreign(text, NAME_LIMIT)


def quoted(text: str) -> str:
    """A foreign name in double quotes."""
    return f'"{label(text)}"'


def clip(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis: never more than ``limit`` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def sentence(text: str, limit: int = LINE_LIMIT) -> str:
    """Prose of our own on one line, cut after a whole sentence where one ends within ``limit``."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    ends = [match.end() for match in re.finditer(r"[.!?](?= )", line[:limit])]
    return line[: ends[-1]] if ends else clip(line, limit)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 tool``, ``2 tools``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def joined(items: Iterable[str]) -> str:
    """``a, b and c``."""
    *names, last = items
    return f"{', '.join(names)} and {last}" if names else last


def within(items: Iterable[str], limit: int) -> str:
    """``a, b, c +4 more``: as many items as fit into ``limit`` characters."""
    names = list(items)
    shown = len(names)
    while shown > 1 and len(listed(names, shown)) > limit:
        shown -= 1
    return listed(names, shown)


def listed(items: Iterable[str], shown: int = 5) -> str:
    """``a, b, c``; with more than ``shown`` items ``a, b, c +4 more``."""
    names = list(items)
    rest = len(names) - shown
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:shown])} +{rest} more"


def moment(at: datetime, zone: tzinfo | None = None) -> str:
    """``2026-11-02 10:14 UTC (11:14 Europe/Berlin)``; the other zone's date where it differs."""
    utc, place = at.astimezone(UTC), _place(zone)
    told = f"{utc:%Y-%m-%d %H:%M} UTC"
    return f"{told} ({_local(at, zone, utc)} {place})" if place else told


def period(start: datetime, end: datetime, zone: tzinfo | None = None) -> str:
    """``2026-11-02 08:00 to 10:14 UTC (09:00 to 11:14 Europe/Berlin)``; one time within a minute."""
    if start.replace(second=0, microsecond=0) == end.replace(second=0, microsecond=0):
        return moment(start, zone)
    first, last, place = start.astimezone(UTC), end.astimezone(UTC), _place(zone)
    told = f"{first:%Y-%m-%d %H:%M} to {_local(last, UTC, first)} UTC"
    if not place:
        return told
    return f"{told} ({_local(start, zone, first)} to {_local(end, zone, start.astimezone(zone))} {place})"


def _place(zone: tzinfo | None) -> str | None:
    key = getattr(zone, "key", None)
    return None if key in {"UTC", "Etc/UTC"} else key


def _local(at: datetime, zone: tzinfo | None, beside: datetime) -> str:
    """The time, with its date where that is another one than what stands beside it."""
    local = at.astimezone(zone)
    return f"{local:%H:%M}" if local.date() == beside.date() else f"{local:%Y-%m-%d %H:%M}"


def duration(span: timedelta) -> str:
    """The two largest units: ``45 s``, ``2 h 14 min``, ``3 d 4 h``."""
    seconds = max(0, round(span.total_seconds()))
    parts: list[str] = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        number, seconds = divmod(seconds, size)
        if parts or number:
            parts.append(f"{number} {unit}" if number else "")
        if len(parts) == 2:  # noqa: PLR2004 - two units are read at a glance
            break
    return " ".join(part for part in parts if part) or "0 s"


def _apart(match: re.Match[str]) -> str:
    return f"{match.group()} "


def _spell_out(text: str) -> str:
    parts: list[str] = []
    hidden = marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category == "Mn" else 0
        if not _hides(character, category) and marks <= _MARKS_KEPT:
            _say_rest(parts, hidden)
            hidden = 0
            parts.append(" " if category == "Zs" else character)
            continue
        hidden += 1
        if hidden <= _RUN_SHOWN:
            parts.append(_escape(character))
    _say_rest(parts, hidden)
    return "".join(parts)


def _say_rest(parts: list[str], hidden: int) -> None:
    if hidden > _RUN_SHOWN:
        parts.append(f"(+{hidden - _RUN_SHOWN} hidden)")


def _hides(character: str, category: str) -> bool:
    return (
        category in _HIDDEN_CATEGORIES
        or character in _BLANK_LETTERS
        or "\ufe00" <= character <= "\ufe0e"
        or "\U000e0100" <= character <= "\U000e01ef"
    )


def _escape(character: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    if short:
        return short
    point = ord(character)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"  # noqa: PLR2004 - the basic plane's end
