from dataclasses import replace

from driftwatch.model import Depth, Silence, Trigger
from driftwatch.store.ports import Imported
from driftwatch.transitions import Changes, ConfirmProbe
from tests.store.world import (
    DAY,
    HOUR,
    MINUTE,
    START,
    World,
    request,
    server,
    state,
)


def test_the_rows_become_what_the_configuration_says(world: World) -> None:
    changed = server("api", START, url="https://new.example/mcp", revision="r2", tags=("a", "b"))
    with world.store.write() as tx:
        imported = tx.import_servers([changed, server("new", START + HOUR)], START)

    assert imported == Imported(added=("new",), returned=(), removed=(), changed=("api",))
    assert world.row() == changed
    assert world.row("new").next_due_at == START + HOUR


def test_a_server_under_a_new_name_keeps_everything(world: World) -> None:
    world.record(changes=Changes(states=(state("check:a/b", "verified"),)))
    before = world.row()
    quiet = Silence(
        id="s1",
        servers=("api", "other"),
        starts_at=START,
        ends_at=START + DAY,
        reason="a rollout",
        created_by="ana",
    )
    with world.store.write() as tx:
        tx.add_silence(quiet)
    renamed = replace(server("shop", START + HOUR), previous_name="api")
    for _ in range(2):  # the key stays in the file, and is nothing new at the next import
        with world.store.write() as tx:
            imported = tx.import_servers([renamed], START + HOUR)
    assert imported == Imported(added=(), returned=(), removed=())
    with world.store.read() as reader:
        (status,) = reader.status()
        assert [run.trigger for run in reader.runs("shop")] == ["interval"]
        assert reader.memory("api") is None
        assert reader.silences(START + HOUR)[0].servers == ("shop", "other")
    assert set(status.memory.states) == {"check:a/b"}
    assert status.record.next_due_at == before.next_due_at


def test_a_name_that_another_server_has_is_not_taken_from_it(world: World) -> None:
    with world.store.write() as tx:
        tx.import_servers([server("api", START), server("shop", START)], START)
    renamed = replace(server("shop", START), previous_name="api")
    with world.store.write() as tx:
        imported = tx.import_servers([renamed], START)
    assert (imported.renamed, imported.removed) == ((), ("api",))


def test_a_restart_does_not_move_due_times(world: World) -> None:
    world.take()
    planned = world.row()
    world.add("api", due=world.clock.advance(MINUTE))
    assert world.row() == planned


def test_a_removed_server_is_no_more_probed_and_comes_back_with_its_memory(world: World) -> None:
    confirming = ConfirmProbe(due_at=START, depth=Depth.LIGHT)
    world.record(changes=Changes(states=(state("check:a/b", "verified"),), confirm=confirming))
    world.enqueue(request("api", START, Trigger.MANUAL))
    with world.store.write() as tx:
        assert tx.import_servers([], START + HOUR).removed == ("api",)
    assert world.row().removed_at == START + HOUR
    assert (world.take(), world.waiting(), world.next_due()) == ([], [], None)
    with world.store.read() as reader:
        assert reader.status() == []

    world.clock.advance(DAY)
    with world.store.write() as tx:
        assert tx.import_servers([server("api", world.clock())], world.clock()).returned == ("api",)
    with world.store.read() as reader:
        (status,) = reader.status()
    assert set(status.memory.states) == {"check:a/b"}
    assert (status.record.removed_at, status.record.confirm_due_at) == (None, None)
    assert status.record.next_due_at == world.clock()
