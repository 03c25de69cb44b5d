"""Logging: one JSON object per line, without any secret that was loaded.

Loggers are ``driftwatch.runs``, ``driftwatch.events``, ``driftwatch.deliveries`` and ``driftwatch.service``;
their records carry structured fields in ``extra={"fields": {...}}``.
"""

import base64
import json
import logging
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import IO, Any
from urllib.parse import quote

SHORTEST_SECRET = 4
"""Shorter strings are not replaced: they would garble every line and protect nothing."""


class Redactor:
    """Replaces every known secret in a text, also URL-encoded, in base64, and as JSON escapes it."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Secrets shorter than SHORTEST_SECRET are ignored."""
        self._forms: list[str] = []
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Replace these too from now on."""
        forms = set(self._forms)
        for secret in secrets:
            if len(secret) >= SHORTEST_SECRET:
                encoded = base64.b64encode(secret.encode()).decode()
                # A line of JSON escapes quotes, backslashes and letters beyond ASCII.
                escaped = json.dumps(secret)[1:-1]
                forms |= {secret, quote(secret, safe=""), escaped, encoded, encoded.rstrip("=")}
        # The longest first, so that a secret inside another one leaves no rest behind.
        self._forms = sorted(forms, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text with every secret replaced by ``***``."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, "***")
        return text


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON: time, level, logger, message and the structured fields."""

    def __init__(self, redact: Redactor) -> None:
        """Every string that leaves goes through ``redact``."""
        super().__init__()
        self.redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """One line; never raises for a field that JSON does not know."""
        fields: Mapping[str, Any] = getattr(record, "fields", {})
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **fields,
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return self.redact(json.dumps(line, default=str))


def learn(secrets: Iterable[str]) -> None:
    """Replace these secrets too from now on; those that were known before may still stand somewhere."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, JsonFormatter):
            handler.formatter.redact.learn(secrets)


def configure(secrets: Iterable[str], *, stream: IO[str] | None = None, level: str = "INFO") -> None:
    """Send everything to one stream as JSON lines; noisy libraries speak from WARNING on."""
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(JsonFormatter(Redactor(secrets)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("driftwatch").setLevel(level)
    # httpx prints whole URLs at INFO and apprise secrets at DEBUG, whatever the root says.
    for noisy in ("httpx", "httpcore", "apprise", "uvicorn", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # What becomes of its jobs is said by schedule/, once.
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL)
