"""Templates to responses: what leaves is escaped and neutralised, and loads nothing from elsewhere."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from driftwatch.alerts.text import clip, count, duration, moment, plain
from driftwatch.model import State
from driftwatch.web.pages import assets
from driftwatch.web.pages.words import prose

TEXT_LIMIT = 2000
"""Characters of any one text on a page."""

HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Of every page. Nothing runs, nothing is embedded, nothing is kept."""

ORDER = (State.FAILED, State.OBSERVED_RISK, State.VERIFIED, State.NOT_CHECKED)
"""In which counts are told."""


def render(template: str, status: int, values: Mapping[str, Any], headers: Mapping[str, str]) -> HTMLResponse:
    """A page. Raises jinja2.UndefinedError for a template that asks for what the view did not give."""
    html = _environment.get_template(template).render(values)
    # A lone surrogate cannot be encoded; neutralised texts have none, and a page must not fail for one.
    return HTMLResponse(html.encode("utf-8", "replace"), status, {**HEADERS, **headers})


def harmless(value: Any) -> Any:
    """A value on its way into a page: texts hide and move nothing, and end somewhere."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return plain(value, TEXT_LIMIT)
    return value


def iso(at: datetime) -> str:
    """A time for machines."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def ago(at: datetime, now: datetime) -> str:
    """``3 h ago`` or ``in 12 min``; ``just now`` within a few seconds."""
    span = now - at
    if abs(span) < timedelta(seconds=5):
        return "just now"
    shown = coarse(abs(span))
    return f"{shown} ago" if span > timedelta(0) else f"in {shown}"


def coarse(span: timedelta) -> str:
    """A duration's largest unit: ``3 d``."""
    first, unit = duration(span).split()[:2]
    return f"{first} {unit}"


def address(*parts: str) -> str:
    """A path of our own with names in it that may be anything."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


def _lines(text: str, limit: int = 40) -> list[str]:
    """A foreign text line by line, the first ``limit`` of them."""
    lines = text.splitlines()
    return lines if len(lines) <= limit else [*lines[:limit], f"… +{len(lines) - limit} lines"]


def _short_moment(at: datetime, days: str) -> str:
    """A time below a drawing of so many days."""
    return f"{at.astimezone(UTC):%d %b %H:%M}" if days == "1" else f"{at.astimezone(UTC):%d %b}"


def _environment_of(folder: Path) -> Environment:
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "ago": ago,
        "clip": clip,
        "coarse": coarse,
        "count": count,
        "iso": iso,
        "lines": _lines,
        "moment": moment,
        "short_moment": _short_moment,
    }
    made.globals |= {
        "prose": prose,
        "address": address,
        "asset": assets.address,
        "State": State,
        "ORDER": ORDER,
    }
    return made


_environment = _environment_of(Path(__file__).parent / "templates")
