"""What a text does to its reader: orders to the agent, characters nobody sees, links. Pure screening."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from driftwatch.toolset.characters import BLANKS, HIDDEN, LOOKALIKES, hides_nothing
from driftwatch.toolset.occurrences import occurrences
from driftwatch.toolset.orders import RULES, Rule

__all__ = ["Phrase", "is_prose", "links", "steering_in"]

_MAX_MATCHES = 1000
"""Of one rule in one text: whoever repeats an order a thousand times has been heard."""

_LINK = re.compile(
    r"(?:https?|wss?|ftp)://(?=\w)[^\s\"'<>()\[\]{}`|\\^]+|\bwww\.(?=\w)[^\s\"'<>()\[\]{}`|\\^]+",
    re.IGNORECASE,
)
_LINK_END = ".,;:!?*_~"

_RULES_BY_WORD = {
    word: [rule for rule in RULES if word in rule.words] for rule in RULES for word in rule.words
}

_SENTENCE = 4
"""Words that make a text of any string, wherever it stands."""

_Reading: TypeAlias = tuple[str, list[int] | None]
"""Folded text, and for each of its characters the index that it came from (None: the same)."""

_NEXT_WORD = re.compile(r"[\s,]*([\w']+)")

_RUN = re.compile(r"([\t\n\r -~]+)|.", re.DOTALL)
"""What only loses its case, or one character of another kind."""
_TAG_LETTERS = range(0xE0020, 0xE007F)
_TAG = 0xE0000


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A phrase that steers its reader, or may."""

    rule: str
    """Which kind of phrase, such as ``do not tell``."""
    text: str
    """As written, hidden characters included."""
    start: int
    end: int
    """Indexes into the text, end exclusive."""
    order: bool
    """True when it tells the agent what to do; False where it may only describe ("never returns null")."""
    key: str
    """The phrase and the word after it, folded: equal for two wordings that say the same."""


def steering_in(texts: Sequence[str]) -> list[tuple[Phrase, ...]]:
    """Every steering phrase of each text, in order; of phrases within one another the longest.

    Reads as a model does: through hidden characters, compatibility forms, look-alike letters, and text
    that is itself hidden in tag characters. Rules of which no text has a word are not looked for.
    """
    readings = [_readings(text) for text in texts]
    said = "\n".join({word for each in readings for folded, _ in each for word in folded.split()})
    words = [word for word in _RULES_BY_WORD if word in said]
    if not words:
        return [()] * len(texts)
    return [_phrases(text, each, words) for text, each in zip(texts, readings, strict=True)]


def is_prose(text: str) -> bool:
    """True for a sentence, which is read as one wherever it stands."""
    return len(text) >= 2 * _SENTENCE and len(text.split(None, _SENTENCE)) >= _SENTENCE


def links(text: str) -> tuple[str, ...]:
    """Every URL in a text, in order, without the punctuation that ends a sentence."""
    if "://" not in text and "www." not in text.lower():
        return ()
    return tuple(match.group().rstrip(_LINK_END) for match in occurrences(_LINK, text))


def _phrases(text: str, readings: list[_Reading], words: Iterable[str]) -> tuple[Phrase, ...]:
    """Those of one text, by rules with one of these words."""
    found: list[Phrase] = []
    for folded, positions in readings:
        here = [word for word in words if word in folded]
        if not here:
            continue
        likely = {rule for word in here for rule in _RULES_BY_WORD[word]}
        found += [phrase for rule in likely for phrase in _matches(rule, text, folded, positions)]
    if not found:
        return ()
    found.sort(key=lambda phrase: (phrase.start, -phrase.end, not phrase.order, phrase.rule))
    kept: list[Phrase] = []
    for phrase in found:
        if not kept or phrase.end > kept[-1].end:
            kept.append(phrase)
    return tuple(kept)


def _matches(rule: Rule, text: str, folded: str, positions: list[int] | None) -> list[Phrase]:
    found = []
    for match in islice(rule.matches(folded), _MAX_MATCHES):
        start, end = match.span()
        following = _NEXT_WORD.match(folded, end)
        if positions is not None:
            start, end = positions[start], positions[end - 1] + 1
        found.append(
            Phrase(
                rule=rule.name,
                text=text[start:end],
                start=start,
                end=end,
                order=rule.order is None or rule.order.match(folded, match.start()) is not None,
                key=" ".join([*match.group().split(), *([following[1]] if following else [])]),
            )
        )
    return found


def _readings(text: str) -> list[_Reading]:
    """The text as rules see it; twice where characters that look like a space and are none stand in it.

    Such a blank may stand between two words, or within one.
    """
    if text.isascii() and hides_nothing(text):
        return [(text.lower(), None)]
    return [_fold(text, blank) for blank in (("", " ") if BLANKS.intersection(text) else ("",))]


def _fold(text: str, blank: str) -> _Reading:
    folded: list[str] = []
    positions: list[int] = []
    for run in occurrences(_RUN, text):
        if run[1]:
            folded.append(run[1].lower())
            positions += range(*run.span())
            continue
        character = run[0]
        code_point = ord(character)
        if code_point in _TAG_LETTERS:
            plain = chr(code_point - _TAG).lower()
        elif character in BLANKS:
            plain = blank
        elif HIDDEN.match(character):
            continue
        else:
            plain = _plain(character)
        folded.append(plain)
        positions += [run.start()] * len(plain)
    return "".join(folded), positions


def _plain(character: str) -> str:
    """A character without case, compatibility form, accent or foreign alphabet."""
    letters = unicodedata.normalize("NFKD", character.translate(LOOKALIKES).lower().translate(LOOKALIKES))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
