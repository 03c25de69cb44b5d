"""From waiting events to delivered messages: freeze, claim, send, settle; this is one channel's way out.

The promise is at-least-once: a message and its id are committed before it is sent, an attempt before it is
made, and what became of it afterwards. The one thing that cannot be known is whether a receiver took a
message whose answer never came; the next attempt then says "possible repeat" and carries the same id.

A channel has at most one message on its way, and a test goes past it. What happens while that one waits,
because the receiver is down or the channel's pace is used up, stays as events and becomes one message
afterwards, however much it is.
"""

import asyncio
import contextlib
import logging
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from driftwatch.alerts.compose import NAMESPACE, compose, label_repeat, message_id, plain
from driftwatch.alerts.pace import HOUR, Pace
from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.alerts.wording import Voice
from driftwatch.clock import Clock
from driftwatch.config import Channel
from driftwatch.errors import StoreError
from driftwatch.model import Event, EventKind, Level
from driftwatch.store.ports import (
    ClaimedMessage,
    DeliveryOutcome,
    FrozenMessage,
    MessageStatus,
    PendingDelivery,
    Settlement,
    Store,
    Tx,
)

log = logging.getLogger("driftwatch.deliveries")

SEND_TIMEOUT = timedelta(seconds=30)
LEASE = timedelta(seconds=120)
"""Longer than a send and its two commits, so that only a frozen or dead process ever loses it."""

FIRST_RETRY = timedelta(seconds=30)
LONGEST_RETRY = timedelta(hours=1)
GIVE_UP_AFTER = timedelta(hours=72)
"""An age at which a message is no news any more; then the other channels are told."""

POLL = timedelta(seconds=5)
"""How soon a lane notices what another process wrote."""


class Sender(Protocol):
    """Hands one message to one receiver."""

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
        """Send within ``timeout`` seconds and say what became of it, with a redacted reason. Never raises."""


