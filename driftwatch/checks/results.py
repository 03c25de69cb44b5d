"""What can be wrong with a result itself: members that its revision requires, and the types of all."""

from collections.abc import Iterator

from driftwatch.checks.answers import ok
from driftwatch.checks.base import Found
from driftwatch.checks.shapes import DISCOVER, INITIALIZE, LIST, MODERN_LIST, Misfit, misfits, sdks
from driftwatch.evidence import Exchange
from driftwatch.model import Era, Severity

_SHAPES = {"server/discover": DISCOVER, "initialize": INITIALIZE}
_LOSS = dict.fromkeys(_SHAPES, "do not connect")

_CACHING = frozenset({"ttl-ms", "cache-scope"})
"""What the TypeScript SDK does without in an answer to server/discover."""


def result_faults(exchanges: tuple[Exchange, ...], revision: str, era: Era) -> Iterator[Found]:
    """What each result lacks, or has in another form than its revision says."""
    lists = MODERN_LIST if era is Era.MODERN else LIST
    for exchange in exchanges:
        result, method = exchange.result, exchange.rpc_method or exchange.label
        if not ok(exchange) or not isinstance(result, dict):
            continue
        # A question back (input_required) and a task have members of their own, and none of the answer's.
        whole = era is not Era.MODERN or result.get("resultType", "complete") == "complete"
        for misfit in misfits(result, _SHAPES.get(method, lists), revision):
            if whole or misfit.code == "result-type":
                yield _fault(method, misfit, revision)


def _fault(method: str, misfit: Misfit, revision: str) -> Found:
    name = misfit.pointer.split("/")[1]
    told = f"{name} is missing" if misfit.absent_at_top else f"{name} is not what the revision says"
    if not misfit.known:
        told = f"{name} has a member that {revision} does not know, in a form that no revision allows"
    return Found(
        # Where the specification speaks of cursors, null is the end; its schema and one SDK know no null.
        severity=Severity.HEADS_UP if misfit.code == "next-cursor" or not misfit.known else None,
        code=misfit.code,
        subject=method,
        message=f"{told}: clients on {_sdk(method, misfit)} {_LOSS.get(method, 'drop the list')}.",
        expected=misfit.says,
        measured=misfit.measured,
        pointer=misfit.pointer,
    )


def _sdk(method: str, misfit: Misfit) -> str:
    if method == "server/discover" and misfit.code in _CACHING:
        return "the Python SDK"
    return sdks([misfit])
