"""``diff`` and ``accept``: what changed in a toolset, and that it may."""

from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_beside, open_readonly, person, print_json
from driftwatch.errors import UsageError

if TYPE_CHECKING:
    from driftwatch.store.ports import Reader, StoredToolset
    from driftwatch.toolset import Diff
    from driftwatch.transitions import Memory, SubjectState

ServerArgument = Annotated[str, typer.Argument(help="A server's name.")]


def diff(
    server: ServerArgument,
    config: ConfigOption = None,
    *,
    before: Annotated[
        str, typer.Option("--from", help="accepted, or a fingerprint as messages show it.")
    ] = "accepted",
    after: Annotated[str, typer.Option("--to", help="current, or a fingerprint.")] = "current",
    as_json: JsonOption = False,
) -> None:
    """Show what changed in a server's toolset, in each era. Exits with 1 when anything did."""
    store = open_readonly(load_beside(config))
    try:
        with store.read() as reader:
            memory = _memory(reader, server)
            compared = [
                _compare(reader, server, state, before, after)
                for subject, state in sorted(memory.states.items())
                if subject.startswith("toolset:")
            ]
    finally:
        store.close()
    if not compared:
        raise UsageError(f"{server}: no complete tool list was read yet")
    if as_json:
        surfaces = [
            {"subject": subject, "from": old, "to": new, "diff": found.to_json()}
            for subject, old, new, found in compared
        ]
        print_json({"schema": "driftwatch/diff/1", "server": server, "surfaces": surfaces})
    else:
        typer.echo("\n\n".join(_text(*each) for each in compared))
    raise typer.Exit(1 if any(found.changes for *_, found in compared) else 0)


def accept(
    server: ServerArgument,
    config: ConfigOption = None,
    *,
    fingerprint: Annotated[
        str, typer.Option(help="The fingerprint to accept, as status or a message shows it.")
    ],
    reason: Annotated[str, typer.Option(help="Why; it is kept with the event.")],
) -> None:
    """Make a server's current toolset the baseline, by the fingerprint of the list that you have read."""
    from datetime import UTC, datetime

    from driftwatch import actions
    from driftwatch.store.sqlite import SqliteStore

    store = SqliteStore(load_beside(config).storage.path)
    try:
        with store.write() as tx:
            done = actions.accept(tx, server, fingerprint, by=person(), reason=reason, now=datetime.now(UTC))
    finally:
        store.close()
    if done.subjects:
        typer.echo(f"{server}: accepted {done.fingerprint} for {', '.join(done.subjects)}")
    else:
        typer.echo(f"{server}: {done.fingerprint} is accepted already")


def _memory(reader: "Reader", server: str) -> "Memory":
    memory = reader.memory(server)
    if memory is None:
        names = ", ".join(item.record.name for item in reader.overview(limit=10)) or "none"
        raise UsageError(f"no server is named {server!r}; remembered: {names}")
    return memory


def _compare(
    reader: "Reader", server: str, state: "SubjectState", before: str, after: str
) -> "tuple[str, str, str, Diff]":
    from driftwatch import toolset

    sides = []
    for wanted in (before, after):
        named = {"accepted": state.accepted or state.confirmed, "current": state.confirmed}.get(wanted)
        sides.append(_stored(reader, server, named or wanted))
    old, new = sides
    return state.subject, old.pair, new.pair, toolset.diff(old.content, new.content)


def _stored(reader: "Reader", server: str, fingerprint: str) -> "StoredToolset":
    from driftwatch.actions import names_pair

    memory = _memory(reader, server)
    known = {*memory.seen_fingerprints, *(state.accepted or "" for state in memory.states.values())}
    pairs = [pair for pair in known if pair == fingerprint or names_pair(fingerprint, pair)]
    stored = reader.toolset(server, pairs[0] if len(pairs) == 1 else fingerprint)
    if stored is None:
        raise UsageError(f"{server}: no tool list with the fingerprint {fingerprint} is remembered")
    return stored


def _text(subject: str, old: str, new: str, found: "Diff") -> str:
    from driftwatch.report import plain

    heading = f"{subject}: {old} -> {new}"
    if not found.changes:
        return f"{heading}\n  no difference"
    lines = [f"  {change.klass:<10}  {plain(change.message)}" for change in found.changes]
    return "\n".join([heading, *lines])
