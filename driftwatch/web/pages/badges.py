"""``/badge/{server}.svg`` and ``.json``: one server in two words, for a README or a dashboard."""

from html import escape

from starlette.responses import JSONResponse, Response

from driftwatch.alerts.text import label
from driftwatch.errors import no_server
from driftwatch.model import State
from driftwatch.store.ports import Glance, Reader
from driftwatch.web.pages.fleet import is_overdue
from driftwatch.web.pages.site import Scene

COLOURS = {
    State.FAILED: ("critical", "#b3261e"),
    State.OBSERVED_RISK: ("important", "#8a5a00"),
    State.NOT_CHECKED: ("inactive", "#5b6672"),
    State.VERIFIED: ("success", "#2b6a3f"),
}
"""By state: a name that shields.io knows, and our own."""

CACHE_S = 60

_HEADERS = {"cache-control": f"max-age={CACHE_S}", "x-content-type-options": "nosniff"}
_CHARACTER = 6.6
"""Width of a character of 11 px Verdana, on average."""


def svg(reader: Reader, scene: Scene) -> Response:
    """The badge as a picture."""
    glance = _glance(reader, scene)
    words, state = message(glance, scene)
    name = label(glance.name)
    left, right = (round(len(text) * _CHARACTER + 12) for text in (name, words))
    width, colour = left + right, COLOURS[state][1]
    title = escape(f"{name}: {words}")
    size = f'width="{width}" height="20"'
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<rect {size} rx="3" fill="{colour}"/>'
        f'<path d="M3 0h{left - 3}v20h-{left - 3}a3 3 0 0 1-3-3v-14a3 3 0 0 1 3-3z" fill="#3b3f44"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{left / 2}" y="14" textLength="{left - 12}">{escape(name)}</text>'
        f'<text x="{left + right / 2}" y="14" textLength="{right - 12}">{escape(words)}</text>'
        "</g></svg>"
    )
    headers = {**_HEADERS, "content-security-policy": "default-src 'none'"}
    return Response(picture.encode(), headers=headers, media_type="image/svg+xml")


def json(reader: Reader, scene: Scene) -> Response:
    """The badge for shields.io's endpoint badge."""
    glance = _glance(reader, scene)
    words, state = message(glance, scene)
    content = {
        "schemaVersion": 1,
        "label": label(glance.name),
        "message": words,
        "color": COLOURS[state][0],
        "isError": state is State.FAILED,
        "cacheSeconds": CACHE_S,
    }
    return JSONResponse(content, headers=_HEADERS)


def message(glance: Glance, scene: Scene) -> tuple[str, State]:
    """``2 failed``, ``1 observed risk``, ``all verified``, ``not checked``, ``stale``."""
    if scene.stuck or is_overdue(glance.next_due_at, scene.now):
        return "stale", State.NOT_CHECKED
    state = glance.worst
    if state in (State.FAILED, State.OBSERVED_RISK):
        return f"{glance.counts[state]} {state.words}", state
    return ("all verified" if state is State.VERIFIED else state.words), state


def _glance(reader: Reader, scene: Scene) -> Glance:
    name = scene.path["server"]
    for glance in reader.glance(name):
        return glance
    raise no_server(name, (each.name for each in reader.servers()))
