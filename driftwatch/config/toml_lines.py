"""Where each key of a TOML document stands.

``tomllib`` tells no lines. This scanner walks a document that ``tomllib`` has already accepted, so it only
has to know where keys and values begin and end, not what they mean.
"""

import re
import tomllib
from bisect import bisect_left
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys, and positions in arrays counted from zero."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'""")
_STRING = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*"""(?:"{0,2})'''
    r"""|'''(?:[^']|'(?!''))*'''(?:'{0,2})"""
    r'''|"(?:[^"\\]|\\.)*"'''
    r"""|'[^']*'""",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")


def index_lines(text: str) -> dict[KeyPath, int]:
    """The line, counted from one, of every table, key and array item of a valid document.

    A table stands at its header; one that is only implied, at the first key that implies it.
    """
    return _Scanner(text).scan()


def find_line(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """The line of a key, or of the nearest table around it that is written down."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._newlines = [found.start() for found in re.finditer("\n", text)]
        self._lines: dict[KeyPath, int] = {}
        self._array_lengths: dict[KeyPath, int] = {}
        """Of arrays of tables only."""

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self._next() != "":
            if self._text.startswith("[", self._position):
                table = self._header()
            else:
                self._pair(table)
        return self._lines

    def _next(self) -> str:
        """The character after blanks and comments; empty at the end."""
        self._skip(_BLANK)
        return self._text[self._position : self._position + 1]

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._position)
        if found is None:  # pragma: no cover - tomllib has refused such a document
            raise ValueError(f"not TOML at character {self._position}")
        self._position = found.end()
        return found[0]

    def _line(self) -> int:
        return bisect_left(self._newlines, self._position) + 1

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._next()
            part = self._skip(_KEY)
            parts.append(part if part[0] not in "\"'" else tomllib.loads(f"key = {part}")["key"])
            if self._next() != ".":
                return parts
            self._position += 1

    def _header(self) -> KeyPath:
        line = self._line()
        brackets = 2 if self._text.startswith("[[", self._position) else 1
        self._position += brackets
        *parents, name = self._key()
        self._position += brackets
        path: KeyPath = ()
        for part in parents:
            path = self._inside((*path, part))
            self._lines.setdefault(path, line)
        path = (*path, name)
        if brackets == 1:
            path = self._inside(path)
        else:
            self._lines.setdefault(path, line)
            length = self._array_lengths.get(path, 0)
            self._array_lengths[path] = length + 1
            path = (*path, length)
        self._lines[path] = line
        return path

    def _inside(self, path: KeyPath) -> KeyPath:
        """Inside an array of tables a header means the last of them."""
        length = self._array_lengths.get(path)
        return path if length is None else (*path, length - 1)

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path = table
        for part in self._key():
            path = (*path, part)
            self._lines.setdefault(path, line)
        self._position += 1  # the equals sign, where _key has stopped
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        opening = self._next()
        if opening == "[":
            self._position += 1
            number = 0
            while self._next() != "]":
                item = (*path, number)
                self._lines[item] = self._line()
                self._value(item)
                self._comma()
                number += 1
            self._position += 1
        elif opening == "{":
            self._position += 1
            while self._next() != "}":
                self._pair(path)
                self._comma()
            self._position += 1
        else:
            self._skip(_STRING if opening in "\"'" else _SCALAR)

    def _comma(self) -> None:
        if self._next() == ",":
            self._position += 1
