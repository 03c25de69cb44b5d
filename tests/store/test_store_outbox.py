from dataclasses import replace
from datetime import timedelta

from driftwatch.model import Level
from driftwatch.store.ports import (
    Backlog,
    ClaimedMessage,
    DeliveryOutcome,
    DeliveryPlan,
    FrozenMessage,
    MessageRecord,
    MessageStatus,
    PendingDelivery,
    Settlement,
)
from tests.store.world import (
    DAY,
    HOUR,
    MINUTE,
    START,
    World,
    event,
    failed,
    message,
    sent,
    together,
)

LEASE = timedelta(seconds=5)
SECOND = timedelta(seconds=1)


def pending(world: World, channel: str | None = None) -> list[PendingDelivery]:
    with world.store.write() as tx:
        return tx.pending_deliveries(world.clock(), channel=channel)


def claim(world: World, *channels: str, owner: str = "me") -> ClaimedMessage | None:
    with world.store.write() as tx:
        return tx.claim(owner, LEASE, channels or ["chat", "mail"])


def claimed(world: World, *channels: str, owner: str = "me") -> ClaimedMessage:
    found = claim(world, *channels, owner=owner)
    assert found is not None
    return found


def settle(world: World, claim: ClaimedMessage, settlement: Settlement) -> bool:
    with world.store.write() as tx:
        return tx.settle(claim, settlement)


def fate(world: World, id_: str) -> MessageRecord:
    with world.store.read() as reader:
        found = reader.message(id_)
    assert found is not None
    return found


class TestFreezing:
    def test_a_channel_with_a_due_event_offers_all_that_waits_for_it(self, world: World) -> None:
        due = world.tell("e1", "chat", "mail")
        later = world.tell("e2", "chat", wait=HOUR)
        world.tell("e3", "pager", wait=HOUR)

        assert [(item.event, item.channel, item.not_before) for item in pending(world)] == [
            (due, "chat", START),
            (due, "mail", START),
            (later, "chat", START + HOUR),
        ]
        assert [item.channel for item in pending(world, "mail")] == ["mail"]
        assert pending(world, "pager") == []

    def test_a_frozen_message_takes_its_deliveries_and_no_others(self, world: World) -> None:
        for id_ in ("e1", "e2", "e3"):
            world.tell(id_, "chat", "mail")
        frozen = world.freeze("m1", "chat", "e1", "e3")

        assert [(item.event.id, item.channel) for item in pending(world)] == [
            ("e1", "mail"),
            ("e2", "chat"),
            ("e2", "mail"),
            ("e3", "mail"),
        ]
        assert fate(world, "m1") == MessageRecord(
            message=frozen,
            status=MessageStatus.PENDING,
            attempts=0,
            next_attempt_at=None,
            last_error=None,
            sent_at=None,
            possible_repeat=False,
        )

    def test_freezing_the_same_message_twice_writes_it_once(self, world: World) -> None:
        world.tell("e1", "chat")
        frozen = world.freeze("m1", "chat", "e1")
        with world.store.write() as tx:
            assert not tx.freeze(replace(frozen, body="another"))
        assert fate(world, "m1").message == frozen

    def test_a_suppressed_delivery_waits_for_nothing(self, world: World) -> None:
        plan = DeliveryPlan(event="e1", channel="chat", not_before=START, suppressed_by="silence-1")
        with world.store.write() as tx:
            tx.record_event(event("e1"), [plan])
        assert pending(world) == []

    def test_what_is_written_comes_back_character_by_character(self, world: World) -> None:
        odd = "NUL \x00, lone \ud800, \u202e, \U0001f600, \\u0041, 'quotes\""
        frozen = message("m1", "chat", title=odd, body=odd, html=f"<p>{odd}</p>", level=Level.WARNING)
        with world.store.write() as tx:
            tx.freeze(frozen)
        assert claimed(world).message == frozen


class TestClaiming:
    def test_the_oldest_message_goes_first_and_the_channel_is_held(self, world: World) -> None:
        first = world.freeze("m-z", "chat")
        world.clock.advance(SECOND)
        second = world.freeze("m-a", "chat")

        held = claimed(world)
        assert (held.message, held.owner, held.attempts, held.possible_repeat) == (first, "me", 1, False)
        assert claim(world) is None
        assert claim(world, owner="another") is None
        assert settle(world, held, sent(world.clock()))
        assert claimed(world).message == second

    def test_channels_do_not_wait_for_each_other(self, world: World) -> None:
        world.freeze("m1", "chat")
        world.freeze("m2", "mail")
        assert {claimed(world).message.channel, claimed(world).message.channel} == {"chat", "mail"}
        assert claim(world) is None

    def test_only_the_channels_that_are_asked_for(self, world: World) -> None:
        world.freeze("m1", "pager")
        assert claim(world) is None
        with world.store.write() as tx:
            assert tx.claim("me", LEASE, []) is None

    def test_a_message_that_waits_for_its_next_attempt_holds_back_the_younger(self, world: World) -> None:
        world.freeze("m1", "chat")
        world.clock.advance(SECOND)
        world.freeze("m2", "chat")
        settle(world, claimed(world), failed(world.clock(), MINUTE))
        assert claim(world) is None

        world.clock.advance(MINUTE)
        again = claimed(world)
        assert (again.message.id, again.attempts, again.possible_repeat) == ("m1", 2, False)

    def test_two_dispatchers_send_everything_once_and_in_order(self, world: World) -> None:
        channels = [f"channel-{number}" for number in range(4)]
        for number in range(40):
            world.freeze(f"m{number:02}", channels[number % 4])
            world.clock.advance(SECOND)
        other = World(store=world.database.open(), clock=world.clock, database=world.database)
        order: list[tuple[str, str]] = []

        def dispatch(which: World, owner: str) -> None:
            while (held := claim(which, *channels, owner=owner)) is not None:
                order.append((held.message.channel, held.message.id))
                assert settle(which, held, sent(START))

        together(lambda: dispatch(world, "one"), lambda: dispatch(other, "two"))
        dispatch(world, "one")  # what the other held while this one looked
        for channel in channels:
            ids = [id_ for name, id_ in order if name == channel]
            assert ids == sorted(ids)
            assert len(ids) == 10


