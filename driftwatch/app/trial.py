"""``driftwatch notify test``: does a message reach the people it is for?"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from driftwatch.alerts.outbox import Outbox
from driftwatch.alerts.route import ChannelRule, plan, trial
from driftwatch.app.outside import Outside, open_store
from driftwatch.clock import Clock
from driftwatch.config import Config
from driftwatch.errors import StoreBusyError
from driftwatch.model import Event
from driftwatch.store.ports import MessageRecord, MessageStatus, Store, Tx
from driftwatch.store.sqlite import InstanceLock

NOTIFY_POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What became of the test message of one channel."""

    channel: str
    sent: bool
    message: str | None
    """The message's id, once it is written."""
    problem: str | None
    """Why it has not arrived."""


NOT_TAKEN = "nobody has taken it up yet: the service is busy, or the channel's pace is used up for now"


async def notify_test(
    config: Config, names: Sequence[str], wait_s: float, outside: Outside | None = None
) -> list[Tested]:
    """Send a test message to some channels through the outbox; what became of each within ``wait_s``.

    A running service delivers them; without one they are delivered here.
    """
    outside = outside or Outside.real(config)
    with suppress(StoreBusyError), InstanceLock(config.storage.path):
        store = open_store(config, outside.clock)
        try:
            await asyncio.to_thread(store.migrate)
            outbox = Outbox(store=store, sender=outside.sender, channels=config.channels, clock=outside.clock)
            return await _try_out(config, names, store, outside.clock, wait_s=wait_s, outbox=outbox)
        finally:
            store.close()
    store = open_store(config, outside.clock)
    try:
        return await _try_out(config, names, store, outside.clock, wait_s=wait_s, outbox=None)
    finally:
        store.close()


async def _try_out(
    config: Config, names: Sequence[str], store: Store, clock: Clock, *, wait_s: float, outbox: Outbox | None
) -> list[Tested]:
    rules = [ChannelRule.of(channel) for channel in config.channels]
    trials = {name: trial(name, now=clock.now()) for name in names}

    def write(tx: Tx) -> None:
        for event in trials.values():
            tx.record_event(event, plan([event], rules, (), now=event.at, group_wait=timedelta(0)))

    await store.transact(write)
    until = clock.monotonic() + wait_s
    while True:
        if outbox is not None:
            await outbox.run_once()
        records = await store.query(lambda reader: reader.messages(None, 1000))
        tested = [_tested(name, _carrier(records, event)) for name, event in trials.items()]
        over = clock.monotonic() >= until
        if over or all(each.sent or each.problem for each in tested):
            return [
                each if each.sent or each.problem else replace(each, problem=NOT_TAKEN) for each in tested
            ]
        await asyncio.sleep(NOTIFY_POLL_S)


def _carrier(records: Sequence[MessageRecord], event: Event) -> MessageRecord | None:
    return next((record for record in records if event.id in record.message.events), None)


def _tested(name: str, record: MessageRecord | None) -> Tested:
    if record is None:
        return Tested(channel=name, sent=False, message=None, problem=None)
    tried = record.attempts and record.status is not MessageStatus.SENDING
    problem = (record.last_error or record.status.value) if tried and not record.sent_at else None
    return Tested(channel=name, sent=record.sent_at is not None, message=record.message.id, problem=problem)
