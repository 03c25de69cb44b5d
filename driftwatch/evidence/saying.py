"""What the body of a refusal says to a person, in one line."""

import html
import json
import re

from driftwatch.model import Json

LIMIT = 120

_HEADINGS = tuple(
    re.compile(rf"<(?:\w+:)?({name})\b[^>]*>(.*?)</", re.IGNORECASE | re.DOTALL)
    for name in ("title", "h1", "message", "faultstring", "detail")
)
"""Of a page, and of the XML in which clouds refuse: ``<Error><Code>…</Code><Message>…``."""
_HIDDEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_MEMBERS = (
    *("message", "msg", "error_description", "errormessage", "error_message", "detail", "details"),
    *("title", "error", "errors", "faultstring", "fault", "reason", "description"),
)
"""Where APIs put the sentence, in whatever case, the most telling first."""
_DEPTH = 5
"""Objects and lists around it; FastAPI's is in a list of objects in an object."""
_ITEMS = 10
"""Of a list that are looked at."""


def words(body: str) -> str:
    """The title of a page, the message of a JSON object, or the beginning of any other text.

    At most ``LIMIT`` characters and empty where there is nothing to read. The words are the server's own.
    """
    text = body.strip()
    if text.startswith("<"):
        said = _of_page(text)
    elif text.startswith(("{", "[", '"')):
        said = _of_json(text)
    else:
        said = text
    line = " ".join("".join(char if char.isprintable() else " " for char in said).split())
    return line if len(line) <= LIMIT else f"{line[: LIMIT - 1]}…"


def _of_page(text: str) -> str:
    found = (heading.search(text) for heading in _HEADINGS)
    said = next((match[2] for match in found if match and match[2].strip()), None)
    return html.unescape(_TAG.sub(" ", _HIDDEN.sub(" ", text) if said is None else said))


def _of_json(text: str) -> str:
    try:
        return _sentence(json.loads(text), _DEPTH)
    except (ValueError, RecursionError):
        return ""


def _sentence(value: Json, depth: int) -> str:
    """The first sentence in a value, looked for where it is usually put."""
    if isinstance(value, str) or not depth:
        return value if isinstance(value, str) else ""
    items: list[Json] = []
    if isinstance(value, list):
        items = value[:_ITEMS]
    elif isinstance(value, dict):
        named = {name.lower(): item for name, item in value.items()}
        items = [named.get(name) for name in _MEMBERS]
    return next((said for said in (_sentence(item, depth - 1) for item in items) if said.strip()), "")