class TestLeases:
    def test_a_killed_senders_message_comes_back_labelled(self, world: World) -> None:
        world.freeze("m1", "chat")
        lost = claimed(world, owner="killed")
        world.clock.advance(LEASE - SECOND)
        assert claim(world, owner="next") is None
        world.clock.advance(SECOND)

        again = claimed(world, owner="next")
        assert (again.message, again.attempts, again.possible_repeat) == (lost.message, 2, True)

    def test_a_frozen_senders_late_settlement_is_refused(self, world: World) -> None:
        world.freeze("m1", "chat")
        frozen = claimed(world, owner="frozen")
        world.clock.advance(LEASE)
        again = claimed(world, owner="next")

        assert not settle(world, frozen, failed(world.clock()))
        assert settle(world, again, sent(world.clock()))
        assert not settle(world, frozen, failed(world.clock()))
        assert fate(world, "m1").status is MessageStatus.SENT

    def test_the_same_owner_cannot_settle_its_own_earlier_attempt(self, world: World) -> None:
        world.freeze("m1", "chat")
        first = claimed(world)
        world.clock.advance(LEASE)
        second = claimed(world)
        assert not settle(world, first, sent(world.clock()))
        assert settle(world, second, sent(world.clock()))

    def test_a_late_settlement_counts_while_nobody_else_has_claimed(self, world: World) -> None:
        world.freeze("m1", "chat")
        late = claimed(world)
        world.clock.advance(DAY)
        assert settle(world, late, sent(world.clock()))
        assert fate(world, "m1").sent_at == world.clock()

    def test_a_lease_taken_before_the_clock_was_stepped_back_holds_nothing_up(self, world: World) -> None:
        world.freeze("m1", "chat")
        claimed(world)
        world.clock.advance(-HOUR)
        again = claimed(world, owner="next")
        assert (again.attempts, again.possible_repeat) == (2, True)

    def test_an_answer_that_never_came_makes_the_next_attempt_a_possible_repeat(self, world: World) -> None:
        world.freeze("m1", "chat")
        settle(world, claimed(world), failed(START, MINUTE, DeliveryOutcome.UNKNOWN))
        world.clock.advance(MINUTE)
        again = claimed(world)
        assert again.possible_repeat
        settle(world, again, failed(world.clock(), MINUTE))
        world.clock.advance(MINUTE)
        assert claimed(world).possible_repeat, "it may have arrived once; later refusals do not undo that"


class TestFates:
    def test_a_sent_message_says_when(self, world: World) -> None:
        world.freeze("m1", "chat")
        settle(world, claimed(world), sent(START + SECOND))
        record = fate(world, "m1")
        assert (record.status, record.sent_at, record.attempts) == (MessageStatus.SENT, START + SECOND, 1)
        assert claim(world) is None

    def test_a_refused_one_waits_with_its_reason(self, world: World) -> None:
        world.freeze("m1", "chat")
        settle(world, claimed(world), failed(START, MINUTE, error="550 \x00 \ud800"))
        record = fate(world, "m1")
        assert (record.status, record.next_attempt_at) == (MessageStatus.PENDING, START + MINUTE)
        assert record.last_error == "550 \x00 \ud800"

    def test_without_a_next_attempt_it_is_dead_and_the_next_one_goes(self, world: World) -> None:
        for outcome in (DeliveryOutcome.REJECTED, DeliveryOutcome.FAILED, DeliveryOutcome.UNKNOWN):
            world.freeze(f"m-{outcome}", "chat")
            settle(world, claimed(world), failed(world.clock(), None, outcome))
            assert fate(world, f"m-{outcome}").status is MessageStatus.DEAD
            world.clock.advance(SECOND)
        assert claim(world) is None
        with world.store.read() as reader:
            assert len(reader.messages(MessageStatus.DEAD)) == 3
            assert reader.backlog() == []

    def test_the_backlog_counts_what_is_not_delivered(self, world: World) -> None:
        for number in range(3):
            world.freeze(f"m{number}", "chat")
            world.clock.advance(SECOND)
        world.freeze("x", "mail")
        settle(world, claimed(world, "chat"), sent(START))
        claimed(world, "chat")
        with world.store.read() as reader:
            assert reader.backlog() == [
                Backlog(channel="chat", messages=2, oldest_at=START + SECOND, attempts=1),
                Backlog(channel="mail", messages=1, oldest_at=START + 3 * SECOND),
            ]

    def test_the_backlog_says_what_is_stuck_and_how_much_waits_behind_it(self, world: World) -> None:
        world.add("api")
        world.freeze("m1", "chat")
        settle(world, claimed(world), failed(world.clock(), MINUTE, error="connection refused"))
        later = [event(f"e{number}", at=START) for number in range(3)]
        plans = [DeliveryPlan(event=each.id, channel="chat", not_before=START) for each in later]
        with world.store.write() as tx:
            for each, plan in zip(later, plans, strict=True):
                tx.record_event(each, [plan])
        with world.store.read() as reader:
            (waiting,) = reader.backlog()
        assert waiting.stuck
        assert (waiting.messages, waiting.events, waiting.attempts) == (1, 3, 1)
        assert (waiting.last_error, waiting.next_attempt_at) == ("connection refused", START + MINUTE)


