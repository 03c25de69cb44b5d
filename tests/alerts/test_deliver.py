import asyncio
import io
import json
import logging
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP

from driftwatch.alerts.deliver import MESSAGE_HEADER, AppriseSender
from driftwatch.alerts.services import validate
from driftwatch.model import Level
from driftwatch.store.ports import DeliveryOutcome

SECRET = "canary-0123456789"

PLAIN: dict[str, Any] = {
    "title": "t",
    "body": "b",
    "html": None,
    "level": Level.INFO,
    "message_id": "m",
}


async def send(url: str, **changes: Any) -> tuple[DeliveryOutcome, str | None]:
    message: dict[str, Any] = {
        "title": "[driftwatch] api-prod: down - connection refused",
        "body": "transport/endpoint: verified -> failed (refused)\n[Errno 111] Connection refused",
        "html": None,
        "level": Level.ERROR,
        "message_id": "1a2b3c4d-0000-5000-8000-000000000000",
        "timeout": 10,
        **changes,
    }
    return await AppriseSender(secrets=[SECRET]).send(url, **message)


async def test_a_json_receiver_gets_title_text_level_and_the_message_id(receiver: Any) -> None:
    outcome = await send(receiver.url())

    assert outcome == (DeliveryOutcome.SENT, None)
    (request,) = receiver.received
    payload = json.loads(request.body)
    assert payload["title"] == "[driftwatch] api-prod: down - connection refused"
    assert payload["message"].startswith("transport/endpoint: verified -> failed (refused)")
    assert payload["type"] == "failure"
    assert request.headers[MESSAGE_HEADER.lower()] == "1a2b3c4d-0000-5000-8000-000000000000"
    assert request.headers["user-agent"] == "driftwatch"


@pytest.mark.parametrize("scheme", ["xml", "form"])
async def test_xml_and_form_receivers_get_the_message_id_too(receiver: Any, scheme: str) -> None:
    assert await send(receiver.url(scheme)) == (DeliveryOutcome.SENT, None)
    assert receiver.received[0].headers[MESSAGE_HEADER.lower()].startswith("1a2b3c4d")


@pytest.mark.parametrize("status", ["400", "401", "404", "429", "500", "503"])
async def test_a_status_that_refuses_is_a_failure_that_may_be_tried_again(receiver: Any, status: str) -> None:
    receiver.manner = status
    assert await send(receiver.url()) == (DeliveryOutcome.FAILED, f"the receiver answered HTTP {status}")


async def test_a_redirect_is_not_followed_whatever_the_url_says(receiver: Any) -> None:
    receiver.manner = "redirect"
    outcome = await send(receiver.url() + "?redirect=yes&retry=3")

    assert outcome == (DeliveryOutcome.FAILED, "the receiver answered HTTP 307")
    assert [request.path for request in receiver.received] == ["/secret-path-1234"]


@pytest.mark.parametrize("manner", ["die", "garbage"])
async def test_a_receiver_that_takes_the_message_and_answers_nothing_may_have_it(
    receiver: Any, manner: str
) -> None:
    receiver.manner = manner
    outcome, reason = await send(receiver.url())

    assert outcome is DeliveryOutcome.UNKNOWN
    assert reason
    assert "secret-path" not in reason


@pytest.mark.parametrize("manner", ["hang", "drip"])
async def test_a_receiver_without_an_end_is_given_up_and_may_have_the_message(
    receiver: Any, manner: str
) -> None:
    receiver.manner = manner
    assert await send(receiver.url(), timeout=0.2) == (DeliveryOutcome.UNKNOWN, "no answer within 0.2 s")


async def test_a_hanging_send_runs_in_a_daemon_thread_so_that_nothing_waits_for_it(receiver: Any) -> None:
    receiver.manner = "hang"
    await send(receiver.url(), timeout=0.2)

    (hanging,) = [thread for thread in threading.enumerate() if thread.name == "send"]
    assert hanging.daemon


