"""The server's own log files, searched for what a probe carried. Counts come out, never content."""

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from driftwatch.evidence import LogFile, LogSearch, Missing
from driftwatch.probe.wire.credential import Credential, forms, secret_parts
from driftwatch.probe.wire.place import place

MARKER_HEADER = "X-Driftwatch-Probe"
"""The header that a full probe carries where log files are configured; its value is new each time."""

MAX_FILES = 50
"""Files of one search, newest first."""
MAX_BYTES = 64 * 2**20
"""Bytes of one search, after decompression. Of a plain file that is larger, the end is read."""
_CHUNK = 256 * 1024

_UNREADABLE = (OSError, EOFError, zlib.error)  # gzip.BadGzipFile is an OSError


@dataclass(frozen=True, slots=True)
class _Needle:
    """A secret in every form in which a log may hold it."""

    pattern: re.Pattern[bytes]
    longest: int

    @classmethod
    def of(cls, values: Sequence[str]) -> "_Needle | None":
        spellings = sorted(
            {form.encode() for value in values for form in forms(value)}, key=len, reverse=True
        )
        if not spellings:
            return None
        return cls(re.compile(b"|".join(map(re.escape, spellings))), len(spellings[0]))


def search(
    patterns: Sequence[Path], *, marker: str, credential: Credential | None, url: str = ""
) -> LogSearch | Missing:
    """Count the marker, and the credential with the secrets of the URL, in the files. Blocks.

    A pattern may hold ``*`` and ``?``; a rotated file that ends with ``.gz`` is decompressed.
    """
    found = _files(patterns)
    if not found:
        return Missing("none of the configured log files exists", "no-log-file")
    needles = (_Needle.of([marker]), _Needle.of(_secrets(credential, url)))
    room, files, unread = MAX_BYTES, list[LogFile](), list[str]()
    for path in found[:MAX_FILES]:
        if room <= 0:
            break
        try:
            file = _count(path, needles, room)
        except _UNREADABLE:
            unread.append(path.name)
            continue
        room -= file.size
        files.append(file)
    if not files:
        return Missing(f"the log files cannot be read: {', '.join(unread)[:200]}", "log-unreadable")
    return LogSearch(files=tuple(files), unread=tuple(unread), left_out=len(found) - len(files) - len(unread))


def _secrets(credential: Credential | None, url: str) -> list[str]:
    """The secrets themselves; ``Bearer <token>`` holds its token, which is counted once."""
    asked = place(url)
    named = (*(() if credential is None else credential.headers), *(() if asked is None else asked.secrets))
    parts = [part for name, value in named for part in secret_parts(name, value)]
    return [part for part in parts if not any(other in part for other in parts if other != part)]


def _files(patterns: Sequence[Path]) -> list[Path]:
    dated = []
    for path in dict.fromkeys(path for pattern in patterns for path in _matches(pattern)):
        try:
            if path.is_file():
                dated.append((path.stat().st_mtime, path))
        except OSError:
            continue
    return [path for _, path in sorted(dated, reverse=True)]


def _matches(pattern: Path) -> Iterator[Path]:
    root = Path(pattern.anchor)
    if pattern == root:
        return iter(())
    return iter(root.glob(str(pattern.relative_to(root))))


def _count(path: Path, needles: tuple[_Needle | None, ...], room: int) -> LogFile:
    counts, carried, size = [0] * len(needles), [b""] * len(needles), 0
    for chunk in _chunks(path, room):
        size += len(chunk)
        for number, needle in enumerate(needles):
            if needle is None:
                continue
            text, end = carried[number] + chunk, 0
            for match in needle.pattern.finditer(text):
                counts[number] += 1
                end = match.end()
            # What may be the beginning of a match that the next chunk completes.
            carried[number] = text[max(end, len(text) - needle.longest + 1) :]
    return LogFile(name=path.name, size=size, marker=counts[0], credential=counts[1])


def _chunks(path: Path, room: int) -> Iterator[bytes]:
    with path.open("rb") as raw:
        file: BinaryIO = raw
        if path.suffix == ".gz":
            file = cast("BinaryIO", gzip.GzipFile(fileobj=raw))
        else:
            raw.seek(max(0, path.stat().st_size - room))
        while room > 0 and (chunk := file.read(min(_CHUNK, room))):
            room -= len(chunk)
            yield chunk
