"""Hands messages to receivers through Apprise, each send in a thread of its own with an end.

Apprise's own pools are not used: a receiver that hangs would hold a place in them for ever, and the
interpreter waits for their threads at exit. Its logs carry secrets and go nowhere; they are read once, to
tell what was refused from what may have arrived.
"""

import asyncio
import logging
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import unquote_plus

from driftwatch.alerts import services
from driftwatch.alerts.text import clip
from driftwatch.logs import Redactor
from driftwatch.model import Level
from driftwatch.store.ports import DeliveryOutcome

T = TypeVar("T")

log = logging.getLogger("driftwatch.deliveries")

MOST_HANGING = 3
"""Sends to one URL that may hang at a time; then no other is started."""

ERROR_LIMIT = 300

MESSAGE_HEADER = "X-Driftwatch-Message"
"""By this a receiver recognises a repeat."""

_TAKES_HEADERS = frozenset({"json", "jsons", "xml", "xmls", "form", "forms", "mailto", "mailtos"})

_READS_MARKDOWN = frozenset({"discord", "guilded", "mmost", "mmosts", "nctalk", "nctalks", "revolt", "zulip"})
"""Services that render Markdown although Apprise hands them plain text as it is."""

_MARKDOWN = re.compile(r"([\\`*_~|\[\]])")

_NOT_SENT = MappingProxyType(
    {
        "Connection refused": "connection refused",
        "Failed to resolve": "the receiver's name does not resolve",
        "Name or service not known": "the receiver's name does not resolve",
        "getaddrinfo failed": "the receiver's name does not resolve",
        "Temporary failure in name resolution": "the receiver's name does not resolve",
        "ConnectTimeoutError": "no connection in time",
        "No route to host": "no route to the receiver",
        "Network is unreachable": "no network",
        "CERTIFICATE_VERIFY_FAILED": "the receiver's certificate does not verify",
        "ProxyError": "the proxy refused",
    }
)
"""What Apprise logs of faults that come before a message leaves."""

_HTTP_STATUS = re.compile(r"error=(\d{3})\b")
_SMTP_REPLY = re.compile(r"\((?:'[^']*', )?([45]\d\d), b?['\"]")
_FAULT = "Socket Exception"
_SMTP_PARTLY = "SMTP recipient"


class AppriseSender:
    """Sends through Apprise; the receiver's URL never leaves this class."""

    def __init__(self, *, secrets: Iterable[str] = ()) -> None:
        """``secrets`` are replaced in every reason that is given."""
        self._secrets = tuple(secrets)
        self._hanging: Counter[str] = Counter()
        self._loaded = False

    def learn(self, secrets: Iterable[str]) -> None:
        """Replace these too from now on."""
        self._secrets = tuple({*self._secrets, *secrets})

    async def send(
        self,
        url: str,
        *,
        title: str,
        body: str,
        html: str | None,
        level: Level,
        message_id: str,
        timeout: float,  # noqa: ASYNC109 - what is late goes on in its thread: a cancel scope would not end it
    ) -> tuple[DeliveryOutcome, str | None]:
        """Send one message within ``timeout`` seconds; the reason is redacted and at most 300 characters.

        A send that is not over by then goes on in its thread, so what becomes of it is unknown. The first one
        loads Apprise, which may take seconds and is not on its clock.
        """
        if not self._loaded:
            await _in_thread(lambda: services.validate("json://localhost"))
            self._loaded = True
        if self._hanging[url] >= MOST_HANGING:
            return DeliveryOutcome.FAILED, f"{MOST_HANGING} earlier attempts still hang"
        redact = Redactor((*self._secrets, *_pieces(url)))

        def attempt() -> tuple[DeliveryOutcome, str | None]:
            outcome, reason = _attempt(
                url, title=title, body=body, html=html, level=level, message_id=message_id
            )
            return outcome, clip(redact(reason), ERROR_LIMIT) if reason else None

        def over() -> None:
            self._hanging[url] -= 1

        self._hanging[url] += 1
        try:
            async with asyncio.timeout(timeout):
                return await _in_thread(attempt, over)
        except TimeoutError:
            return DeliveryOutcome.UNKNOWN, f"no answer within {timeout:g} s"


