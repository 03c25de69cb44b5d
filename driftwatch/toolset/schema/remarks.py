"""What a schema says beside its rules: titles, descriptions, defaults, examples, keywords of no standard."""

from collections.abc import Iterable

from driftwatch.model import Json
from driftwatch.toolset.canonical import same
from driftwatch.toolset.change import COMPATIBLE, TEXT
from driftwatch.toolset.schema.ledger import ABSENT, Effect
from driftwatch.toolset.schema.views import View
from driftwatch.toolset.schema.work import Pair, Work
from driftwatch.toolset.wording import quote, rewording, value

_TEXTS = {"description": "description", "title": "title", "$comment": "comment"}

REMARKS = frozenset({*_TEXTS, "default", "examples"})

_ACTED_ON = frozenset({"contentEncoding", "contentMediaType", "readOnly", "writeOnly", "x-mcp-header"})
"""Keywords by which clients change what they send, though no value becomes invalid."""


def compare_remarks(old: View, new: View, changed: frozenset[str], pair: Pair, work: Work) -> None:
    """Note what reads otherwise, and another default."""
    subject = work.ledger.side.of(pair.path)
    for keyword, noun in _TEXTS.items():
        if keyword not in changed:
            continue
        before, after = _text(old.keywords.get(keyword)), _text(new.keywords.get(keyword))
        if before != after:
            pointer = (new if keyword in new.keywords else old).at(keyword)
            message = f"{noun} of {subject} {text_change(before, after)}"
            work.ledger.note("text", Effect.TEXT, message, pointer, (before, after))
    if "default" in changed:
        _compare_defaults(old, new, subject, work)
    if "examples" in changed:
        _compare_examples(old, new, subject, work)


def compare_keywords(old: View, new: View, keywords: Iterable[str], pair: Pair, work: Work) -> None:
    """Note other values of keywords that accept or refuse nothing by any specification."""
    subject = work.ledger.side.of(pair.path)
    for keyword in keywords:
        before, after = (view.keywords.get(keyword, ABSENT) for view in (old, new))
        if _differ(before, after):
            pointer = (new if after is not ABSENT else old).at(keyword)
            message = f"{quote(keyword)} of {subject} {_exchange(before, after)}"
            klass = COMPATIBLE if keyword in _ACTED_ON else TEXT
            work.ledger.note("keyword", klass, message, pointer, (before, after))


def text_change(before: str | None, after: str | None) -> str:
    """The end of a sentence about a text that is another one."""
    if before is None:
        return f"added: {quote(after or '', 100)}"
    if after is None:
        return f"removed (was {quote(before, 100)})"
    return f"changed: {rewording(before, after)}"


def _text(of: Json) -> str | None:
    return of if isinstance(of, str) or of is None else value(of)


def _compare_defaults(old: View, new: View, subject: str, work: Work) -> None:
    before, after = (view.keywords.get("default", ABSENT) for view in (old, new))
    if not _differ(before, after):
        return
    pointer = (new if after is not ABSENT else old).at("default")
    if after is ABSENT:
        message = f"{subject} no longer has a default (was {value(before)})"
    elif before is ABSENT:
        message = f"{subject} now defaults to {value(after)}"
    else:
        message = f"{subject} now defaults to {value(after)} (was {value(before)})"
    work.ledger.note("default", Effect.NONE, message, pointer, (before, after))


def _compare_examples(old: View, new: View, subject: str, work: Work) -> None:
    before, after = (view.keywords.get("examples", ABSENT) for view in (old, new))
    if _differ(before, after):
        pointer = (new if after is not ABSENT else old).at("examples")
        message = f"examples of {subject} {_exchange(before, after)}"
        work.ledger.note("examples", Effect.TEXT, message, pointer, (before, after))


def _differ(before: Json, after: Json) -> bool:
    if before is ABSENT or after is ABSENT:
        return before is not after
    return not same(before, after)


def _exchange(before: Json, after: Json) -> str:
    if before is ABSENT:
        return f"added: {value(after)}"
    if after is ABSENT:
        return f"removed (was {value(before)})"
    return f"changed: {value(before)} -> {value(after)}"
