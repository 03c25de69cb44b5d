"""What faults of databases and receivers, and ends in the middle of the work, do to messages."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from driftwatch.alerts.wording import Voice
from driftwatch.clock import SystemClock
from driftwatch.config import Channel
from driftwatch.errors import StoreError
from driftwatch.model import EventKind
from driftwatch.store.ports import ClaimedMessage, DeliveryOutcome, MessageStatus
from tests.alerts.house import FAILED, SENT, WAIT, House


async def test_a_settlement_that_the_database_refuses_is_written_later_and_nothing_is_sent_twice(
    house: House, event: Any
) -> None:
    house.tell(event(EventKind.CHANGE))
    house.store.faults = {"settle": 1}
    with pytest.raises(StoreError, match="the disk is full"):
        await house.after(WAIT)
    assert await house.outbox.run_once() == 0
    assert [record.status for record in house.store.messages()] == [MessageStatus.SENT]
    assert len(house.sender.sent) == 1


async def test_a_process_that_slept_past_its_lease_sends_nothing(
    house: House, event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    transact = house.store.transact

    async def slow(work: Any) -> Any:
        result = await transact(work)
        if isinstance(result, ClaimedMessage) and result.attempts == 1:
            house.clock.advance(timedelta(minutes=5))
        return result

    monkeypatch.setattr(house.store, "transact", slow)
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    (message,) = house.sender.sent
    assert message["body"].endswith(f"(possible repeat of dw:{message['message_id'][:8]})")


@pytest.mark.parametrize("end", ["freeze", "claim", "send", "settle"])
async def test_a_process_may_die_anywhere_and_the_message_still_arrives(
    house: House, event: Any, end: str
) -> None:
    house.tell(event(EventKind.CHANGE))
    if end == "send":
        house.store.dies_before = "settle"
    else:
        house.store.dies_after = end
    with pytest.raises(house.store.dies):
        await house.after(WAIT)
    house.store.dies_after = house.store.dies_before = None
    died_with = len(house.sender.sent)

    house.outbox = house.start()
    await house.outbox.run_once()
    await house.after(timedelta(minutes=3))

    (record,) = house.store.messages()
    assert record.status is MessageStatus.SENT
    assert {message["message_id"] for message in house.sender.sent} == {record.message.id}
    assert len(house.sender.sent) == {"freeze": 1, "claim": 1, "send": 2, "settle": 1}[end]
    repeats = house.sender.sent[died_with:]
    labelled = ["possible repeat" in message["body"] for message in repeats]
    assert labelled == {"freeze": [False], "claim": [True], "send": [True], "settle": []}[end]


async def test_the_late_settlement_of_a_frozen_process_is_refused(
    house: House, event: Any, caplog: pytest.LogCaptureFixture
) -> None:
    house.tell(event(EventKind.CHANGE))
    house.clock.advance(WAIT)
    other = house.start()

    class Frozen:
        """Sends, then sleeps past its lease, in which another process sends again."""

        async def send(self, url: str, **message: Any) -> tuple[DeliveryOutcome, str | None]:
            await house.sender.send(url, **message)
            house.clock.advance(timedelta(minutes=3))
            await other.run_once()
            return FAILED

    await house.start(sender=Frozen()).run_once()
    (record,) = house.store.messages()
    assert record.status is MessageStatus.SENT
    assert ["possible repeat" in message["body"] for message in house.sender.sent] == [False, True]
    assert "claim_was_lost" in caplog.messages


class Doorbell:
    """A sender that says when it was rung, and answers when it may."""

    def __init__(self) -> None:
        self.rung = asyncio.Event()
        self.answer = asyncio.Event()
        self.bodies: list[str] = []

    async def send(self, url: str, *, body: str, **message: Any) -> tuple[DeliveryOutcome, str | None]:
        self.bodies.append(body)
        self.rung.set()
        await self.answer.wait()
        return SENT


async def test_the_service_delivers_when_it_is_woken_and_ends_when_it_is_told(
    store: Any, channel: Any, event: Any
) -> None:
    bell = Doorbell()
    house = House(store, bell, SystemClock(), [channel("ops")])
    outbox, stop = house.start(group_wait=timedelta(0)), asyncio.Event()
    running = asyncio.create_task(outbox.run(stop))
    house.tell(event(EventKind.CHANGE), wait=timedelta(0))
    outbox.wake()
    await bell.rung.wait()
    stop.set()
    bell.answer.set()
    await running
    assert [record.status for record in store.messages()] == [MessageStatus.SENT]


async def test_a_message_that_is_being_sent_at_the_end_may_have_arrived(
    store: Any, channel: Any, event: Any
) -> None:
    bell = Doorbell()
    house = House(store, bell, SystemClock(), [channel("ops")])
    running = asyncio.create_task(house.start(group_wait=timedelta(0)).run())
    house.tell(event(EventKind.CHANGE), wait=timedelta(0))
    await bell.rung.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (record,) = store.messages()
    assert record.status is MessageStatus.PENDING
    assert record.last_error == "stopped while sending"


async def test_other_channels_take_over_once_what_is_being_sent_is_finished(
    two: House, event: Any, channel: Callable[..., Channel]
) -> None:
    sending, finish = asyncio.Event(), asyncio.Event()
    told: list[tuple[str, str]] = []

    class Slow:
        async def send(self, url: str, *, title: str, **_: Any) -> tuple[DeliveryOutcome, str | None]:
            sending.set()
            await finish.wait()
            told.append((url, title))
            return SENT

    outbox = two.start(sender=Slow(), group_wait=timedelta(0))
    stop = asyncio.Event()
    running = asyncio.create_task(outbox.run(stop))
    two.tell(event(EventKind.CHANGE), wait=timedelta(0))
    outbox.wake()
    await sending.wait()
    outbox.configure([channel("ops"), channel("third")], voice=Voice(), group_wait=timedelta(0))
    await asyncio.sleep(0)
    assert told == []
    finish.set()
    two.channels = [channel("third")]
    two.tell(event(EventKind.RECOVERY), wait=timedelta(0))
    async with asyncio.timeout(60):
        while len(told) < 3:
            outbox.wake()
            await asyncio.sleep(0.01)
    stop.set()
    await running
    assert len({url for url, _ in told}) == 3
