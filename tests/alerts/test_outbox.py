"""When messages leave, in which order, how often, and what becomes of those that do not."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from driftwatch.alerts import lane
from driftwatch.alerts.compose import message_id
from driftwatch.alerts.route import trial
from driftwatch.model import EventKind, Level
from driftwatch.store.ports import DeliveryOutcome, MessageStatus
from tests.alerts.house import FAILED, SENT, UNKNOWN, WAIT, House


async def test_nothing_is_sent_before_its_wait_is_over(house: House, event: Any) -> None:
    house.tell(event(EventKind.CHANGE))
    assert await house.after(timedelta(seconds=29)) == 0
    assert await house.after(timedelta(seconds=1)) == 1
    assert house.titles == ["api-prod: down - connection refused"]


async def test_what_is_sent_is_not_sent_again(house: House, event: Any) -> None:
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    assert await house.after(timedelta(days=1)) == 0
    (record,) = house.store.messages()
    assert record.status is MessageStatus.SENT
    assert record.sent_at == house.clock.now() - timedelta(days=1)


async def test_everything_of_one_wait_is_one_message(house: House, event: Any) -> None:
    house.tell(event(EventKind.CHANGE))
    house.clock.advance(timedelta(seconds=20))
    house.tell(event(EventKind.CHANGE, server="docs", after="failed:dns"))
    await house.after(timedelta(seconds=10))
    assert house.titles == ["2 servers: 2 down"]


async def test_a_change_and_its_undo_in_one_wait_are_one_blip(house: House, event: Any) -> None:
    house.tell(event(EventKind.CHANGE))
    house.clock.advance(timedelta(seconds=20))
    house.tell(
        event(
            EventKind.RECOVERY,
            Level.INFO,
            before="failed:refused",
            after="verified",
            at=house.clock.now(),
        )
    )
    await house.after(timedelta(seconds=10))
    assert house.titles == ["api-prod: was down for 1 min 20 s - connection refused"]


async def test_the_message_is_named_after_its_channel_and_its_events(house: House, event: Any) -> None:
    events = [event(EventKind.CHANGE), event(EventKind.CHANGE, server="docs")]
    house.tell(*events)
    await house.after(WAIT)
    (message,) = house.sender.sent
    assert message["message_id"] == message_id("ops", [item.id for item in reversed(events)])
    assert message["body"].endswith(f"dw:{message['message_id'][:8]}")


async def test_a_failure_is_tried_again_at_growing_intervals(house: House, event: Any) -> None:
    house.sender.answers = [FAILED]
    house.tell(event(EventKind.CHANGE))
    waits = []
    await house.after(WAIT)
    for _ in range(9):
        (record,) = house.store.messages(MessageStatus.PENDING)
        assert record.next_attempt_at
        waits.append(record.next_attempt_at - house.clock.now())
        assert await house.after(waits[-1] - timedelta(seconds=1)) == 0
        assert await house.after(timedelta(seconds=1)) == 1
    assert [wait.total_seconds() for wait in waits] == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]


@pytest.mark.parametrize(("jitter", "seconds"), [(0.0, 24), (1.0, 36)])
async def test_intervals_vary_by_a_fifth(house: House, event: Any, jitter: float, seconds: int) -> None:
    house.sender.answers = [FAILED]
    house.outbox = house.start(jitter=lambda: jitter)
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    (record,) = house.store.messages()
    assert record.next_attempt_at == house.clock.now() + timedelta(seconds=seconds)


async def test_after_a_plain_failure_the_message_is_the_same(house: House, event: Any) -> None:
    house.sender.answers = [FAILED, SENT]
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    await house.after(timedelta(seconds=30))
    first, second = house.sender.sent
    assert first == second


async def test_what_may_have_arrived_is_labelled_as_a_possible_repeat(house: House, event: Any) -> None:
    house.sender.answers = [UNKNOWN, FAILED, SENT]
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    await house.after(timedelta(seconds=30))
    await house.after(timedelta(seconds=60))
    first, second, third = house.sender.sent
    label = f"(possible repeat of dw:{first['message_id'][:8]})"
    assert second["body"] == f"{first['body']}\n{label}"
    assert third == second, "once it may have arrived, it may have arrived"
    assert {message["message_id"] for message in house.sender.sent} == {first["message_id"]}


async def test_a_channel_that_is_down_holds_no_other_one_up(two: House, event: Any) -> None:
    sent = []

    async def send(url: str, **message: Any) -> tuple[DeliveryOutcome, str | None]:
        sent.append(url)
        return FAILED if "ops-secret" in url else SENT

    two.outbox = two.start(sender=type("Sender", (), {"send": staticmethod(send)})())
    for number in range(3):
        two.tell(event(EventKind.CHANGE, server=f"api-{number}"))
        await two.after(WAIT)
    assert len([url for url in sent if "mail-secret" in url]) == 3
    assert {record.message.channel for record in two.store.messages(MessageStatus.SENT)} == {"mail"}


async def test_what_happens_while_a_message_waits_becomes_one_message_after_it(
    house: House, event: Any
) -> None:
    house.sender.answers = [FAILED]
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    for number in range(40):
        house.tell(event(EventKind.CHANGE, server=f"api-{number:02}"))
        await house.after(timedelta(minutes=1))
    house.sender.answers, house.sender.sent[:] = [SENT], []
    await house.after(timedelta(hours=1))
    await house.after(timedelta(seconds=1))
    assert house.titles == ["api-prod: down - connection refused", "40 servers: down - connection refused"]


async def test_an_outage_that_came_and_went_while_the_channel_was_down_is_told_with_both_times(
    house: House, event: Any
) -> None:
    house.sender.answers = [FAILED]
    house.tell(event(EventKind.CHANGE, server="docs"))
    await house.after(WAIT)
    house.tell(event(EventKind.CHANGE, at=house.clock.now()))
    await house.after(timedelta(hours=2))
    house.tell(
        event(EventKind.RECOVERY, Level.INFO, before="failed:refused", after="verified", at=house.clock.now())
    )
    house.sender.answers, house.sender.sent[:] = [SENT], []
    await house.after(timedelta(hours=2))
    await house.after(timedelta(seconds=1))
    assert house.titles[1] == "api-prod: was down for 2 h 1 min - connection refused"


async def test_after_72_hours_a_message_is_dead_and_the_other_channels_hear_of_it(
    two: House, event: Any
) -> None:
    async def send(url: str, **message: Any) -> tuple[DeliveryOutcome, str | None]:
        if "ops-secret" in url:
            return FAILED
        two.sender.sent.append(message)
        return SENT

    two.outbox = two.start(sender=type("Sender", (), {"send": staticmethod(send)})())
    two.tell(event(EventKind.CHANGE))
    for _ in range(75):
        await two.after(timedelta(hours=1))
    await two.after(WAIT)
    (dead,) = two.store.messages(MessageStatus.DEAD)
    assert dead.message.channel == "ops"
    assert two.titles == ["api-prod: down - connection refused", "channel ops takes no messages"]
    assert "The last error: connection refused" in two.sender.sent[1]["body"]


async def test_the_only_channel_is_told_what_was_given_up_when_it_takes_messages_again(
    house: House, event: Any
) -> None:
    house.sender.answers = [FAILED] * 75
    house.tell(event(EventKind.CHANGE))
    for _ in range(73):
        await house.after(timedelta(hours=1))
    (dead,) = house.store.messages(MessageStatus.DEAD)
    house.sender.answers, before = [SENT], len(house.sender.sent)
    await house.after(WAIT)
    assert house.titles[before:] == ["a message was given up while this channel took none"]
    told = house.sender.sent[-1]["body"]
    assert "It said: [driftwatch] api-prod: down - connection refused" in told
    assert f"Fix: `driftwatch outbox retry {dead.message.id[:8]}` sends it after all." in told


async def test_a_dead_message_lets_the_next_one_pass(house: House, event: Any) -> None:
    house.sender.answers = [(DeliveryOutcome.REJECTED, "no such service"), SENT]
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    house.tell(event(EventKind.CHANGE, server="docs"))
    await house.after(WAIT)
    assert [record.status for record in house.store.messages()] == [MessageStatus.DEAD, MessageStatus.SENT]


async def test_the_pace_of_a_channel_is_kept_and_the_rest_becomes_one_message(
    store: Any, sender: Any, clock: Any, channel: Any, event: Any
) -> None:
    house = House(store, sender, clock, [channel("ops", pace={"per_second": 100, "per_hour": 3})])
    for number in range(10):
        house.tell(event(EventKind.CHANGE, server=f"api-{number}"))
        await house.after(WAIT)
    assert len(sender.sent) == 3
    await house.after(timedelta(hours=1))
    assert house.titles[3:] == ["7 servers: down - connection refused"]


async def test_the_pace_is_remembered_across_a_restart(
    store: Any, sender: Any, clock: Any, channel: Any, event: Any
) -> None:
    house = House(store, sender, clock, [channel("ops", pace={"per_second": 100, "per_hour": 1})])
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    house.outbox = house.start()
    house.tell(event(EventKind.CHANGE, server="docs"))
    assert await house.after(timedelta(minutes=50)) == 0
    assert await house.after(timedelta(minutes=10)) == 1


async def test_messages_of_one_second_are_spread(
    store: Any, sender: Any, clock: Any, channel: Any, event: Any
) -> None:
    house = House(store, sender, clock, [channel("ops", pace={"per_second": 0.5, "per_hour": 100})])
    for number in range(2):
        house.tell(
            trial("ops", now=clock.now()), event(EventKind.CHANGE, server=f"api-{number}"), wait=timedelta(0)
        )
    assert await house.outbox.run_once() == 1
    assert await house.after(timedelta(seconds=1)) == 0
    assert await house.after(timedelta(seconds=1)) == 1


async def test_a_test_leaves_at_once_and_alone(house: House, event: Any) -> None:
    house.tell(event(EventKind.CHANGE))
    house.tell(trial("ops", now=house.clock.now()))
    assert await house.outbox.run_once() == 1
    assert house.titles == ["test message"]
    assert await house.after(WAIT) == 1
    assert house.titles == ["test message", "api-prod: down - connection refused"]


async def test_what_waits_for_a_removed_channel_is_dropped_and_stands_in_the_history(
    two: House, event: Any
) -> None:
    two.tell(event(EventKind.CHANGE))
    two.channels = two.channels[1:]
    two.outbox = two.start()
    assert await two.outbox.drop_removed() == 1
    assert await two.after(WAIT) == 1
    (note,) = [item for item in two.store.events() if item.kind is EventKind.DELIVERY_DEAD]
    assert note.details == {"dropped": 1}
    assert not note.alerts


async def test_events_that_cannot_be_put_into_words_are_told_plainly(
    house: House, event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any, **named: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(lane, "compose", fails)
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    assert house.titles == ["1 event that could not be put into words"]
    assert (
        "api-prod: change check:transport/endpoint: verified -> failed:refused"
        in house.sender.sent[0]["body"]
    )


async def test_each_delivery_is_one_log_line_that_shows_no_url(
    house: House, event: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "driftwatch.deliveries")
    house.sender.answers = [FAILED, SENT]
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    await house.after(timedelta(minutes=1))
    lines = [record.fields for record in caplog.records if record.getMessage() == "delivery"]  # type: ignore[attr-defined]
    assert [(line["outcome"], line["attempt"], line["error"]) for line in lines] == [
        ("failed", 1, "connection refused"),
        ("sent", 2, None),
    ]
    assert {line["channel"] for line in lines} == {"ops"}
    assert {line["scheme"] for line in lines} == {"json"}
    assert "ops-secret" not in repr([vars(record) for record in caplog.records])


async def test_a_test_goes_past_a_message_that_waits_for_its_retry(house: House, event: Any) -> None:
    house.sender.answers = [FAILED, SENT]
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    house.tell(event(EventKind.CHANGE, server="later"))
    house.tell(trial("ops", now=house.clock.now()))
    await house.after(timedelta(seconds=1))
    assert house.titles == [house.titles[0], "test message"]
    await house.after(timedelta(hours=1))
    await house.after(timedelta(seconds=1))
    assert house.titles[2] == house.titles[0], "the order of the others is as before"
    assert len(house.titles) == 4


async def test_a_test_that_fails_has_no_second_attempt_and_holds_nothing_back(
    house: House, event: Any
) -> None:
    house.sender.answers = [FAILED, FAILED, SENT]
    house.tell(event(EventKind.CHANGE))
    await house.after(WAIT)
    house.tell(trial("ops", now=house.clock.now()))
    await house.after(timedelta(seconds=1))
    await house.after(timedelta(hours=1))
    assert [title == "test message" for title in house.titles] == [False, True, False]
    (tested,) = [record for record in house.store.messages() if record.message.title.endswith("test message")]
    assert (tested.status, tested.attempts) == (MessageStatus.DEAD, 1)
    assert EventKind.DELIVERY_DEAD not in {event.kind for event in house.store.events()}


async def test_however_much_happens_while_a_receiver_is_down_one_message_waits(
    house: House, event: Any
) -> None:
    house.sender.answers = [FAILED]
    for number in range(30):
        house.tell(event(EventKind.CHANGE, server=f"api-{number}", at=house.clock.now()))
        await house.after(timedelta(minutes=5))
    assert len(house.store.messages()) == 1
    house.sender.answers = [SENT]
    await house.after(timedelta(hours=2))
    await house.after(timedelta(seconds=1))
    first, rest = house.store.messages()
    assert (len(first.message.events), len(rest.message.events)) == (1, 29)
