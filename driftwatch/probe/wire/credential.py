"""The credential of a probe, and how it is kept out of what is recorded."""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote, quote_plus

from driftwatch.evidence import URL_MARK
from driftwatch.model import Json

SESSION = "session"
"""The label of a session id."""
URL = URL_MARK.strip("<>")
"""The label of a secret in the query of the configured URL."""
QUERY = "redacted"
"""The label of one in the query of any other."""

_MIN_SECRET = 6
"""Shorter values are no secrets, and would be found in every text."""
_TELLING = 10
"""As much of a secret is not shown either."""
_MIN_RANDOM = 16
_SECRET_NAME = re.compile(
    r"key|token|secret|password|cookie|(^|[-_.])(auth\w*|pass|pwd|cred\w*|session\w*|sig|signature|code)($|[-_.])",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[!-~]+")
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Header values that authorise the probe; applied at the wire only, recorded as ``<label>``."""

    label: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    unsent: tuple[str, ...] = field(default=(), repr=False)
    """What it was got with, such as a client's secret: the server never sees it, nor does a record."""

    @classmethod
    def bearer(cls, label: str, token: str) -> Self:
        """An ``Authorization: Bearer`` header."""
        return cls(label=label, headers=(("Authorization", f"Bearer {token}"),))


class Redactor:
    """Replaces known secrets in whatever a server sends back, in every form it may echo them.

    A configured header or query value is taken for a secret when its name says so or when it looks random:
    ``X-MCP-Toolsets: repos`` is not one, and a word like it must not vanish from tool descriptions.
    """

    def __init__(self) -> None:
        self._forms: dict[str, str] = {}
        self._traces: set[bytes] = set()
        self._known: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._forms)

    def learn(self, value: str, label: str) -> None:
        """Replace this value by ``<label>`` from now on, also URL-encoded, escaped or in base64."""
        if len(value) < _MIN_SECRET or value in self._known:
            return
        self._known.add(value)
        for form in forms(value):
            self._forms.setdefault(form, f"<{label}>")
            # JSON may escape any other character, so that a body is first searched for what it cannot escape.
            self._traces.add(max(_PLAIN.findall(form), key=len, default=form).encode())
        self._forms = dict(sorted(self._forms.items(), key=lambda item: -len(item[0])))

    def learn_named(self, name: str, value: str, label: str) -> None:
        """Replace the secret parts of a header or query value, if there are any."""
        for part in secret_parts(name, value):
            self.learn(part, label)

    def text(self, text: str, *, keep: str = "") -> str:
        """The text without the secrets, those of the label ``keep`` excepted."""
        for form, replacement in self._forms.items():
            if form in text and replacement != keep:
                text = text.replace(form, replacement)
        return text

    def quotation(self, text: str) -> str:
        """As ``text``; what a quotation cut off after the beginning of a secret goes too."""
        text = self.text(text)
        for form, replacement in self._forms.items():
            beginning = form[:_TELLING]
            at = text.find(beginning) if len(form) > _TELLING else -1
            while at >= 0:
                end = at + len(beginning)
                while end < len(text) and form.startswith(text[at : end + 1]):
                    end += 1
                text = text[:at] + replacement + text[end:]
                at = text.find(beginning, at + len(replacement))
        return text

    def marks(self, text: str) -> frozenset[str]:
        """What would stand in the text in the place of secrets."""
        return frozenset(mark for form, mark in self._forms.items() if form in text)

    def touches(self, raw: bytes) -> bool:
        """Whether a JSON text may hold a secret: quick, and True rather once too often."""
        return any(trace in raw for trace in self._traces)

    def value(self, value: Json) -> Json:
        """A JSON value without the secrets, in names of members too.

        A session id inside ``nextCursor`` stays: a cursor has to go back as it came.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {
                self.text(name): self.text(item, keep=f"<{SESSION}>")
                if name == "nextCursor" and isinstance(item, str)
                else self.value(item)
                for name, item in value.items()
            }
        return value


def secret_parts(name: str, value: str) -> Iterator[str]:
    """What of a header or query value is secret: nothing, where neither its name nor its looks say so."""
    value = value.strip()
    if not (_SECRET_NAME.search(name) or (len(value) >= _MIN_RANDOM and _RANDOM.fullmatch(value))):
        return
    if "cookie" in name.lower():
        yield from (pair.partition("=")[2].strip() for pair in value.split(";"))
        return
    scheme, _, rest = value.partition(" ")
    yield value
    if rest:
        yield rest.strip()
    if scheme.lower() == "basic":
        try:
            user, _, password = base64.b64decode(rest.strip(), validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return
        yield password or user


def forms(value: str) -> Sequence[str]:
    """A secret as it is, URL-encoded, escaped as in JSON, and in base64 at any place of a longer text."""
    raw = value.encode("utf-8", "surrogateescape")
    spelled = [value, quote(raw, safe=""), quote_plus(raw), value.replace("/", "\\/")]
    for before in range(3):  # wherever it stands inside a longer text that was encoded
        encoded = base64.b64encode(b"\0" * before + raw).rstrip(b"=").decode()
        whole = encoded[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
        spelled += [whole, whole.replace("+", "-").replace("/", "_")]
    return [form for form in dict.fromkeys(spelled) if len(form) >= _MIN_SECRET]
