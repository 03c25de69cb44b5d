"""The promise, over random histories: nothing is lost, every repeat says so, and the order stays."""

import random
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from driftwatch.alerts.outbox import Outbox
from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.alerts.wording import Voice
from driftwatch.config import Channel
from driftwatch.model import Event, EventKind
from driftwatch.store.ports import DeliveryOutcome, MessageStatus

WAIT = timedelta(seconds=30)


class Town:
    """Receivers that are sometimes down, sometimes silent, and remember what reached them."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.healthy = False
        self.mailboxes: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        """By URL: the ids that arrived, and whether each was labelled as a possible repeat."""

    async def send(
        self, url: str, *, message_id: str, body: str, **message: Any
    ) -> tuple[DeliveryOutcome, str | None]:
        fate = "arrives" if self.healthy else self.chance.choice(["arrives", "refused", "silent", "lost"])
        if fate in {"arrives", "silent"}:
            self.mailboxes[url].append((message_id, "possible repeat" in body))
        if fate == "arrives":
            return DeliveryOutcome.SENT, None
        return (DeliveryOutcome.FAILED if fate == "refused" else DeliveryOutcome.UNKNOWN), fate


@pytest.mark.parametrize("seed", range(12))
async def test_nothing_is_lost_and_every_repeat_says_so(
    seed: int, store: Any, clock: Any, channel: Callable[..., Channel], event: Any
) -> None:
    chance = random.Random(seed)
    town = Town(chance)
    channels = [channel("ops"), channel("mail")]
    rules = [ChannelRule.of(item) for item in channels]
    told: list[Event] = []

    def start() -> Outbox:
        return Outbox(
            store=store,
            sender=town,
            channels=channels,
            clock=clock,
            voice=Voice(fixes=lambda _: None),
            group_wait=WAIT,
            jitter=chance.random,
        )

    outbox = start()
    for number in range(40):
        if chance.random() < 0.5:
            told.append(event(EventKind.CHANGE, server=f"api-{number % 7}", at=clock.now()))
            plans = plan(told[-1:], rules, (), now=clock.now(), group_wait=WAIT)
            store.record(told[-1], plans=plans)
        if chance.random() < 0.3:
            point = chance.choice(["freeze", "claim", "settle", "send"])
            store.dies_after = None if point == "send" else point
            store.dies_before = "settle" if point == "send" else None
        try:
            await outbox.run_once()
        except store.dies:
            outbox = start()
        store.dies_after = store.dies_before = None
        clock.advance(timedelta(seconds=chance.choice([1, 31, 150, 4000])))

    town.healthy = True
    for _ in range(6):
        clock.advance(timedelta(hours=2))
        await outbox.run_once()

    for configured in channels:
        mine = [record for record in store.messages() if record.message.channel == configured.name]
        assert {record.status for record in mine} <= {MessageStatus.SENT}
        arrived = town.mailboxes[configured.url.get_secret_value()]
        events = {name: record.message.events for record in mine for name in [record.message.id]}
        assert sorted(item for name in dict(arrived) for item in events[name]) == sorted(
            item.id for item in told
        )
        seen: dict[str, None] = {}
        for name, labelled in arrived:
            assert labelled or name not in seen, "an unlabelled repeat"
            seen.setdefault(name)
        assert list(seen) == [record.message.id for record in mine], "the order in which they were written"
