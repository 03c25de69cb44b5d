"""``diff`` and ``accept``: what changed in a toolset, and that it may."""

from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_beside, open_readonly, print_json
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
    import getpass
    from datetime import UTC, datetime

    from driftwatch.model import Depth
    from driftwatch.store.sqlite import SqliteStore
    from driftwatch.transitions import ConfirmProbe
    from driftwatch.transitions import accept as accepted

    store = SqliteStore(load_beside(config).storage.path)
    try:
        with store.read() as reader:
            pair = _pair(fingerprint, _memory(reader, server))
            record = reader.server(server)
        planned = None
        if record is not None and record.confirm_due_at is not None and record.confirm_depth is not None:
            planned = ConfirmProbe(due_at=record.confirm_due_at, depth=Depth(record.confirm_depth))
        with store.write() as tx:
            memory = tx.lock_server(server)
            if memory is None:
                raise UsageError(f"no server is named {server!r}")
            now = datetime.now(UTC)
            changes = accepted(memory, pair, by=getpass.getuser(), reason=reason, now=now, confirm=planned)
            tx.apply(server, changes, ())
    finally:
        store.close()
    names = ", ".join(event.subject or "" for event in changes.events)
    typer.echo(f"{server}: accepted {pair} for {names}" if names else f"{server}: {pair} is accepted already")


def _memory(reader: "Reader", server: str) -> "Memory":
    memory = reader.memory(server)
    if memory is None:
        names = ", ".join(item.record.name for item in reader.status()[:10]) or "none"
        raise UsageError(f"no server is named {server!r}; remembered: {names}")
    return memory


def _pair(fingerprint: str, memory: "Memory") -> str:
    """The current pair that a whole or shortened fingerprint names. Raises UsageError for any other."""
    current = {state.confirmed for subject, state in memory.states.items() if subject.startswith("toolset:")}
    found = [pair for pair in current if _names(fingerprint, pair)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(sorted(current)) or "none"
    raise UsageError(f"{fingerprint!r} is not the fingerprint of a current toolset; current: {listed}")


def _names(fingerprint: str, pair: str) -> bool:
    """Whether a fingerprint is the pair, or its short form ``dw1:1a2b3c4d.5e6f7a8b``."""
    shortest = 8
    given, whole = (text.partition(":")[2].split(".") for text in (fingerprint, pair))
    same_form = fingerprint.partition(":")[0] == pair.partition(":")[0] and len(given) == len(whole)
    return same_form and all(
        len(short) >= shortest and digest.startswith(short)
        for short, digest in zip(given, whole, strict=True)
    )


def _compare(
    reader: "Reader", server: str, state: "SubjectState", before: str, after: str
) -> "tuple[str, str, str, Diff]":
    from driftwatch import toolset
    from driftwatch.toolset import Toolset

    sides = []
    for wanted in (before, after):
        named = {"accepted": state.accepted or state.confirmed, "current": state.confirmed}.get(wanted)
        sides.append(_stored(reader, server, named or wanted))
    old, new = (Toolset(tools=side.tools, instructions=side.instructions) for side in sides)
    return state.subject, sides[0].pair, sides[1].pair, toolset.diff(old, new)


def _stored(reader: "Reader", server: str, fingerprint: str) -> "StoredToolset":
    memory = _memory(reader, server)
    known = {*memory.seen_fingerprints, *(state.accepted or "" for state in memory.states.values())}
    pairs = [pair for pair in known if pair == fingerprint or _names(fingerprint, pair)]
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
