"""``diff`` and ``accept``: what changed in a toolset, and that it may."""

from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_beside, open_readonly, person, print_json

if TYPE_CHECKING:
    from driftwatch.views import Compared

ServerArgument = Annotated[str, typer.Argument(help="A server's name.")]


def diff(
    server: ServerArgument,
    config: ConfigOption = None,
    *,
    before: Annotated[
        str, typer.Option("--from", help="accepted, a fingerprint as messages show it, or a release.")
    ] = "accepted",
    after: Annotated[str, typer.Option("--to", help="current, a fingerprint, or a release.")] = "current",
    as_json: JsonOption = False,
) -> None:
    """Show what changed in a server's toolset, in each era. Exits with 1 when anything did."""
    from driftwatch import views

    store = open_readonly(load_beside(config))
    try:
        with store.read() as reader:
            compared = views.compare(reader, server, before, after)
    finally:
        store.close()
    if as_json:
        print_json({"schema": "driftwatch/diff/1", **views.diff(server, compared)})
    else:
        typer.echo("\n\n".join(map(_text, compared)))
    raise typer.Exit(1 if any(each.diff.changes for each in compared) else 0)


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


def _text(compared: "Compared") -> str:
    from driftwatch.report import plain

    heading = f"{compared.subject}: {compared.before.pair} -> {compared.after.pair}"
    if not compared.diff.changes:
        return f"{heading}\n  no difference"
    lines = [f"  {change.klass:<10}  {plain(change.message)}" for change in compared.diff.changes]
    return "\n".join([heading, *lines])
