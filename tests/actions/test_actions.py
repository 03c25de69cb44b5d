"""What a person does, through the functions that the command line and the HTTP API share."""

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from driftwatch import actions
from driftwatch.errors import UsageError
from driftwatch.model import Depth, EventKind, Trigger
from driftwatch.store.ports import MessageStatus
from driftwatch.transitions import Changes, ConfirmProbe
from tests.store.world import DAY, HOUR, MINUTE, START, World, incident, state

PAIR = f"dw1:{'1a2b3c4d' * 8}.{'5e6f7a8b' * 8}"
SUBJECT = "toolset:modern:token"
CHECK = "check:transport/endpoint"


def broken(world: World, *subjects: str, **changes: Any) -> list[str]:
    """Open incidents; their ids."""
    incidents = [
        incident(str(uuid.uuid5(uuid.NAMESPACE_URL, subject)), subject, START, **changes)
        for subject in subjects
    ]
    world.record(changes=Changes(incidents=tuple(incidents)))
    world.clock.advance(MINUTE)
    return [item.id for item in incidents]


def kinds(world: World) -> list[EventKind]:
    with world.store.read() as reader:
        return [event.kind for event in reader.events("api")]


# --- accept


def accept(world: World, fingerprint: str, reason: str = "reviewed") -> actions.Accepted:
    with world.store.write() as tx:
        return actions.accept(tx, "api", fingerprint, by="ann", reason=reason, now=world.clock())


@pytest.fixture
def drifted(world: World) -> World:
    confirm = ConfirmProbe(due_at=START + HOUR, depth=Depth.LIGHT)
    opened = incident("i1", SUBJECT, START, value=PAIR)
    changed = state(SUBJECT, PAIR, accepted="dw1:old.old", incident="i1")
    world.record(changes=Changes(states=(changed,), incidents=(opened,), confirm=confirm))
    return world


@pytest.mark.parametrize("fingerprint", [PAIR, "dw1:1a2b3c4d.5e6f7a8b"])
def test_accepting_makes_the_current_toolset_the_baseline_and_ends_its_incident(
    drifted: World, fingerprint: str
) -> None:
    assert accept(drifted, fingerprint).subjects == (SUBJECT,)
    with drifted.store.read() as reader:
        memory, record = reader.memory("api"), reader.server("api")
        assert memory is not None
        assert record is not None
        assert memory.states[SUBJECT].accepted == PAIR
        assert memory.incidents == {}
        assert record.confirm_due_at == START + HOUR  # a planned re-probe stays planned
        assert [event.details for event in reader.events("api")] == [{"by": "ann", "reason": "reviewed"}]
    assert accept(drifted, fingerprint).subjects == ()


@pytest.mark.parametrize(
    "fingerprint", ["dw1:1a2b3c.5e6f7a", "dw1:old.old", "1a2b3c4d", PAIR.replace("8b", "8c")]
)
def test_only_the_fingerprint_of_a_current_toolset_is_accepted(drifted: World, fingerprint: str) -> None:
    with pytest.raises(UsageError, match="is not the fingerprint of a current toolset; current: dw1:1a2b"):
        accept(drifted, fingerprint)
    assert kinds(drifted) == []


def test_accepting_takes_a_reason_and_a_configured_server(drifted: World) -> None:
    with pytest.raises(UsageError, match="a reason is missing"):
        accept(drifted, PAIR, reason=" ")
    drifted.add("other")
    with pytest.raises(UsageError, match="no server is named 'api'; configured: other"):
        accept(drifted, PAIR)


# --- ack


def ack(world: World, named: str) -> tuple[actions.Acked, ...]:
    with world.store.write() as tx:
        return actions.ack(tx, named, by="ann", now=world.clock())


def test_an_incident_is_acknowledged_by_the_beginning_of_its_id(world: World) -> None:
    first, _ = broken(world, CHECK, SUBJECT)
    (acked,) = ack(world, first[:8])
    assert (acked.server, acked.incident.id, acked.again) == ("api", first, False)
    with world.store.read() as reader:
        memory = reader.memory("api")
        assert memory is not None
        assert memory.incidents[CHECK].acked_by == "ann"
        assert memory.incidents[CHECK].acked_at == world.clock()
        assert memory.incidents[SUBJECT].acked_at is None
        (event,) = reader.events("api")
        assert (event.kind, event.subject, event.alerts) == (EventKind.ACKED, CHECK, False)


def test_a_servers_name_acknowledges_everything_that_is_open_there(world: World) -> None:
    broken(world, CHECK, SUBJECT)
    assert [item.again for item in ack(world, "api")] == [False, False]


def test_acknowledging_twice_changes_nothing_more(world: World) -> None:
    broken(world, CHECK)
    ack(world, "api")
    world.clock.advance(HOUR)
    (acked,) = ack(world, "api")
    assert acked.again
    assert acked.incident.acked_at == world.clock() - HOUR
    assert kinds(world) == [EventKind.ACKED]


