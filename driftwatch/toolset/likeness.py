"""How alike two names, or two texts, are: evidence for a rename, and what is renamed by it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import heapify, heappop, heappush

SURE = 4
"""The evidence from which what is gone and what is new are one that was renamed."""

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_WORD = re.compile(r"\w+")
_TYPO = 0.8
_HALF = 0.5
_STUB = 2
_READ = 1_000

_ACTS = """
add append archive assign cancel clear close commit copy create delete deploy disable drop enable
execute find get insert list lock merge modify move open patch post publish purge push put query
read remove reset restart restore revoke run save search send set show start stop sync unlock update
upload upsert write
"""

ACTS = frozenset(_ACTS.split())
"""Words that say what a tool does: ``get_order`` and ``delete_order`` are not one tool renamed."""


@lru_cache(maxsize=4096)
def tokens(name: str) -> tuple[str, ...]:
    """``orderID``, ``order_id`` and ``order-id`` are all ``("order", "id")``."""
    return tuple(token.lower() for token in _TOKEN.findall(name))


@lru_cache(maxsize=4096)
def respelled(one: str, other: str) -> bool:
    """True when only case and separators differ."""
    return one != other and bool(tokens(one)) and "".join(tokens(one)) == "".join(tokens(other))


@lru_cache(maxsize=4096)
def names_alike(one: str, other: str) -> bool:
    """True for a word added or exchanged, an abbreviation, a typo; False where other acts are named."""
    first, second = set(tokens(one)), set(tokens(other))
    if not first or not second:
        return False
    if (first ^ second) & ACTS and first & ACTS and second & ACTS:
        return False
    shared = first & second
    if shared in (first, second) or len(shared) / len(first | second) >= _HALF:
        return True
    short, long = sorted((one.lower(), other.lower()), key=len)
    if long.startswith(short) or (len(short) > _STUB and long.endswith(short)):
        return True
    enough = _TYPO * (len(short) + len(long)) / 2
    if len(short) < enough or (Counter(short) & Counter(long)).total() < enough:  # letters in common
        return False
    return SequenceMatcher(None, short, long).ratio() >= _TYPO


def other_acts(one: str, other: str) -> bool:
    """True when the names say that different things are done."""
    first, second = set(tokens(one)) & ACTS, set(tokens(other)) & ACTS
    return bool(first and second) and first.isdisjoint(second)


def words(text: str) -> frozenset[str]:
    """The words of a text; of a long one, those of its beginning."""
    return frozenset(_WORD.findall(text[:_READ].lower()))


def words_alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common, 0 to 1."""
    return len(one & other) / len(one | other) if one or other else 0.0


def surest(
    candidates: Iterable[tuple[int, int, int]], evidence: Callable[[int, int], int]
) -> list[tuple[int, int]]:
    """What was renamed to what, by place, surest first: each is in one pair at most.

    A candidate is two places and the most that may speak for them; the evidence is asked where it decides.
    """
    queue = [(-most, old, new, False) for old, new, most in candidates if most >= SURE]
    heapify(queue)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    while queue:
        _, old, new, known = heappop(queue)
        if old in pairs or new in taken:
            continue
        if known:
            pairs[old] = new
            taken.add(new)
        elif (found := evidence(old, new)) >= SURE:
            heappush(queue, (-found, old, new, True))
    return list(pairs.items())
