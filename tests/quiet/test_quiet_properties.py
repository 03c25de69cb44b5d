"""Over random histories: what becomes of every event that alerts, on every channel."""

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from driftwatch.alerts.route import ChannelRule
from driftwatch.config import Alerts
from driftwatch.model import EventKind
from driftwatch.store.ports import MessageStatus
from tests.quiet.street import DAY, DOWN, HOUR, MINUTE, REFUSED, UP, Street, channel
from tests.quiet.test_silences import OTHER_TOOLS

WINDOW = {"from": "22:30", "to": "06:00", "timezone": "Europe/Berlin", "tags": ["prod"]}


async def probe(street: Street, chance: random.Random) -> None:
    await street.probe(chance.choice(("api", "lab")), chance.choice((UP, DOWN, REFUSED, OTHER_TOOLS)))


async def silence(street: Street, chance: random.Random) -> None:
    target = chance.choice((("api",), ("lab",), ("api", "lab")))
    only = chance.choice(((), ("release/fingerprint",), ("transport/endpoint",)))
    street.silence(*target, lasting=timedelta(minutes=chance.choice((10, 60, 600))), only=only)


async def lift(street: Street, chance: random.Random) -> None:
    for held in street.read(lambda reader: reader.silences(street.clock.now())):
        street.unsilence(held.id)


async def ack(street: Street, chance: random.Random) -> None:
    for item in street.read(lambda reader: reader.status()):
        if item.memory.incidents:
            street.ack(item.record.name)


async def close(street: Street, chance: random.Random) -> None:
    street.postman.open = not street.postman.open


async def restart(street: Street, chance: random.Random) -> None:
    street.restart()


async def wait(street: Street, chance: random.Random) -> None:
    await street.wait(timedelta(minutes=chance.choice((1, 20, 300))), step=20 * MINUTE)


async def come_to_rest(street: Street) -> None:
    """The receivers take everything, and neither a silence nor the window holds: the afternoon after."""
    street.postman.open = True
    await lift(street, random.Random(0))
    noon = street.clock.now().replace(hour=12, minute=0, second=0, microsecond=0) + DAY
    street.clock.advance(noon - street.clock.now())
    await street.wait(6 * HOUR, step=10 * MINUTE)


@pytest.mark.parametrize("seed", range(8))
async def test_every_event_is_told_held_back_or_dropped_on_each_channel_and_never_twice(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    channels = (channel("all"), channel("prod", tags=("prod",)), channel("loud", min_severity="error"))
    alerts = Alerts.model_validate({"window": [WINDOW]})
    street = Street(tmp_path / "driftwatch.db", alerts=alerts, channels=channels)
    for _ in range(60):
        await chance.choice((probe, probe, probe, silence, lift, ack, close, restart, wait))(street, chance)
    await come_to_rest(street)

    told = Counter(
        (event, record.message.channel) for record in street.messages() for event in record.message.events
    )
    assert {record.status for record in street.messages()} <= {MessageStatus.SENT}
    assert street.read(lambda reader: reader.held_deliveries()) == []
    rules = [ChannelRule.of(each) for each in channels]
    for event in street.events():
        tags = street.servers.get(event.server or "", ())
        wanted = {rule.name for rule in rules if event.alerts and rule.wants(event, tags)}
        deliveries = street.deliveries(event.id)
        assert {delivery.channel for delivery in deliveries} == wanted
        for delivery in deliveries:
            held = delivery.suppressed_by is not None
            assert held is (delivery.message is None)
            assert held is (delivery.dropped_at is not None), "what is held back at the end is given up"
            assert told[event.id, delivery.channel] == int(not held)
    _open_is_told(street)
    _no_end_without_a_beginning(street)
    street.store.close()


def _open_is_told(street: Street) -> None:
    for item in street.read(lambda reader: reader.status()):
        for incident in item.memory.incidents.values():
            assert all(delivery.told for delivery in street.deliveries(incident.opening_event))


def _no_end_without_a_beginning(street: Street) -> None:
    for event in street.events(EventKind.RECOVERY):
        incident = street.read(lambda reader, id_=event.details["incident"]: reader.incident(id_))  # type: ignore[misc]
        if incident is not None:
            begun = {each.channel for each in street.deliveries(incident.opening_event) if each.told}
            assert {each.channel for each in street.deliveries(event.id) if each.told} <= begun