def test_what_names_no_open_incident_is_said_so(world: World) -> None:
    with pytest.raises(UsageError, match="api: no incident is open"):
        ack(world, "api")
    (id_,) = broken(world, CHECK)
    with pytest.raises(UsageError, match="is neither a server nor an open incident"):
        ack(world, id_[:3])
    with pytest.raises(UsageError, match="'nobody' is neither"):
        ack(world, "nobody")


def test_a_beginning_that_two_incidents_share_is_not_guessed(world: World) -> None:
    twins = tuple(incident(f"abcd-{subject}", subject, START) for subject in (CHECK, SUBJECT))
    world.record(changes=Changes(incidents=twins))
    with pytest.raises(UsageError, match="could be several incidents"):
        ack(world, "abcd")


# --- silence


def silence(world: World, *servers: str, **changes: Any) -> Any:
    values: dict[str, Any] = {
        "lasting": 2 * HOUR,
        "reason": "moving house",
        "by": "ann",
        "now": world.clock(),
    }
    with world.store.write() as tx:
        return actions.silence(tx, servers=servers, **(values | changes))


def test_a_silence_is_in_force_until_it_ends(world: World) -> None:
    made = silence(world, "api", only=["tls/expiry"])
    assert made.checks == ("tls/expiry",)
    with world.store.read() as reader:
        assert reader.silences(START) == reader.silences() == [made]
        assert reader.silences(START + 2 * HOUR) == []
        (event,) = reader.events("api")
        assert (event.kind, event.details["reason"]) == (EventKind.SILENCED, "moving house")


def test_a_silence_is_lifted_by_the_beginning_of_its_id(world: World) -> None:
    made = silence(world, tags=["prod"])
    world.clock.advance(HOUR)
    with world.store.write() as tx:
        lifted = actions.unsilence(tx, made.id[:8], by="bob", now=world.clock())
    assert lifted == replace(made, lifted_at=START + HOUR)
    with world.store.read() as reader:
        assert reader.silences(world.clock()) == []
        assert reader.silences() == [lifted]
        assert [event.kind for event in reader.events()] == [EventKind.UNSILENCED, EventKind.SILENCED]
    with world.store.write() as tx, pytest.raises(UsageError, match="is not one of the silences in force"):
        actions.unsilence(tx, made.id[:8], by="bob", now=world.clock())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"lasting": 31 * DAY}, "at most 30 days"),
        ({"lasting": timedelta(0)}, "at most 30 days"),
        ({"reason": ""}, "a reason is missing"),
        ({"tags": ["typo"]}, "no server has the tag 'typo'; tags: prod"),
        ({"servers": ["typo"]}, "no server is named 'typo'; configured: api"),
        ({"only": ["tls/typo"]}, "no check has the id 'tls/typo'"),
        ({"servers": []}, "needs a server or a tag"),
    ],
)
def test_a_silence_that_would_hush_nothing_or_for_ever_is_refused(
    world: World, changes: dict[str, Any], sentence: str
) -> None:
    servers = changes.pop("servers", ["api"])
    with pytest.raises(UsageError, match=sentence):
        silence(world, *servers, **changes)
    with world.store.read() as reader:
        assert reader.silences() == []
        assert reader.events() == []


# --- probes and messages


def test_a_probe_that_was_asked_for_is_made_at_the_next_tick(world: World) -> None:
    world.add("api", due=START + DAY)
    with world.store.write() as tx:
        asked = actions.probe_now(tx, "api", now=START)
        again = actions.probe_now(tx, "api", depth=Depth.LIGHT, now=START + MINUTE)
    assert again == asked
    assert (asked.trigger, asked.depth) == (Trigger.MANUAL, Depth.FULL)
    assert asked in world.take()


def test_a_probe_of_an_unknown_server_is_refused(world: World) -> None:
    with world.store.write() as tx, pytest.raises(UsageError, match="no server is named 'typo'"):
        actions.probe_now(tx, "typo", now=START)


def test_a_message_is_dropped_and_sent_again_by_the_beginning_of_its_id(world: World) -> None:
    world.tell("e1", "chat")
    world.freeze("1a2b3c4d-0000", "chat", "e1")
    with world.store.write() as tx:
        assert actions.retry(tx, "dw:1a2b3c4d", now=START).status is MessageStatus.PENDING
        assert actions.drop(tx, "1a2b", now=START).status is MessageStatus.DROPPED
        with pytest.raises(UsageError, match="was dropped: there is nothing to drop"):
            actions.drop(tx, "1a2b", now=START)
        with pytest.raises(UsageError, match="was dropped: there is nothing to retry"):
            actions.retry(tx, "1a2b", now=START)
        with pytest.raises(UsageError, match="'ffff' is not a message"):
            actions.retry(tx, "ffff", now=START)
