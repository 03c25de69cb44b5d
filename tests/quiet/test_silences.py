"""What a silence holds back, and what becomes of it."""

import pytest

from driftwatch.model import Era, EventKind
from tests.checks.factories import evidence, surface, tool
from tests.quiet.street import DAY, DOWN, HOUR, MINUTE, REFUSED, UP, Street

OTHER_TOOLS = evidence(surface(Era.MODERN, tool("write_note")), surface(Era.LEGACY, tool("write_note")))


@pytest.fixture(autouse=True)
async def _known(street: Street) -> None:
    """Both servers have their baseline, and nothing is said about that."""
    await street.probe("api")
    await street.probe("lab")
    assert await street.wait() == []


async def test_what_is_silenced_is_recorded_and_not_told(street: Street) -> None:
    street.silence("api")
    await street.probe("api", DOWN)
    await street.probe("lab", DOWN)
    (title,) = await street.wait()
    assert title.startswith("lab: ")
    assert len(street.events(EventKind.CHANGE)) == 2


@pytest.mark.parametrize("end", ["by its time", "lifted"])
async def test_what_is_still_open_when_a_silence_ends_is_told_once(street: Street, end: str) -> None:
    silence = street.silence("api", lasting=2 * HOUR)
    await street.probe("api", DOWN)
    assert await street.wait(HOUR, step=10 * MINUTE) == []
    if end == "lifted":
        street.unsilence(silence)
        said = await street.wait()
    else:
        said = await street.wait(HOUR, step=10 * MINUTE)
    assert len(said) == 1
    assert said[0].startswith("api: down")
    street.restart()
    assert await street.wait(6 * HOUR, step=HOUR) == []


async def test_what_began_and_ended_within_a_silence_is_in_the_history_only(street: Street) -> None:
    street.silence("api")
    await street.probe("api", DOWN)
    await street.wait(10 * MINUTE)
    await street.probe("api", UP)
    assert await street.wait(3 * HOUR, step=10 * MINUTE) == []
    assert {EventKind.CHANGE, EventKind.RECOVERY} <= {event.kind for event in street.events()}


async def test_the_end_of_what_had_been_told_before_is_told_afterwards(street: Street) -> None:
    await street.probe("api", DOWN)
    assert len(await street.wait()) == 1
    street.silence("api")
    await street.probe("api", UP)
    assert await street.wait(HOUR) == []
    (title,) = await street.wait(HOUR)
    assert title.startswith("api: back")


async def test_a_recovery_right_after_a_silence_comes_together_with_what_it_ends(street: Street) -> None:
    """The probe comes before the chore: still nobody reads of an end without its beginning."""
    street.silence("api", lasting=HOUR)
    await street.probe("api", DOWN)
    street.clock.advance(HOUR)
    await street.probe("api", UP)
    (title,) = await street.wait()
    assert "down" in title


async def test_changes_of_one_incident_within_a_silence_are_one_story_afterwards(street: Street) -> None:
    street.silence("api", lasting=HOUR)
    await street.probe("api", DOWN)
    await street.wait(10 * MINUTE)
    await street.probe("api", REFUSED)
    assert len(street.events(EventKind.CHANGE)) > 1
    (title,) = await street.wait(HOUR)
    assert title.count("down") == 1


async def test_a_toolset_that_is_another_one_afterwards_is_told(street: Street) -> None:
    street.silence("api", lasting=HOUR)
    await street.probe("api", OTHER_TOOLS)
    (title,) = await street.wait(HOUR)
    assert "toolset changed" in title


async def test_a_toolset_that_is_the_old_one_again_is_not(street: Street) -> None:
    street.silence("api", lasting=HOUR)
    await street.probe("api", OTHER_TOOLS)
    await street.wait(MINUTE)
    await street.probe("api", UP)
    assert await street.wait(HOUR) == []


async def test_an_overlapping_silence_takes_over(street: Street) -> None:
    street.silence("api", lasting=HOUR)
    street.silence(tags=["prod"], lasting=3 * HOUR)
    await street.probe("api", DOWN)
    assert await street.wait(2 * HOUR, step=10 * MINUTE) == []
    assert len(await street.wait(2 * HOUR, step=10 * MINUTE)) == 1


async def test_a_silence_of_one_check_leaves_the_others(street: Street) -> None:
    street.silence("api", only=["release/fingerprint"])
    await street.probe("api", OTHER_TOOLS)
    assert await street.wait() == []
    await street.probe("api", DOWN)
    (title,) = await street.wait()
    assert "down" in title


async def test_what_was_held_back_of_a_removed_server_is_not_told(street: Street) -> None:
    street.silence("api", lasting=HOUR)
    await street.probe("api", DOWN)
    street.act(lambda tx: tx.import_servers([], street.clock.now()))
    assert await street.wait(2 * HOUR, step=10 * MINUTE) == []
    assert street.read(lambda reader: reader.held_deliveries()) == []


async def test_a_crash_at_the_end_of_a_silence_tells_nothing_twice(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    street.silence("api", lasting=HOUR)
    await street.probe("api", DOWN)
    street.clock.advance(HOUR)

    class DiesError(BaseException):
        pass

    async def dies() -> None:
        raise DiesError

    monkeypatch.setattr(street.outbox, "run_once", dies)
    for _ in range(3):
        with pytest.raises(DiesError):
            await street.work()
    street.restart()
    assert len(await street.wait()) == 1
    assert await street.wait(DAY / 2, step=HOUR) == []
