from datetime import UTC, datetime, timedelta

import pytest

from driftwatch.deploys import attribution, probes
from driftwatch.model import Depth, Event, EventKind, Json, Level, Release, Trigger

RECEIVED = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
RELEASE = Release(id="r", ref="v2", received_at=RECEIVED, servers=("api", "web"), commit="abc", actor="ann")


def event(kind: EventKind, at: datetime, since: datetime | None = None, **details: Json) -> Event:
    return Event(
        id="e",
        server="api",
        kind=kind,
        level=Level.ERROR,
        alerts=True,
        at=at,
        run="run",
        since=since,
        details=details,
    )


@pytest.mark.parametrize(
    ("kind", "since", "at", "follows"),
    [
        (EventKind.CHANGE, 2, 5, True),
        (EventKind.TOOLSET_CHANGED, 2, 5, True),
        (EventKind.CHANGE, -2, 5, False),
        (EventKind.CHANGE, 32, 35, False),
        (EventKind.RECOVERY, -90, 5, True),
        (EventKind.SETTLED, -90, 5, True),
        (EventKind.TLS_REMINDER, 2, 5, False),
        (EventKind.CHANGE, None, 5, True),
    ],
)
def test_what_begins_soon_after_a_release_names_it(
    kind: EventKind, since: int | None, at: int, *, follows: bool
) -> None:
    now = RECEIVED + at * MINUTE
    told = event(kind, now, None if since is None else RECEIVED + since * MINUTE)
    assert attribution.follows(told, RELEASE, now) is follows


@pytest.mark.parametrize(
    ("flags", "level"),
    [([], Level.INFO), (["new-link"], Level.INFO), (["steers"], Level.ERROR), (["hides"], Level.ERROR)],
)
def test_an_expected_change_is_info_unless_its_words_do_something_to_their_reader(
    flags: list[str], level: Level
) -> None:
    diff = {"changes": [{"flags": []}, {"flags": flags}]}
    assert attribution.expected(event(EventKind.TOOLSET_CHANGED, RECEIVED, diff=diff)).level is level


def test_a_check_that_fails_is_never_expected() -> None:
    assert attribution.expected(event(EventKind.CHANGE, RECEIVED)).level is Level.ERROR


def test_a_release_is_told_with_what_was_there_before_it() -> None:
    told = attribution.told(RELEASE, previous_ref="v1", relation="by")
    assert told == {
        "id": "r",
        "ref": "v2",
        "commit": "abc",
        "previous_ref": "v1",
        "actor": "ann",
        "link": None,
        "relation": "by",
    }
    assert attribution.named(event(EventKind.CHANGE, RECEIVED, blip=False), told).details == {
        "blip": False,
        "release": told,
    }


def test_each_server_of_a_release_is_read_fully_after_the_delay() -> None:
    first, second = probes(RELEASE, delay=MINUTE)
    assert (first.server, second.server) == RELEASE.servers
    assert (first.due_at, first.trigger, first.depth) == (RECEIVED + MINUTE, Trigger.DEPLOY, Depth.FULL)
    assert first.release_ref == "r"
