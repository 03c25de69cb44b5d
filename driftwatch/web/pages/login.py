"""``/login`` and ``/logout``: a read token for a cookie, and back."""

from collections import OrderedDict, deque
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from driftwatch.clock import Clock
from driftwatch.web.access import COOKIE, PASS_LIFETIME
from driftwatch.web.hooks.bodies import receive
from driftwatch.web.pages.site import Site

BODY_LIMIT = 8192
"""Bytes of a form; a token is no longer than 1,024 characters."""

ATTEMPTS = 10
WINDOW = timedelta(minutes=5)
"""So many wrong tokens from one address in this time, and the next one has to wait."""

ADDRESSES = 2000
"""So many addresses are remembered; the oldest is forgotten first."""


class Throttle:
    """Counts wrong tokens by address."""

    def __init__(self, clock: Clock) -> None:
        """Nothing of it is stored: a restart forgets."""
        self._clock = clock
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """How long the address has to wait, in seconds; 0 when it may try."""
        times = self._wrong.get(address)
        if times is None:
            return 0
        now = self._clock.monotonic()
        while times and now - times[0] > WINDOW.total_seconds():
            times.popleft()
        if len(times) < ATTEMPTS:
            return 0
        return max(1, round(WINDOW.total_seconds() - (now - times[0])))

    def wrong(self, address: str) -> None:
        """Note a wrong token."""
        self._wrong.setdefault(address, deque(maxlen=ATTEMPTS)).append(self._clock.monotonic())
        self._wrong.move_to_end(address)
        while len(self._wrong) > ADDRESSES:
            self._wrong.popitem(last=False)


def routes(site: Site) -> list[Route]:
    """The form, its answer, and the way out."""
    throttle = Throttle(site.context.clock)

    async def form(request: Request) -> Response:
        return site.login(request, inside(request.query_params.get("next", "")), 200)

    async def login(request: Request) -> Response:
        if is_foreign(request):
            return site.problem(request, 403, "Not from here", "This form was sent by another website.")
        # Before the count is looked at: what arrives slowly must not be judged by how it was when it began.
        given = await fields(request)
        address = request.client.host if request.client else ""
        wait = throttle.wait_s(address)
        if wait:
            told = "Too many wrong tokens came from this address.", f"It may try again in {wait} seconds."
            headers = {"retry-after": str(wait)}
            return site.problem(request, 429, "Wait a little", *told, headers=headers)
        wanted = inside(given.get("next", ""))
        if not site.access.opens(given.get("token", "")):
            throttle.wrong(address)
            return site.login(request, wanted, 401, "This token does not open these pages.")
        response = RedirectResponse(wanted, 303, {"cache-control": "no-store"})
        response.set_cookie(
            COOKIE,
            site.access.issue_pass(),
            max_age=round(PASS_LIFETIME.total_seconds()),
            httponly=True,
            secure=is_https(request),
            samesite="strict",
        )
        return response

    async def logout(request: Request) -> Response:
        if is_foreign(request):
            return site.problem(request, 403, "Not from here", "This form was sent by another website.")
        response = RedirectResponse("/login", 303, {"cache-control": "no-store"})
        response.delete_cookie(COOKIE, httponly=True, secure=is_https(request), samesite="strict")
        return response

    return [
        Route("/login", form),
        Route("/login", login, methods=["POST"]),
        Route("/logout", logout, methods=["POST"]),
    ]


def inside(address: str) -> str:
    r"""The address when it is a path of ours, else ``/``: never another site's, however it is spelled.

    Browsers read ``//evil``, ``/\evil`` and ``/<tab>/evil`` as another host.
    """
    plain = address.isascii() and address.isprintable() and "\\" not in address
    if not plain or not address.startswith("/") or address.startswith("//"):
        return "/"
    return address


def is_foreign(request: Request) -> bool:
    """Whether a browser says that another site sent the form."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


def is_https(request: Request) -> bool:
    """Whether the browser came by https, as far as one can know behind a proxy."""
    proxied = request.headers.get("x-forwarded-proto", "").partition(",")[0].strip()
    return "https" in (request.url.scheme, proxied)


async def fields(request: Request) -> dict[str, str]:
    """The first value of each field of a form; empty for what is no form, or too much.

    Raises HTTPException for what does not arrive in time, as ``receive`` does.
    """
    body = await receive(request)
    if len(body) > BODY_LIMIT:
        return {}
    try:
        given = parse_qs(body.decode(), max_num_fields=10)
    except ValueError:
        return {}
    return {name: values[0] for name, values in given.items()}