async def test_a_hanging_send_does_not_keep_the_process_alive(receiver: Any) -> None:
    receiver.manner = "hang"
    program = (
        "import asyncio, sys; from driftwatch.alerts.deliver import AppriseSender; "
        "from driftwatch.model import Level; "
        "print(asyncio.run(AppriseSender().send(sys.argv[1], title='t', body='b', html=None, "
        "level=Level.INFO, message_id='m', timeout=0.2))[0].value)"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, f"{receiver.url()}?rto=600", stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):  # far below the ten minutes that the receiver's URL allows
        out, _ = await process.communicate()
    assert (process.returncode, out.strip()) == (0, b"unknown")


async def test_no_more_than_three_sends_to_one_receiver_hang(receiver: Any) -> None:
    receiver.manner = "hang"
    sender = AppriseSender()
    outcomes = [await sender.send(receiver.url(), timeout=0.1, **PLAIN) for _ in range(4)]

    assert [outcome for outcome, _ in outcomes] == [DeliveryOutcome.UNKNOWN] * 3 + [DeliveryOutcome.FAILED]
    assert outcomes[3][1] == "3 earlier attempts still hang"


async def test_a_hanging_send_holds_nobody_up(receiver: Any) -> None:
    sender = AppriseSender()
    receiver.manner = "hang"
    hanging = asyncio.create_task(sender.send(receiver.url(), timeout=60, **PLAIN))
    await receiver.reached.wait()
    receiver.manner = "ok"
    assert await sender.send(receiver.url(path="/other"), timeout=10, **PLAIN) == (
        DeliveryOutcome.SENT,
        None,
    )
    assert not hanging.done()
    hanging.cancel()


async def test_a_refused_connection_is_a_plain_failure(receiver: Any, free_tcp_port: int) -> None:
    url = f"json://127.0.0.1:{free_tcp_port}/"
    assert await send(url) == (DeliveryOutcome.FAILED, "connection refused")


async def test_a_url_that_apprise_cannot_use_is_rejected() -> None:
    outcome, reason = await send(f"nosuch://{SECRET}/x")
    assert outcome is DeliveryOutcome.REJECTED
    assert reason == "Apprise has no service for nosuch://; see its list of services"


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything that a root logger at DEBUG prints; pytest's capture also hears loggers that are cut off."""
    stream, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(stream), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


async def test_no_secret_gets_into_a_reason_or_a_log(receiver: Any, logged: io.StringIO) -> None:
    urls = [
        receiver.url(path=f"/{SECRET}/x?+Authorization={SECRET}"),
        f"json://user:{SECRET}@127.0.0.1:{receiver.port}/hook",
        f"slack://{SECRET}/bad",
        f"{SECRET}://host",
        SECRET,
    ]
    receiver.manner = "die"
    reasons = [(await send(url))[1] for url in urls] + [validate(url) for url in urls]

    receiver.manner = "ok"
    await send(urls[0])
    told = "\n".join(filter(None, reasons)) + logged.getvalue()
    assert SECRET not in told


async def test_a_secret_that_the_receiver_throws_back_is_redacted(receiver: Any) -> None:
    receiver.manner = "die"
    _, reason = await send(receiver.url().replace("127.0.0.1", "localhost") + f"?+X={SECRET}")
    assert reason == "A Connection error occurred sending JSON notification to ***."


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("json://127.0.0.1/path", None),
        ("mailto://127.0.0.1:25?from=a@b.example&to=c@d.example", None),
        (
            "slack://TokenA/bad",
            "Apprise cannot read this slack:// URL; compare it with the form in Apprise's documentation",
        ),
        ("json://a.example/x, json://b.example/y", "more than one URL: give each a channel of its own"),
        ("json://a.example/x,y", None),
        ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", None),
        ("https://discord.com/api/webhooks/1234567890/abcdefghijklmnop", None),
        (
            "https://hooks.example.com/secret",
            "Apprise knows no service by this web address; a webhook of your own is json:// or jsons://",
        ),
        ("slak://a/b/c", "Apprise has no service for slak://; see its list of services"),
        (
            "hooks.slack.com/services/x",
            "not an Apprise URL: it starts with a service's name and ://, such as mailto:// or slack://",
        ),
    ],
)
def test_a_url_is_validated_with_a_reason_that_shows_nothing_of_it(url: str, reason: str | None) -> None:
    assert validate(url) == reason


