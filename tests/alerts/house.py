"""One service that tells people things, over a store and a sender of the tests."""

from datetime import timedelta
from typing import Any

from driftwatch.alerts.outbox import Outbox
from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.alerts.wording import Voice
from driftwatch.config import Channel
from driftwatch.model import Event
from driftwatch.store.ports import DeliveryOutcome

WAIT = timedelta(seconds=30)
FAILED = (DeliveryOutcome.FAILED, "connection refused")
UNKNOWN = (DeliveryOutcome.UNKNOWN, "no answer within 30 s")
SENT = (DeliveryOutcome.SENT, None)


class House:
    """One service over a store: what is told, to which channels, and time."""

    def __init__(self, store: Any, sender: Any, clock: Any, channels: list[Channel]) -> None:
        self.store, self.sender, self.clock, self.channels = store, sender, clock, channels
        self.outbox = self.start()

    def start(self, **settings: Any) -> Outbox:
        """A new process on the same database."""
        given: dict[str, Any] = {
            "store": self.store,
            "sender": self.sender,
            "channels": self.channels,
            "clock": self.clock,
            "voice": Voice(fixes=lambda _: None),
            "group_wait": WAIT,
            "jitter": lambda: 0.5,
            **settings,
        }
        return Outbox(**given)

    def tell(self, *events: Event, wait: timedelta = WAIT) -> None:
        rules = [ChannelRule.of(channel) for channel in self.channels]
        plans = plan(events, rules, (), now=self.clock.now(), group_wait=wait)
        self.store.record(*events, plans=plans)

    async def after(self, span: timedelta) -> int:
        self.clock.advance(span)
        return await self.outbox.run_once()

    @property
    def titles(self) -> list[str]:
        return [message["title"].removeprefix("[driftwatch] ") for message in self.sender.sent]
