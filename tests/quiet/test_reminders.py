"""What is called to mind, when, and when no more."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from driftwatch.config import Alerts
from driftwatch.evidence import Missing
from driftwatch.model import EventKind
from tests.quiet.street import DAY, DOWN, HOUR, MINUTE, NOON, REFUSED, UP, Street, channel


def bodies(street: Street) -> list[str]:
    return [message["body"] for message in street.postman.taken]


async def down(street: Street, *servers: str) -> None:
    """Their outage is told."""
    for server in servers:
        await street.probe(server)
    await street.wait()
    for server in servers:
        await street.probe(server, DOWN)
    assert len(await street.wait()) == 1


async def test_an_open_error_is_called_to_mind_once_a_day_across_restarts(street: Street) -> None:
    await down(street, "api")
    said = []
    for _ in range(3 * 24):
        said += await street.wait(HOUR, step=20 * MINUTE)
        street.restart()
    assert len(said) == 3
    assert said[0] == "api: still down for 1 d - no answer in time"
    assert said[2] == "api: still down for 3 d - no answer in time"
    times = [event.at for event in street.events(EventKind.REMINDER)]
    assert all(later - earlier == DAY for later, earlier in pairwise(times))


async def test_what_is_over_is_not_called_to_mind(street: Street) -> None:
    await down(street, "api")
    await street.probe("api", UP)
    await street.wait()
    assert await street.wait(3 * DAY, step=HOUR) == []


async def test_after_a_gap_in_the_watch_nothing_is_called_to_mind_before_it_was_looked_at(
    street: Street,
) -> None:
    street.policy = replace(street.policy, gap=HOUR)
    street.restart()
    await down(street, "api")
    assert await street.wait(2 * DAY, step=HOUR) == [], "nobody looked"
    await street.probe("api", DOWN)
    assert await street.wait() == ["api: still down for 2 d - no answer in time"]


async def test_what_may_be_over_is_not_called_to_mind_until_that_is_known(street: Street) -> None:
    await down(street, "api")
    street.policy = replace(street.policy, confirm=2)
    street.restart()
    street.clock.advance(DAY)
    await street.probe("api", UP)
    assert not any("still down" in said for said in await street.wait())
    await street.probe("api", UP)
    (said,) = await street.wait()
    assert said.startswith("api: back after ")


async def test_all_that_is_open_is_one_digest(street: Street) -> None:
    await down(street, "api")
    await street.wait(5 * HOUR, step=HOUR)
    await down(street, "lab")
    said = await street.wait(3 * DAY, step=HOUR)
    assert len(said) == 3, "what would be due soon comes along"
    assert said == ["2 servers: 2 still open"] * 3
    body = bodies(street)[-1]
    assert "api: still down" in body
    assert "lab: still down" in body


async def test_an_acknowledged_error_is_called_to_mind_no_more_and_its_end_is_told(street: Street) -> None:
    await down(street, "api")
    street.ack()
    assert await street.wait(3 * DAY, step=HOUR) == []
    await street.probe("api", UP)
    (title,) = await street.wait()
    assert title.startswith("api: back after 3 d")


async def test_another_value_ends_an_acknowledgement(street: Street) -> None:
    await down(street, "api")
    street.ack()
    await street.probe("api", REFUSED)
    assert len(await street.wait()) == 1
    assert await street.wait(DAY, step=HOUR) == ["api: still down for 1 d - connection refused"]


async def test_an_acknowledged_error_is_named_beside_what_is_called_to_mind(street: Street) -> None:
    await down(street, "api", "lab")
    (incident,) = street.read(lambda reader: reader.memory("lab").incidents.values())  # type: ignore[union-attr]
    street.ack(incident.id[:8])
    await street.wait(DAY, step=HOUR)
    assert "lab" not in bodies(street)[-1]
    assert "api" in bodies(street)[-1]


async def test_a_silenced_error_is_called_to_mind_when_the_silence_is_over(street: Street) -> None:
    await down(street, "api")
    await street.wait(23 * HOUR, step=HOUR)
    street.silence("api", lasting=10 * HOUR)
    assert await street.wait(9 * HOUR, step=HOUR) == []
    assert len(await street.wait(2 * HOUR, step=HOUR)) == 1


async def test_what_a_silence_held_back_is_not_called_to_mind_at_once(street: Street) -> None:
    await street.probe("api")
    street.silence("api", lasting=2 * DAY)
    await street.probe("api", DOWN)
    assert len(await street.wait(3 * DAY - MINUTE, step=MINUTE * 30)) == 1
    assert len(await street.wait(HOUR)) == 1


@pytest.mark.parametrize("interval", ["6h", "7d"])
async def test_the_interval_is_a_setting(tmp_path: Path, interval: str) -> None:
    street = Street(tmp_path / "driftwatch.db", alerts=Alerts.model_validate({"reminder": interval}))
    await down(street, "api")
    assert len(await street.wait(14 * DAY, step=HOUR)) == {"6h": 56, "7d": 2}[interval]
    street.store.close()


async def test_a_channel_is_reminded_of_its_own_servers_only(tmp_path: Path) -> None:
    channels = (channel("prod", tags=("prod",)), channel("all"))
    street = Street(tmp_path / "driftwatch.db", channels=channels)
    for server in ("api", "lab"):
        await street.probe(server)
        await street.probe(server, DOWN)
    await street.wait()
    street.postman.taken.clear()
    await street.wait(DAY, step=HOUR)
    told = {message["url"].rpartition("/")[2]: message["title"] for message in street.postman.taken}
    assert told["prod"].startswith("[driftwatch] api: still down")
    assert told["all"] == "[driftwatch] 2 servers: 2 still open"
    street.store.close()


async def test_a_step_of_the_clock_reminds_of_nothing(street: Street) -> None:
    await down(street, "api")
    street.clock.wall -= HOUR
    assert await street.wait(2 * HOUR, step=10 * MINUTE) == []


async def test_a_crash_between_reminders_and_their_messages_tells_each_once(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    await down(street, "api")

    class DiesError(BaseException):
        pass

    async def dies() -> None:
        raise DiesError

    monkeypatch.setattr(street.outbox, "run_once", dies)
    with pytest.raises(DiesError):
        await street.wait(DAY)
    street.restart()
    assert len(await street.wait(HOUR, step=MINUTE)) == 1


async def test_what_is_not_looked_at_for_a_day_is_told_once(street: Street) -> None:
    """The tool list cannot be read, which is no error that anybody is reminded of."""
    unread = replace(
        UP, surfaces=tuple(replace(each, listing=Missing("gone", "gone")) for each in UP.surfaces)
    )
    await street.probe("api")
    await street.wait()
    said: list[str] = []
    for _ in range(60):
        await street.probe("api", unread)
        said += await street.wait(HOUR)
    stale = [title for title in said if "not checked" in title]
    reminded = [event for event in street.events(EventKind.REMINDER) if event.details["stale"]]
    assert len(stale) == len(reminded) <= 1


async def test_the_message_says_what_is_open_since_when_and_what_to_do(street: Street) -> None:
    await down(street, "api")
    await street.wait(DAY, step=HOUR)
    (incident,) = street.read(lambda reader: reader.memory("api").incidents.values())  # type: ignore[union-attr]
    body = bodies(street)[-1]
    assert f"Acknowledge: `driftwatch ack {incident.id[:8]}`" in body
    assert f"Since: {NOON:%Y-%m-%d} 12:0" in body
    assert "Other checks are still not made because of it." in body
    assert "Fix: " in body
