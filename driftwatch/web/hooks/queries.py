"""The query of a webhook's address: how long to wait, what to refuse, what to listen to."""

import difflib
import re
from dataclasses import dataclass

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException

from driftwatch.deploys import GATES
from driftwatch.web.hooks.senders import Only

LONGEST_WAIT_S = 600

_KEYS = ("wait", "gate", "environment", "workflow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """``?wait=120&gate=failed,breaking&environment=production&workflow=deploy``, all of it optional."""

    wait_s: float = 0
    """0 to LONGEST_WAIT_S; 0 answers at once."""
    gates: tuple[str, ...] = ()
    """Of GATES."""
    only: Only = Only()  # noqa: RUF009 - frozen, so one for all


def read(params: QueryParams) -> Query:
    """Read a query. Raises HTTPException, also for an unknown key: a gate with a typo would hold nothing."""
    for key in params:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(_KEYS)}"
            raise HTTPException(400, f"the address has a key in its query that is not known; {hint}")
    wait_s = _wait(params.get("wait", "0"))
    gates = tuple(dict.fromkeys(_words(params, "gate")))
    if any(gate not in GATES for gate in gates):
        raise HTTPException(400, f"gate is one or more of {', '.join(GATES)}, with commas between them")
    return Query(
        wait_s=wait_s,
        gates=gates,
        only=Only(
            environments=frozenset(_words(params, "environment")),
            workflows=frozenset(_words(params, "workflow")),
        ),
    )


def _wait(text: str) -> float:
    found = re.fullmatch(r"([0-9]{1,4})s?", text, re.ASCII)
    if found is None or int(found[1]) > LONGEST_WAIT_S:
        raise HTTPException(400, f"wait is a number of seconds, at most {LONGEST_WAIT_S}")
    return int(found[1])


def _words(params: QueryParams, key: str) -> list[str]:
    """The words of a key that may be given several times and have commas in it, in lower case."""
    values = [word.strip().lower() for text in params.getlist(key) for word in text.split(",")]
    if any(not word for word in values):
        raise HTTPException(400, f"{key} is given and empty")
    return values
