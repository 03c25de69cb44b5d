"""Files that a configuration names.

A path is never in a message: people do write the secret itself where the path of its file belongs.
"""

import hashlib
import stat
from collections.abc import Iterable
from pathlib import Path

from driftwatch.config.quantities import InvalidValueError

PLACES = ("config.toml", "/etc/driftwatch/config.toml")
"""Where a configuration is looked for without --config and without DRIFTWATCH_CONFIG."""

MAX_FILE_BYTES = 16 * 2**20
MAX_SECRET_BYTES = 64 * 1024


class NotRegularError(OSError):
    """A pipe, a socket or a device: whoever reads it may wait for ever."""


def read_secret(path: Path) -> str:
    """Read a secret from a file; line breaks at its end are not part of it.

    Raises InvalidValueError when it cannot be read, is empty, longer than 64 KiB, not UTF-8 or not a
    regular file.
    """
    raw = read_start(path, MAX_SECRET_BYTES + 1)
    if len(raw) > MAX_SECRET_BYTES:
        raise InvalidValueError("the file is longer than 64 KiB: it should hold the secret only")
    try:
        text = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidValueError("the file is not UTF-8 text: save the secret as plain text") from None
    if not text:
        raise InvalidValueError("the file is empty: write the secret into it")
    return text


def content_digest(files: Iterable[Path]) -> str:
    """A digest of what stands in some files, whatever their times say; of one that cannot be read, that."""
    found = hashlib.sha256()
    for path in files:
        try:
            content = hashlib.sha256(_read(path, MAX_FILE_BYTES)).digest()
        except (OSError, ValueError) as problem:
            content = type(problem).__name__.encode()
        found.update(content + b"\0")
    return found.hexdigest()


def read_start(path: Path, most: int) -> bytes:
    """Read at most so many bytes. Raises InvalidValueError when the file cannot be read."""
    try:
        return _read(path, most)
    except FileNotFoundError:
        raise InvalidValueError(
            "the file does not exist: create it, or correct the path, which starts at this file's folder"
        ) from None
    except IsADirectoryError:
        raise InvalidValueError("this is a folder: name a file in it") from None
    except NotRegularError:
        raise InvalidValueError("this is not a regular file: name a file, not a pipe or a device") from None
    except PermissionError:
        raise InvalidValueError("the file may not be read: let driftwatch's user read it") from None
    except (OSError, ValueError) as problem:
        raise InvalidValueError(
            f"the file cannot be read ({type(problem).__name__}): correct the path"
        ) from None


def _read(path: Path, most: int) -> bytes:
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise NotRegularError
    with path.open("rb") as file:
        return file.read(most)
