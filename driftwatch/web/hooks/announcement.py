"""What a deploy announces, and our own words for it.

The body is ``{"ref": ...}`` with, as one likes, ``servers``, ``commit``, ``link``, ``actor``,
``previous_ref``, ``environment`` and ``expect_change``. Whatever is wrong with it is said at once, with the
key that was meant.
"""

import difflib
import re
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from driftwatch.model import Json

TEXT_LIMIT = 200
LINK_LIMIT = 2000
SERVERS_LIMIT = 1000


class AnnouncementError(ValueError):
    """A body that announces nothing; the message is for the caller and repeats no value of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """A deploy, as whoever made it describes it; every text is one printable line within TEXT_LIMIT."""

    ref: str
    servers: tuple[str, ...] | None = None
    """None: those of the path, or every server."""
    commit: str | None = None
    link: str | None = None
    """An ``http`` or ``https`` address."""
    actor: str | None = None
    previous_ref: str | None = None
    environment: str | None = None
    expect_change: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A delivery in good order that announces no finished deploy."""

    reason: str


def is_web_address(text: str) -> bool:
    """Whether a text can be made a link: nothing that a browser would run, nothing that breaks a line."""
    return text.startswith(("http://", "https://")) and text.isprintable() and " " not in text


def _one_line(text: str) -> str:
    # isprintable is false for control characters, for what nobody sees, and for half of a surrogate pair.
    if not text.isprintable():
        raise PydanticCustomError("one_line", "must be one line of printable text")
    return text


def _web_address(text: str) -> str:
    if not is_web_address(text):
        raise PydanticCustomError(
            "web_address", 'must be an address that begins with "https://" or "http://"'
        )
    return text


_Text: TypeAlias = Annotated[
    str,
    StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=TEXT_LIMIT),
    AfterValidator(_one_line),
]
_Link: TypeAlias = Annotated[
    str,
    StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=LINK_LIMIT),
    AfterValidator(_web_address),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    ref: _Text
    servers: Annotated[list[_Text], Field(min_length=1, max_length=SERVERS_LIMIT)] | None = None
    commit: _Text | None = None
    link: _Link | None = None
    actor: _Text | None = None
    previous_ref: _Text | None = None
    environment: _Text | None = None
    expect_change: StrictBool = False


KEYS = tuple(_Body.model_fields)


def read(body: Json) -> Announcement:
    """Our own body. Raises AnnouncementError with everything that is wrong with it."""
    if not isinstance(body, dict):
        raise AnnouncementError('the body is not a JSON object: send one such as {"ref": "v2"}')
    # An empty text is what a template leaves where it had nothing to say.
    given = {key: value for key, value in body.items() if value != "" or key == "ref"}
    try:
        read = _Body.model_validate(given)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise AnnouncementError("; ".join(map(_sentence, details[:10]))) from None
    servers = None if read.servers is None else tuple(dict.fromkeys(read.servers))
    return Announcement(**{**read.model_dump(), "servers": servers})


_MESSAGES = {
    "string_type": "must be text",
    "string_unicode": "must be one line of printable text",
    "string_too_short": "is empty",
    "string_too_long": "is longer than {max_length} characters",
    "list_type": "must be a list of names",
    "too_short": "is empty: leave it out to mean every server",
    "too_long": "has more than {max_length} entries",
    "bool_type": "must be true or false",
    "missing": "is missing: it names what was deployed, such as a version or a commit",
}


def _sentence(details: ErrorDetails) -> str:
    if not details["loc"]:  # half of a surrogate pair, which JSON can write and Unicode does not know
        return "a key is not text"
    key = str(details["loc"][0])
    if details["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, KEYS, n=1)
        shown = f'"{key}"' if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", key) else "an unknown key"
        return f"{shown} is not known" + (
            f': did you mean "{near[0]}"?' if near else f"; known: {', '.join(KEYS)}"
        )
    message = _MESSAGES.get(details["type"], details["msg"]).format(**details.get("ctx", {}))
    return f'"{key}" {message}'
