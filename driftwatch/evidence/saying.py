"""What the body of a refusal says to a person, in one line."""

import html
import json
import re

from driftwatch.model import Json

LIMIT = 120

_HEADINGS = (
    re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL),
    re.compile(r"<h1[^>]*>(.*?)</h1", re.IGNORECASE | re.DOTALL),
)
_HIDDEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_MEMBERS = ("message", "error_description", "detail", "title", "error", "reason")
"""Where APIs put the sentence, the most telling first."""


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
    said = next((match[1] for match in found if match and match[1].strip()), None)
    return html.unescape(_TAG.sub(" ", _HIDDEN.sub(" ", text) if said is None else said))


def _of_json(text: str) -> str:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    for _ in range(len(_MEMBERS)):
        if not isinstance(value, dict):
            break
        value = next((value[name] for name in _MEMBERS if value.get(name)), None)
    return value if isinstance(value, str) else ""
