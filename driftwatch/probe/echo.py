"""What of our own secrets a server sent back: where it stands, before it is replaced."""

from collections.abc import Iterable, Iterator

from driftwatch.evidence import CREDENTIAL_ECHO, OTHER_ECHO, OTHER_MARKS, Remark
from driftwatch.model import Json
from driftwatch.probe.credential import Redactor

_SILENT = frozenset({"set-cookie", "location", "content-location"})
"""Headers of which the telling part is never recorded."""
_QUOTED = 80


def in_message(value: Json, redactor: Redactor) -> Iterator[Remark]:
    """The remarks on one JSON text: at most one for credentials and one for other secrets."""
    places: dict[str, list[str]] = {CREDENTIAL_ECHO: [], OTHER_ECHO: []}
    for pointer, text in _texts(value, "", redactor):
        marks = redactor.marks(text)
        if marks - OTHER_MARKS:
            places[CREDENTIAL_ECHO].append(pointer)
        elif marks and not pointer.endswith("/nextCursor"):
            places[OTHER_ECHO].append(pointer)
    for code, found in places.items():
        if found:
            more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
            yield Remark(code=code, message=f"at {found[0][:_QUOTED]}{more}")


def in_head(headers: Iterable[tuple[str, str]], redactor: Redactor) -> Iterator[Remark]:
    """The remark on a header that holds a credential."""
    for name, value in headers:
        if name not in _SILENT and redactor.marks(value) - OTHER_MARKS:
            yield Remark(code=CREDENTIAL_ECHO, message=f"in the header {name[:_QUOTED]}")
            return


def in_body(excerpt: str, redactor: Redactor) -> Iterator[Remark]:
    """The remark on a body that is no JSON-RPC answer and holds a credential."""
    if redactor.marks(excerpt) - OTHER_MARKS:
        yield Remark(code=CREDENTIAL_ECHO, message="in the body")


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
