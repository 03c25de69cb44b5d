"""The outbox's rows: freeze, claim, settle.

A claim leases the *channel*, then takes its oldest message, so that two dispatchers keep the order inside a
channel; claim and settlement are two commits, and the settlement is fenced by owner and attempt. Leases end
by the database's clock. Nothing is ever reset at start: with two processes that would steal live claims.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import RowMapping

from driftwatch.store import mapping
from driftwatch.store.ports import (
    ClaimedMessage,
    DeliveryOutcome,
    DeliveryPlan,
    FrozenMessage,
    HeldDelivery,
    MessageStatus,
    PendingDelivery,
    Settlement,
)
from driftwatch.store.statements import outbox as sql
from driftwatch.store.unit import Unit


class Outbox(Unit):
    """The part of a transaction that says what is written to whom."""

    def pending_deliveries(
        self, now: datetime, limit: int = 500, channel: str | None = None
    ) -> list[PendingDelivery]:
        """What waits to be written about, oldest first: all rows of each channel that has a due one.

        With ``channel`` only that channel's rows, so that a long queue of one never hides another.
        """
        due = [row["channel"] for row in self._rows(sql.DUE_CHANNELS, now=now)]
        channels = [name for name in due if channel in (None, name)]
        if not channels:
            return []
        return [
            PendingDelivery(event=mapping.event(row), channel=row["channel"], not_before=row["not_before"])
            for row in self._rows(sql.PENDING_DELIVERIES, channels=channels, limit=limit)
        ]

    def replan(self, deliveries: Sequence[DeliveryPlan]) -> None:
        """Hold back by something else, or not any more, what is held back."""
        rows = [
            {
                "of_event": plan.event,
                "to_channel": plan.channel,
                "not_before": plan.not_before,
                "suppressed_by": plan.suppressed_by,
            }
            for plan in deliveries
        ]
        self._run(sql.UPDATE_HELD, rows)

    def drop_deliveries(self, deliveries: Sequence[HeldDelivery], now: datetime) -> None:
        """Give up what is held back: it is in the history only."""
        rows = [
            {"of_event": delivery.event.id, "to_channel": delivery.channel, "dropped_at": now}
            for delivery in deliveries
        ]
        self._run(sql.UPDATE_HELD, rows)

    def freeze(self, message: FrozenMessage) -> bool:
        """Write a message and tie its deliveries to it. False when this id exists already."""
        values = mapping.message_values(message)
        new = {"status": MessageStatus.PENDING, "attempts": 0, "possible_repeat": False}
        if self._first(self._process.upserts.message, **values, **new) is None:
            return False
        tied = {"to_channel": message.channel, "event_ids": list(message.events), "into": message.id}
        self._run(sql.TIE_DELIVERIES, tied)
        return True

    def claim(self, owner: str, lease: timedelta, channels: Sequence[str]) -> ClaimedMessage | None:
        """Lease the oldest due message of a channel that nobody else holds; FIFO per channel.

        A message that waits for its next attempt holds back the younger ones of its channel, but not a test.
        """
        now = self.db_now()
        waiting = [row["channel"] for row in self._rows(sql.WAITING_CHANNELS, channels=list(channels))]
        if not waiting:
            return None
        self._run(self._process.upserts.channel, [{"name": name} for name in waiting])
        next_ones = [
            row
            for channel in self._rows(sql.FREE_CHANNELS, channels=waiting)
            if _over(channel["claimed_until"], now, lease)
            for row in self._next_of(channel["name"])
        ]
        due = [row for row in next_ones if _due(row, now, lease)]
        if not due:
            return None
        row = min(due, key=lambda row: (not row["trial"], row["created_at"], row["id"]))
        # An attempt that was claimed and never settled may have arrived, like one that got no answer.
        repeat = row["status"] is MessageStatus.SENDING or row["last_outcome"] is DeliveryOutcome.UNKNOWN
        values = {
            "status": MessageStatus.SENDING,
            "attempts": row["attempts"] + 1,
            "attempt_started_at": now,
            "possible_repeat": row["possible_repeat"] or repeat,
        }
        held = {"claimed_by": owner, "claimed_until": now + lease}
        self._run(sql.UPDATE_CHANNEL, {"key": row["channel"], **held})
        self._run(sql.UPDATE_MESSAGE, {"key": row["id"], **values, **held})
        return ClaimedMessage(
            message=mapping.message(row),
            owner=owner,
            attempts=values["attempts"],
            lease=lease,
            possible_repeat=values["possible_repeat"],
            trial=row["trial"],
        )

    def settle(self, claim: ClaimedMessage, settlement: Settlement) -> bool:
        """Write the end of an attempt. False when the claim was lost meanwhile: nothing is written."""
        sent = settlement.outcome is DeliveryOutcome.SENT
        if sent:
            status = MessageStatus.SENT
        elif settlement.next_attempt_at is None:
            status = MessageStatus.DEAD
        else:
            status = MessageStatus.PENDING
        settled = self._first(
            sql.SETTLE_MESSAGE,
            key=claim.message.id,
            holder=claim.owner,
            attempt=claim.attempts,
            status=status,
            last_outcome=settlement.outcome,
            last_error=settlement.error,
            next_attempt_at=settlement.next_attempt_at,
            sent_at=settlement.at if sent else None,
            claimed_by=None,
            claimed_until=None,
        )
        if settled is None:
            return False
        self._run(sql.FREE_CHANNEL, {"key": claim.message.channel, "holder": claim.owner})
        return True

    def retry_message(self, message: str, now: datetime) -> bool:
        """Send a waiting message without further delay, or a dead one again; False for any other."""
        row = self._settled_message(message, now)
        if row is None or row["status"] not in (MessageStatus.PENDING, MessageStatus.DEAD):
            return False
        values = {"status": MessageStatus.PENDING, "next_attempt_at": now}
        self._run(sql.UPDATE_MESSAGE, {"key": message, **values})
        return True

    def drop_message(self, message: str, now: datetime) -> bool:
        """Give up a message that waits or is dead; False for any other."""
        row = self._settled_message(message, now)
        if row is None or row["status"] in (MessageStatus.SENT, MessageStatus.DROPPED):
            return False
        values = {"status": MessageStatus.DROPPED, "claimed_by": None, "claimed_until": None}
        self._run(sql.UPDATE_MESSAGE, {"key": message, **values})
        return True

    def drop_channels(self, keep: Sequence[str], now: datetime) -> int:
        """Drop what waits for channels that are no longer configured; how many messages and deliveries."""
        gone = {"channels": list(keep), "now": now}
        return len(self._rows(sql.DROP_MESSAGES, **gone)) + len(self._rows(sql.DROP_DELIVERIES, **gone))

    def db_now(self) -> datetime:
        """The database's clock, for leases only."""
        return self._process.clock()

    def has_message(self, channel: str) -> bool:
        """Whether a message of a channel is on its way; tests do not count."""
        return bool(self._rows(sql.OLDEST_MESSAGE, of_channel=channel))

    def _next_of(self, channel: str) -> list[RowMapping]:
        """The oldest test and the oldest other message that wait for a channel."""
        return [
            row
            for statement in (sql.OLDEST_TRIAL, sql.OLDEST_MESSAGE)
            for row in self._rows(statement, of_channel=channel)
        ]

    def _settled_message(self, message: str, now: datetime) -> RowMapping | None:
        """A message that nobody is sending at this moment."""
        for row in self._rows(sql.MESSAGE, key=message):
            if row["status"] is not MessageStatus.SENDING or row["claimed_until"] <= now:
                return row
        return None


def _due(row: RowMapping, now: datetime, lease: timedelta) -> bool:
    if row["status"] is MessageStatus.SENDING:
        return _over(row["claimed_until"], now, lease)
    return _over(row["next_attempt_at"], now)


def _over(until: datetime | None, now: datetime, longest: timedelta | None = None) -> bool:
    """Whether a wait is over. One that ends later than it could began before the clock was stepped back."""
    return until is None or until <= now or (longest is not None and until > now + longest)