def _attempt(
    url: str, *, title: str, body: str, html: str | None, level: Level, message_id: str
) -> tuple[DeliveryOutcome, str | None]:
    library = services.load()
    service = services.instantiate(url)
    if service is None:
        return DeliveryOutcome.REJECTED, services.validate(url) or "Apprise cannot use this URL"
    kinds: set[str] = service.schemas()  # not the URL's own scheme: it may be the service's web address
    if kinds & _TAKES_HEADERS:
        service.headers[MESSAGE_HEADER] = message_id
    formats = library.NotifyFormat
    page = html is not None and service.resolve_format(formats.HTML) is formats.HTML
    if not page and kinds & _READS_MARKDOWN:
        title, body = _MARKDOWN.sub(r"\\\1", title), _MARKDOWN.sub(r"\\\1", body)
    box = library.Apprise(asset=service.asset)
    box.add(service)
    with box.notify(
        title=title,
        body=html if page else body,
        body_format=formats.HTML if page else formats.TEXT,
        notify_type=_notify_type(library, level),
        interpret_escapes=False,
        log_level=logging.DEBUG,
    ) as result:
        statuses = library.AppriseResultStatus
        if result.status is statuses.SUCCESS:
            return DeliveryOutcome.SENT, None
        if result.status is statuses.NOMATCH:
            return DeliveryOutcome.REJECTED, "Apprise found no service behind this URL"
        return _judge([(entry.level, entry.message) for entry in result.logs()])


def _judge(logs: Sequence[tuple[str, str]]) -> tuple[DeliveryOutcome, str]:
    """What a failure means. What surely did not arrive is ``failed``; all else may be a repeat next time."""
    loud = [message for level, message in logs if level in {"WARNING", "ERROR", "CRITICAL"}]
    # Not the rest of the debug lines: they hold the message itself, and that may say "Connection refused".
    said = "\n".join((*loud, *(message for _, message in logs if message.startswith(_FAULT))))
    if _SMTP_PARTLY in said:
        return DeliveryOutcome.UNKNOWN, "the mail server refused some of the recipients"
    if status := _HTTP_STATUS.search(said):
        return DeliveryOutcome.FAILED, f"the receiver answered HTTP {status[1]}"
    if reply := _SMTP_REPLY.search(said):
        return DeliveryOutcome.FAILED, f"the mail server answered {reply[1]}"
    for sign, reason in _NOT_SENT.items():
        if sign in said:
            return DeliveryOutcome.FAILED, reason
    return DeliveryOutcome.UNKNOWN, loud[-1] if loud else "the receiver's answer never came"


def _notify_type(library: Any, level: Level) -> Any:
    types: Mapping[Level, Any] = {
        Level.INFO: library.NotifyType.INFO,
        Level.WARNING: library.NotifyType.WARNING,
        Level.ERROR: library.NotifyType.FAILURE,
    }
    return types[level]


def _pieces(url: str) -> set[str]:
    """Every part of a URL that may be a secret, as it stands and decoded."""
    rest = url.partition("://")[2]
    parts = {url, rest, *re.split(r"[/?#&=@:]", rest)}
    return parts | {unquote_plus(part) for part in parts}


async def _in_thread(work: Callable[[], T], over: Callable[[], None] = lambda: None) -> T:
    """Run ``work`` in a daemon thread: one that hangs blocks neither the loop, nor another, nor the exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def finish(result: T | None, error: BaseException | None) -> None:
        over()
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = work()
        except BaseException as raised:  # noqa: BLE001 - it belongs to whoever waits
            error = raised
        # The loop may be closed by now: then nobody waits.
        try:
            loop.call_soon_threadsafe(finish, result, error)
        except RuntimeError:
            log.debug("a send ended after the service")

    threading.Thread(target=run, name="send", daemon=True).start()
    return await future