class Lane:
    """One channel: first in, first out, and nothing of it waits for another channel."""

    def __init__(
        self,
        *,
        channel: Channel,
        rule: ChannelRule,
        rules: Sequence[ChannelRule],
        store: Store,
        sender: Sender,
        clock: Clock,
        voice: Voice,
        group_wait: timedelta,
        owner: str,
        jitter: Callable[[], float],
        counts: Counter[tuple[str, str]],
    ) -> None:
        """``rules`` are those of every channel: a dead delivery is told through the others.

        ``counts`` takes what came of each attempt, by channel and outcome.
        """
        self.name = rule.name
        self._url = channel.url
        self._limits = channel.pace
        self._rule = rule
        self._rules = rules
        self._store = store
        self._sender = sender
        self._clock = clock
        self._voice = voice
        self._group_wait = group_wait
        self._owner = owner
        self._jitter = jitter
        self._counts = counts
        self._pace: Pace | None = None
        self._unsettled: tuple[ClaimedMessage, Settlement] | None = None
        self._awake = asyncio.Event()
        self._due = 0.0

    def wake(self, due: float) -> None:
        """Look now, and again at ``due`` on the monotonic clock."""
        if self._due <= self._clock.monotonic():
            self._due = due
        self._awake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Deliver until ``stop``. A fault of the database or of this code delays; it never ends the lane."""
        while not stop.is_set():
            self._awake.clear()
            try:
                await self.drain()
                wait = await self._pause()
            except StoreError as error:
                log.warning("outbox_waits", extra={"fields": {"channel": self.name, "error": str(error)}})
                wait = POLL.total_seconds()
            except Exception:
                log.exception("outbox_fault", extra={"fields": {"channel": self.name}})
                wait = POLL.total_seconds()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._awake.wait(), wait)

    async def drain(self) -> int:
        """Deliver what is due and what the pace allows; how many attempts that took."""
        attempts = 0
        await self._settle_late()
        pace = await self._paced()
        while pace.wait(self._clock.monotonic()) == 0:
            claimed_at = self._clock.monotonic()
            claim = await self._store.transact(lambda tx: tx.claim(self._owner, LEASE, [self.name]))
            if claim is not None:
                await self._deliver(claim, claimed_at)
                attempts += 1
            elif not await self._freeze():
                break
        return attempts

    async def _pause(self) -> float:
        """Seconds until there may be something to do."""
        now = self._clock.monotonic()
        paced = (await self._paced()).wait(now)
        grouped = self._due - now if self._due > now else POLL.total_seconds()
        return max(paced, min(grouped, POLL.total_seconds()))

    async def _paced(self) -> Pace:
        """The channel's pace, which remembers what was sent before a restart."""
        if self._pace is None:
            now, monotonic = self._clock.now(), self._clock.monotonic()
            records = await self._store.query(lambda reader: reader.messages(MessageStatus.SENT, 500))
            ages = (
                (now - record.sent_at).total_seconds()
                for record in records
                if record.message.channel == self.name and record.sent_at
            )
            earlier = [monotonic - age for age in ages if 0 <= age < HOUR.total_seconds()]
            self._pace = Pace(self._limits.per_second, self._limits.per_hour, earlier)
        return self._pace

    async def _freeze(self) -> bool:
        """Write the next message, unless one is still on its way; a test goes past it."""
        now = self._clock.now()
        return await self._store.transact(lambda tx: self._freeze_due(tx, now))

    def _freeze_due(self, tx: Tx, now: datetime) -> bool:
        # The wait of the first event takes along whatever would be due before a wait of its own is over.
        waiting = [
            item
            for item in tx.pending_deliveries(now, channel=self.name)
            if item.not_before <= now + self._group_wait
        ]
        together = _together(waiting)
        if not any(item.not_before <= now for item in together):
            return False
        if together[0].event.kind is not EventKind.TEST and tx.has_message(self.name):
            return False
        return tx.freeze(self._message([item.event for item in together], now))

    def _message(self, events: Sequence[Event], now: datetime) -> FrozenMessage:
        try:
            composed = compose(events, self._rule, voice=self._voice)
        except Exception:
            log.exception("wording_fault", extra={"fields": {"channel": self.name}})
            composed = plain(events, self._rule)
        return FrozenMessage(
            id=message_id(self.name, (event.id for event in events)),
            channel=self.name,
            title=composed.title,
            body=composed.body,
            html=composed.html,
            level=composed.level,
            created_at=now,
            events=tuple(event.id for event in events),
        )

    async def _deliver(self, claim: ClaimedMessage, claimed_at: float) -> None:
        message = label_repeat(claim.message) if claim.possible_repeat else claim.message
        pace, started = await self._paced(), self._clock.monotonic()
        if started - claimed_at > (LEASE - SEND_TIMEOUT).total_seconds():
            # This process was frozen: another one may be sending already, and it labels; this one must not.
            log.warning("lease_ran_out", extra={"fields": self._fields(claim)})
            return
        pace.count(started)
        try:
            outcome, error = await self._send(message)
        except asyncio.CancelledError:
            now = self._clock.now()
            unknown = Settlement(
                outcome=DeliveryOutcome.UNKNOWN, at=now, next_attempt_at=now, error="stopped while sending"
            )
            self._unsettled = (claim, unknown)
            await self._settle_late()
            raise
        self._counts[self.name, outcome] += 1
        self._unsettled = (claim, self._settlement(claim, outcome, error))
        fields = {
            **self._fields(claim),
            "outcome": outcome.value,
            "error": error,
            "duration_s": round(self._clock.monotonic() - started, 3),
        }
        log.log(
            logging.INFO if outcome is DeliveryOutcome.SENT else logging.WARNING,
            "delivery",
            extra={"fields": fields},
        )
        await self._settle_late()

    async def _send(self, message: FrozenMessage) -> tuple[DeliveryOutcome, str | None]:
        try:
            return await self._sender.send(
                self._url.get_secret_value(),
                title=message.title,
                body=message.body,
                html=message.html,
                level=message.level,
                message_id=message.id,
                timeout=SEND_TIMEOUT.total_seconds(),
            )
        except Exception as error:
            log.exception("sender_fault", extra={"fields": {"channel": self.name}})
            return DeliveryOutcome.UNKNOWN, f"a bug in driftwatch: {type(error).__name__}"

    def _settlement(self, claim: ClaimedMessage, outcome: DeliveryOutcome, error: str | None) -> Settlement:
        now = self._clock.now()
        if outcome is DeliveryOutcome.SENT:
            return Settlement(outcome=outcome, at=now)
        age = now - claim.message.created_at
        dead = outcome is DeliveryOutcome.REJECTED or age >= GIVE_UP_AFTER or claim.trial
        retry = None if dead else now + _backoff(claim.attempts, self._jitter())
        return Settlement(outcome=outcome, at=now, next_attempt_at=retry, error=error)

    async def _settle_late(self) -> None:
        """Write the end of an attempt; one that the database could not take is written later."""
        if self._unsettled is None:
            return
        claim, settlement = self._unsettled
        await self._store.transact(lambda tx: self._settle(tx, claim, settlement))
        self._unsettled = None

    def _settle(self, tx: Tx, claim: ClaimedMessage, settlement: Settlement) -> None:
        if not tx.settle(claim, settlement):
            log.warning("claim_was_lost", extra={"fields": self._fields(claim)})
        elif settlement.next_attempt_at is None and settlement.outcome is not DeliveryOutcome.SENT:
            if claim.trial:  # whoever asked for it is told
                return
            # With no other channel it is told here, once this one takes messages again.
            only = len(self._rules) == 1 and settlement.outcome is not DeliveryOutcome.REJECTED
            event = _dead(claim, settlement, self._rule, only=only)
            tx.record_event(
                event, plan([event], self._rules, (), now=settlement.at, group_wait=self._group_wait)
            )

    def _fields(self, claim: ClaimedMessage) -> dict[str, object]:
        return {
            "channel": self.name,
            "scheme": self._rule.scheme,
            "message_id": claim.message.id,
            "events": len(claim.message.events),
            "attempt": claim.attempts,
            "possible_repeat": claim.possible_repeat,
        }


def _together(waiting: Sequence[PendingDelivery]) -> Sequence[PendingDelivery]:
    """What the next message tells: a test stands alone, and goes first."""
    tests = [item for item in waiting if item.event.kind is EventKind.TEST]
    return tests[:1] or waiting


def _backoff(attempts: int, jitter: float) -> timedelta:
    """30 s, 60 s, 2 min, ... 1 h, each give or take a fifth."""
    doubled = FIRST_RETRY * (1 << min(max(attempts - 1, 0), 10))
    return min(LONGEST_RETRY, doubled) * (0.8 + 0.4 * jitter)


def _dead(claim: ClaimedMessage, settlement: Settlement, rule: ChannelRule, *, only: bool) -> Event:
    message = claim.message
    return Event(
        id=str(uuid.uuid5(NAMESPACE, f"dead\n{message.id}\n{claim.attempts}")),
        server=None,
        kind=EventKind.DELIVERY_DEAD,
        level=Level.ERROR,
        alerts=True,
        at=settlement.at,
        run=None,
        details={
            "channel": rule.name,
            "scheme": rule.scheme,
            "message": message.id,
            "title": message.title,
            "attempts": claim.attempts,
            "error": settlement.error,
            "created_at": message.created_at.isoformat(),
            "only": only,
        },
    )
