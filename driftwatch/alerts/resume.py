"""The end of a silence or a maintenance window: what still holds is told, once.

What is held back and what is told of it afterwards are rows, and both change in one transaction, so neither a
crash nor a second look can tell anything twice.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from driftwatch.alerts.quiet import Quiet, holding, in_force, worth_telling
from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.config.alerting import Window
from driftwatch.model import Event
from driftwatch.store.ports import DeliveryPlan, HeldDelivery, Reader, Tx


def address(
    tx: Tx,
    events: Sequence[Event],
    channels: Sequence[ChannelRule],
    tags: Sequence[str],
    *,
    now: datetime,
    group_wait: timedelta,
    windows: Iterable[Window],
    reminder: timedelta,
) -> list[DeliveryPlan]:
    """To whom some events about one server go; what a silence or window covers is held back.

    What was held back of the server until now is decided first, while what it says is still so: the end of
    something is never told without its beginning.
    """
    windows = tuple(windows)
    for server in {event.server for event in events if event.alerts and event.server}:
        resume(tx, windows, now=now, reminder=reminder, server=server)
    quiet = in_force(tx.silences(now), windows, now)
    return plan(events, channels, tags, now=now, group_wait=group_wait, quiet=quiet)


def resume(
    tx: Tx, windows: Iterable[Window], *, now: datetime, reminder: timedelta, server: str | None = None
) -> int:
    """Tell what nothing holds back any more and is still so, of one server or of all; how many deliveries.

    What a silence that holds now covers too goes on being held back, by that. An incident that is told now is
    brought to mind no earlier than ``reminder`` from now.
    """
    quiet = in_force(tx.silences(now), windows, now)
    by_server: dict[str, list[HeldDelivery]] = defaultdict(list)
    for record in tx.held_deliveries(server, [each.name for each in quiet]):
        by_server[record.event.server or ""].append(record)
    return sum(
        _resume_server(tx, name, held, quiet, now=now, reminder=reminder) for name, held in by_server.items()
    )


def _resume_server(
    tx: Tx,
    server: str,
    held: Sequence[HeldDelivery],
    quiet: Sequence[Quiet],
    *,
    now: datetime,
    reminder: timedelta,
) -> int:
    record, memory = tx.server(server), tx.memory(server)
    if record is None or memory is None or record.removed_at is not None:
        tx.drop_deliveries(held, now)
        return 0
    by_channel: dict[str, list[HeldDelivery]] = defaultdict(list)
    plans = []
    for each in held:
        by = holding(quiet, each.event, record.tags)
        if by is None:
            by_channel[each.channel].append(each)
        else:
            plans.append(_plan(each, each.not_before, by))
    tx.replan(plans)
    told: set[str] = set()
    number = 0
    for channel, free in by_channel.items():
        worth = worth_telling([each.event for each in free], memory, partial(_was_told, tx, channel))
        tx.replan([_plan(each, now) for each in free if each.event.id in worth])
        tx.drop_deliveries([each for each in free if each.event.id not in worth], now)
        told |= worth
        number += len(worth)
    reminded = {str(each.event.details.get("incident")) for each in held if each.event.id in told}
    reminded |= {incident.id for incident in memory.incidents.values() if incident.opening_event in told}
    tx.remind(sorted(reminded), now + reminder)
    return number


def _plan(held: HeldDelivery, not_before: datetime, by: str | None = None) -> DeliveryPlan:
    return DeliveryPlan(event=held.event.id, channel=held.channel, not_before=not_before, suppressed_by=by)


def _was_told(reader: Reader, channel: str, incident: str) -> bool:
    """Whether the opening of an incident was told on a channel, or will be in its next message."""
    found = reader.incident(incident)
    opening = reader.deliveries(found.opening_event) if found else []
    return any(each.told for each in opening if each.channel == channel)