class TestByHand:
    def test_a_dead_message_can_be_sent_again(self, world: World) -> None:
        world.freeze("m1", "chat")
        settle(world, claimed(world), failed(START, None))
        with world.store.write() as tx:
            assert tx.retry_message("m1", world.clock())
            assert not tx.retry_message("no such message", world.clock())
        again = claimed(world)
        assert (again.attempts, again.possible_repeat) == (2, False)

    def test_a_waiting_message_can_be_hastened(self, world: World) -> None:
        world.freeze("m1", "chat")
        settle(world, claimed(world), failed(START, HOUR))
        with world.store.write() as tx:
            assert tx.retry_message("m1", world.clock())
        assert claimed(world).message.id == "m1"

    def test_a_message_can_be_given_up_and_the_next_one_goes(self, world: World) -> None:
        world.freeze("m1", "chat")
        settle(world, claimed(world), failed(START, HOUR))
        world.clock.advance(SECOND)
        world.freeze("m2", "chat")
        with world.store.write() as tx:
            assert tx.drop_message("m1", world.clock())
            assert not tx.drop_message("m1", world.clock())
            assert not tx.retry_message("m1", world.clock())
        assert fate(world, "m1").status is MessageStatus.DROPPED
        assert claimed(world).message.id == "m2"

    def test_what_is_being_sent_can_neither_be_hastened_nor_given_up(self, world: World) -> None:
        world.freeze("m1", "chat")
        held = claimed(world)
        with world.store.write() as tx:
            assert not tx.retry_message("m1", world.clock())
            assert not tx.drop_message("m1", world.clock())
        assert settle(world, held, sent(START))

    def test_what_was_sent_stays_sent(self, world: World) -> None:
        world.freeze("m1", "chat")
        settle(world, claimed(world), sent(START))
        with world.store.write() as tx:
            assert not tx.retry_message("m1", world.clock())
            assert not tx.drop_message("m1", world.clock())


class TestRemovedChannels:
    def test_what_waits_for_them_is_dropped_and_the_rest_goes_on(self, world: World) -> None:
        world.tell("e1", "chat", "old")
        world.tell("e2", "old")
        world.freeze("m1", "old", "e1")
        world.freeze("m2", "chat")
        with world.store.write() as tx:
            assert tx.drop_channels(["chat"], world.clock()) == 2
            assert tx.drop_channels(["chat"], world.clock()) == 0
        assert [(item.event.id, item.channel) for item in pending(world)] == [("e1", "chat")]
        assert fate(world, "m1").status is MessageStatus.DROPPED
        assert fate(world, "m2").status is MessageStatus.PENDING

    def test_what_is_being_sent_at_this_moment_is_left_to_its_sender(self, world: World) -> None:
        world.freeze("m1", "old")
        held = claimed(world, "old")
        with world.store.write() as tx:
            assert tx.drop_channels(["chat"], world.clock()) == 0
        assert settle(world, held, sent(START))

    def test_without_any_channel_everything_is_dropped(self, world: World) -> None:
        world.tell("e1", "chat")
        world.freeze("m1", "mail")
        with world.store.write() as tx:
            assert tx.drop_channels([], world.clock()) == 2


def test_messages_are_listed_newest_first(world: World) -> None:
    frozen: list[FrozenMessage] = []
    for number in range(5):
        frozen.append(world.freeze(f"m{number}", "chat"))
        world.clock.advance(SECOND)
    settle(world, claimed(world), sent(START))
    with world.store.read() as reader:
        assert [record.message for record in reader.messages(limit=3)] == frozen[:1:-1]
        assert [record.message for record in reader.messages(MessageStatus.SENT)] == frozen[:1]
        assert [record.message for record in reader.messages(MessageStatus.PENDING)] == frozen[:0:-1]
        assert reader.message("no such message") is None