# E-mail


class Mailbox:
    """What a mail server on loopback was handed."""

    def __init__(self) -> None:
        self.mails: list[Message] = []
        self.answer = "250 OK"
        self.port = 0

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        self.mails.append(message_from_bytes(envelope.content, policy=default))
        return self.answer

    @property
    def url(self) -> str:
        return f"mailto://127.0.0.1:{self.port}?from=dw@ops.example&to=me@ops.example&mode=insecure"


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    box = Mailbox()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(box, hostname="mail.test", loop=loop), "127.0.0.1", 0)
    box.port = server.sockets[0].getsockname()[1]
    yield box
    server.close()
    await server.wait_closed()


async def test_an_email_carries_html_and_text(mailbox: Mailbox) -> None:
    page = (
        "<!doctype html><html><body><h1>api-prod: down</h1><p>transport/endpoint: <b>x</b></p></body></html>"
    )
    assert await send(mailbox.url, html=page) == (DeliveryOutcome.SENT, None)

    (mail,) = mailbox.mails
    assert mail["Subject"] == "[driftwatch] api-prod: down - connection refused"
    assert mail[MESSAGE_HEADER].startswith("1a2b3c4d")
    assert [part.get_content_type() for part in mail.walk()] == [
        "multipart/alternative",
        "text/plain",
        "text/html",
    ]


async def test_a_mail_server_that_refuses_is_a_plain_failure(mailbox: Mailbox) -> None:
    mailbox.answer = "550 no such mailbox"
    assert await send(mailbox.url) == (DeliveryOutcome.FAILED, "the mail server answered 550")


async def test_a_mail_server_that_never_greets_is_given_up(receiver: Any) -> None:
    receiver.manner = "hang"
    url = f"mailto://127.0.0.1:{receiver.port}?from=a@b.example&to=c@d.example&mode=insecure"
    assert await send(url, timeout=0.3) == (DeliveryOutcome.UNKNOWN, "no answer within 0.3 s")


# Chat


async def test_slack_gets_plain_text_without_pictures_from_elsewhere(
    receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apprise.plugins.slack import NotifySlack  # noqa: PLC0415 - slow, and only here

    monkeypatch.setattr(NotifySlack, "webhook_url", f"http://127.0.0.1:{receiver.port}/services")
    token = "T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
    outcome = await send(f"slack://{token}/#ops", body="*not bold* `code`")

    payload = json.loads(receiver.received[0].body)
    assert outcome[0] in {DeliveryOutcome.SENT, DeliveryOutcome.UNKNOWN, DeliveryOutcome.FAILED}
    assert "http" not in json.dumps(payload)
    assert "*not bold* `code`" in json.dumps(payload)


@pytest.mark.parametrize(
    "url",
    [
        "discord://1234567890/abcdefghijklmnop",
        "https://discord.com/api/webhooks/1234567890/abcdefghijklmnop",
    ],
)
async def test_discord_shows_markdown_as_it_is_written(
    receiver: Any, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    from apprise.plugins.discord import NotifyDiscord  # noqa: PLC0415 - slow, and only here

    monkeypatch.setattr(NotifyDiscord, "notify_url", f"http://127.0.0.1:{receiver.port}")
    await send(url, body="tool __init__ ||hidden|| `x`")

    assert r"tool \_\_init\_\_ \|\|hidden\|\| \`x\`" in json.loads(receiver.received[0].body)["content"]
