"""Subjects and their values, as people read them, and the command that accepts a value."""

from shlex import quote

from driftwatch.alerts.text import joined, label
from driftwatch.alerts.wording.note import words
from driftwatch.model import Era


def subject_words(subject: str | None) -> str:
    """``transport/endpoint`` for a check, ``Toolset (modern)`` for a toolset."""
    kind, _, rest = (subject or "").partition(":")
    if kind == "toolset":
        era = rest.partition(":")[0]
        return f"Toolset ({label(era)})" if era else "Toolset"
    if kind == "revision":
        return f"{'Offered revisions' if rest == Era.MODERN else 'Protocol revision'} ({label(rest)})"
    return "Protocol eras" if kind == "eras" else label(rest or kind or "it")


def value_words(value: str | None) -> str:
    """A state in words, the short form of a fingerprint, or the eras or revisions of a server."""
    algorithm, _, digest = (value or "").partition(":")
    if "." in digest and algorithm.startswith("dw"):
        return short_pair(str(value))
    parts = (value or "").replace("http+sse", "http/sse").split("+")
    return joined(map(words, parts)).replace("http/sse", "http+sse")


def short_pair(pair: str) -> str:
    """``dw1:1a2b3c4d.5e6f7a8b``: enough of a fingerprint to tell two apart."""
    algorithm, _, digests = pair.partition(":")
    return f"{label(algorithm)}:{'.'.join(label(part)[:8] for part in digests.split('.'))}"


def accepting(server: str, value: str) -> str:
    """The command that makes a toolset, or revisions, the accepted one, without the program's name."""
    _, pair, _ = value.partition(":")
    named = f"--fingerprint {short_pair(value)}" if pair else f"--revision {quote(label(value))}"
    return f'accept {quote(server)} {named} --reason "..."'
