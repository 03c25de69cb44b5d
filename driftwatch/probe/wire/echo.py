"""What of our own secrets a server sent back: where it stands, before it is replaced."""

from collections.abc import Iterable, Iterator

from driftwatch.evidence import CREDENTIAL_ECHO, OTHER_ECHO, OTHER_MARKS, URL_ECHO, URL_MARK, Remark
from driftwatch.model import Json
from driftwatch.probe.wire.credential import Redactor

_SILENT = frozenset({"set-cookie", "location", "content-location"})
"""Headers of which the telling part is never recorded."""
_QUOTED = 80


def in_message(value: Json, redactor: Redactor) -> Iterator[Remark]:
    """The remarks on one JSON text: at most one for each kind of secret."""
    places: dict[str, list[str]] = {CREDENTIAL_ECHO: [], URL_ECHO: [], OTHER_ECHO: []}
    for pointer, text in _texts(value, "", redactor):
        kind = _kind(text, redactor)
        if kind is not None and (kind != OTHER_ECHO or not pointer.endswith("/nextCursor")):
            places[kind].append(pointer)
    for code, found in places.items():
        if found:
            more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
            yield Remark(code=code, message=f"at {found[0][:_QUOTED]}{more}")


def in_head(headers: Iterable[tuple[str, str]], redactor: Redactor) -> Iterator[Remark]:
    """The remark on a header that holds a credential."""
    for name, value in headers:
        kind = None if name in _SILENT else _kind(value, redactor)
        if kind is not None and kind != OTHER_ECHO:
            yield Remark(code=kind, message=f"in the header {name[:_QUOTED]}")
            return


def in_body(excerpt: str, redactor: Redactor) -> Iterator[Remark]:
    """The remark on a body that is no JSON-RPC answer and holds a credential."""
    kind = _kind(excerpt, redactor)
    if kind is not None and kind != OTHER_ECHO:
        yield Remark(code=kind, message="in the body")


def _kind(text: str, redactor: Redactor) -> str | None:
    """The code of the gravest secret in a text; None where there is none."""
    marks = redactor.marks(text)
    if marks - OTHER_MARKS - {URL_MARK}:
        return CREDENTIAL_ECHO
    if URL_MARK in marks:
        return URL_ECHO
    return OTHER_ECHO if marks else None


def _texts(value: Json, pointer: str, redactor: Redactor) -> Iterator[tuple[str, str]]:
    """Every text and member's name with its JSON pointer, in which there is no secret."""
    if isinstance(value, str):
        yield pointer or "the top", value
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _texts(item, f"{pointer}/{place}", redactor)
    elif isinstance(value, dict):
        for name, item in value.items():
            below = f"{pointer}/{redactor.text(name).replace('~', '~0').replace('/', '~1')}"
            yield below, name
            yield from _texts(item, below, redactor)
