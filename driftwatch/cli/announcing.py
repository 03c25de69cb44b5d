"""The client of the deploy webhook: announces a release to a running driftwatch and waits for its verdict."""

import time
import uuid
from collections.abc import Callable, Sequence
from http import HTTPStatus

import httpx

import driftwatch
from driftwatch.errors import ServiceError, UsageError
from driftwatch.model import Json

HOLD_S = 50
"""One request is held this long at most, because proxies cut longer ones off; then another one follows."""

PATIENCE_S = 60.0
"""How long a service out of reach is tried again, or as long as the wait, where that is longer."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 10.0
_TRANSIENT = (429, 502, 503, 504)
_USAGE = (400, 401, 403, 404, 405, 409, 413, 415, 422)
_ANSWER_S = 30.0


class Client:
    """Talks to one driftwatch; a request that broke off is made again under the same delivery id."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """``url`` is the address of the service, also behind a path of a proxy."""
        self._clock = clock
        self._pause = pause
        self._base = f"{url.rstrip('/')}/"
        self._http = httpx.Client(
            timeout=HOLD_S + _ANSWER_S,
            headers={
                "Authorization": f"Bearer {token}",
                "User-Agent": f"driftwatch/{driftwatch.__version__}",
                "Idempotency-Key": str(uuid.uuid4()),
            },
        )

    def announce(self, body: Json, *, wait_s: int, gates: Sequence[str]) -> tuple[HTTPStatus, Json]:
        """Announce a release and wait for it; the last status, and what was said.

        200 passed, 202 under way, 409 a gate not passed. Raises UsageError for what the service refuses,
        ServiceError when it cannot be reached.
        """
        ends = self._clock() + wait_s
        status, said = self._ask("POST", "hooks/deploy", body, self._query(ends, gates), ends)
        while status == HTTPStatus.ACCEPTED and self._clock() < ends:
            path = f"api/v1/deploys/{said['deploy']}"
            status, said = self._ask("GET", path, None, self._query(ends, gates), ends)
        return status, {**said, "status_url": f"{self._base}api/v1/deploys/{said['deploy']}"}

    def _query(self, ends: float, gates: Sequence[str]) -> dict[str, str]:
        left = min(HOLD_S, round(ends - self._clock()))
        return {"wait": str(left), **({"gate": ",".join(gates)} if gates else {})} if left > 0 else {}

    def _ask(
        self, method: str, path: str, body: Json, query: dict[str, str], ends: float
    ) -> tuple[HTTPStatus, Json]:
        """One answer, after as many attempts as patience allows."""
        gives_up, pause = max(ends, self._clock() + PATIENCE_S), FIRST_PAUSE_S
        while True:
            try:
                reply = self._http.request(method, f"{self._base}{path}", json=body, params=query)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise UsageError(f"{self._base} is no address of a service: {error}") from None
            except httpx.TransportError as error:
                trouble = f"cannot be reached: {error or type(error).__name__}"
                if "CERTIFICATE_VERIFY_FAILED" in str(error):
                    raise ServiceError(f"{self._base} {trouble}") from None
            else:
                if reply.status_code not in _TRANSIENT:
                    return self._answer(reply)
                trouble = f"answers {reply.status_code}: {_detail(reply)}"
                pause = max(pause, _retry_after(reply))
            if self._clock() + pause >= gives_up:
                raise ServiceError(f"{self._base} {trouble}")
            self._pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _answer(self, reply: httpx.Response) -> tuple[HTTPStatus, Json]:
        said = _json(reply)
        if isinstance(said, dict) and "deploy" in said and "servers" in said:
            return HTTPStatus(reply.status_code), said
        if reply.status_code in _USAGE:
            raise UsageError(f"{self._base} refuses it: {_detail(reply)}")
        raise ServiceError(
            f"{self._base} answers {reply.status_code}, and not like driftwatch: {_detail(reply)}"
        )


def _json(reply: httpx.Response) -> Json:
    try:
        return reply.json()
    except ValueError:
        return None


def _detail(reply: httpx.Response) -> str:
    said = _json(reply)
    detail = said.get("detail") if isinstance(said, dict) else None
    return str(detail or reply.reason_phrase or reply.status_code)


def _retry_after(reply: httpx.Response) -> float:
    seconds = reply.headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdecimal() and len(seconds) < 6 else 0.0  # noqa: PLR2004
