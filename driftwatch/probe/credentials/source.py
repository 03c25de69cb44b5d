"""Where the credential of an unattended probe comes from, each time it is needed."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from driftwatch.config import InvalidValueError, read_secret
from driftwatch.probe.wire.credential import Credential
from driftwatch.probe.wire.exchange import Wire
from driftwatch.probe.wire.request import Limits

TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")
"""What fits into a header after ``Bearer``."""


class Unavailable(Exception):  # noqa: N818 - a state of the world, and evidence outside this room
    """There is no credential to probe with; says why, without any secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """How a source gets to other servers on behalf of one probe."""

    wire: Callable[[str, Credential | None, Limits], Wire]
    """A wire to a URL that keeps the secrets of a credential out of what it hands back."""
    limits: Limits
    """Of the probe."""
    now: Callable[[], datetime]


class Source(Protocol):
    """Something that has, or gets, the credential of one server."""

    @property
    def label(self) -> str:
        """What reports call the credential."""

    async def current(self, errand: Errand) -> Credential:
        """The credential to use now. Raises Unavailable when there is none."""

    async def renewed(self, refused: Credential, errand: Errand) -> Credential | None:
        """Another credential after the server refused one; None when there is no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFile:
    """A bearer token in a file that something else renews."""

    label: str
    path: Path
    headers: tuple[tuple[str, str], ...] = ()
    """Go with the token."""

    async def current(self, errand: Errand) -> Credential:  # noqa: ARG002 - a file is no errand
        """The token that is in the file now."""
        token = await asyncio.to_thread(secret_file(self.path))
        return bearer(self.label, token, self.headers)

    async def renewed(self, refused: Credential, errand: Errand) -> Credential | None:
        """The file's token, if it is another one by now."""
        try:
            found = await self.current(errand)
        except Unavailable:
            return None
        return None if found == refused else found


def bearer(label: str, token: str, headers: tuple[tuple[str, str], ...]) -> Credential:
    """A bearer token beside other headers. Raises Unavailable for a token that no header can carry."""
    if not TOKEN.fullmatch(token):
        raise Unavailable("the token is not visible ASCII on one line")
    return Credential(label=label, headers=(*headers, ("Authorization", f"Bearer {token}")))


def secret_file(path: Path) -> Callable[[], str]:
    """Reads a secret that something else renews, anew each time. The reader raises Unavailable."""

    def read() -> str:
        try:
            return read_secret(path)
        except InvalidValueError as error:
            raise Unavailable(f"the file of the secret: {error}") from None

    return read
