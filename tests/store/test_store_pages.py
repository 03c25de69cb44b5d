from dataclasses import replace

from driftwatch.model import Depth, EventKind, State
from driftwatch.transitions import Changes
from tests.store.world import DAY, HOUR, START, World, certificate, request, run, state

CHECK = "check:transport/endpoint"


def test_a_fleet_is_summed_up_as_its_states_are_written(world: World) -> None:
    world.add("api", "blind", "new")
    down = (state("check:transport/endpoint", "not_checked:auth"), state("check:tls/chain", "verified"))
    world.record("blind", Changes(states=down))
    world.record(changes=Changes(states=(state(CHECK, "failed:dns"), state("check:mcp/a", "verified"))))
    with world.store.read() as reader:
        assert [(each.name, each.worst) for each in reader.glance()] == [
            ("api", State.FAILED),
            ("blind", State.NOT_CHECKED),
            ("new", State.NOT_CHECKED),
        ]
    world.clock.advance(HOUR)
    world.record(changes=Changes(states=(state(CHECK, "observed_risk:slow"),)))
    with world.store.read() as reader:
        (api,) = reader.glance("api")
        assert (api.worst, api.counts[State.OBSERVED_RISK], api.counts[State.VERIFIED]) == (
            State.OBSERVED_RISK,
            1,
            1,
        )
        assert [item.record.name for item in reader.overview(names=["new", "api"])] == ["api", "new"]


def test_the_newest_event_of_some_kinds_is_found_for_each_server(world: World) -> None:
    world.add("api", "zoo", "calm")
    for number, name in enumerate(["api", "api", "zoo"]):
        world.clock.advance(HOUR)
        world.tell(f"e{number}", server=name)
    world.clock.advance(HOUR)
    world.tell("later", server="api", kind=EventKind.BLIP)
    with world.store.read() as reader:
        found = reader.latest_events(["api", "zoo", "calm"], [EventKind.CHANGE])
    assert {name: event.id for name, event in found.items()} == {"api": "e1", "zoo": "e2"}


def test_an_event_says_in_which_messages_it_was_told(world: World) -> None:
    world.tell("e1", "chat", "mail")
    world.freeze("m1", "chat", "e1")
    with world.store.read() as reader:
        chat, mail = reader.deliveries("e1")
        found = reader.event("e1")
        assert reader.event("e2") is None
    assert found is not None
    assert found.server == "api"
    assert chat.message is not None
    assert (chat.channel, chat.message.message.id) == ("chat", "m1")
    assert (mail.channel, mail.message) == ("mail", None)


def test_a_server_keeps_the_transcript_of_its_last_probe_of_each_depth(world: World) -> None:
    for said, depth in [("one", Depth.LIGHT), ("all", Depth.FULL), ("two", Depth.LIGHT)]:
        taken_at = world.clock.advance(HOUR)
        asked = request("api", taken_at, depth=depth)
        record = replace(run("api", id_=said, taken_at=taken_at, asked=asked), transcript={"said": said})
        with world.store.write() as tx:
            tx.lock_server("api")
            assert tx.record_run(record)
    with world.store.read() as reader:
        found = reader.transcripts("api")
        assert reader.transcripts("nobody") == []
    assert [(each.run, each.depth, each.content) for each in found] == [
        ("two", "light", {"said": "two"}),
        ("all", "full", {"said": "all"}),
    ]


def test_the_certificates_of_a_server_stay_in_its_history(world: World) -> None:
    world.record(certificate=certificate("old", START + DAY))
    world.clock.advance(HOUR)
    world.record(certificate=certificate("new", START + 90 * DAY))
    with world.store.read() as reader:
        new, old = reader.certificates("api")
    assert (new.certificate.leaf_sha256, old.certificate.leaf_sha256) == ("new", "old")
    assert new.first_seen_at == START + HOUR
