"""``diff`` and ``accept``: what changed in a toolset, and that it may."""

from typing import Annotated

import typer

from driftwatch.cli.options import (
    ConfigOption,
    JsonOption,
    colourful,
    load_beside,
    open_readonly,
    person,
    print_json,
    terminal_width,
    writing,
)

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
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Show what changed in a server's toolset. Exits with 1 when anything did.

    A release is named by its ref or id: the list that was there when that deploy had settled.
    """
    from driftwatch import views
    from driftwatch.alerts.wording.subjects import short_pair, subject_words
    from driftwatch.report.changes import changes_to_markdown, changes_to_text

    store = open_readonly(load_beside(config))
    try:
        with store.read() as reader:
            compared = views.compare(reader, server, before, after)
    finally:
        store.close()
    if as_json:
        print_json({"schema": "driftwatch/diff/1", **views.diff(server, compared)})
    else:
        sides = [
            (
                subject_words(each.subject),
                short_pair(each.before.pair),
                short_pair(each.after.pair),
                each.diff,
            )
            for each in views.eras_together(compared)
        ]
        if markdown:
            typer.echo("\n".join(changes_to_markdown(*side) for side in sides), nl=False)
        else:
            colour, width = colourful(), terminal_width()
            typer.echo("\n\n".join(changes_to_text(*side, colour=colour, width=width) for side in sides))
    raise typer.Exit(1 if any(each.diff.changes for each in compared) else 0)


def accept(
    server: ServerArgument,
    config: ConfigOption = None,
    *,
    fingerprint: Annotated[
        str,
        typer.Option(
            "--fingerprint",
            "--revision",
            help="The fingerprint to accept, or the revision, as status or a message shows it.",
        ),
    ],
    reason: Annotated[str, typer.Option(help="Why; it is kept with the event.")],
    as_json: JsonOption = False,
) -> None:
    """Make a server's toolset or revision the baseline.

    The fingerprint says which list was read: where the server shows another one by now, nothing is accepted.
    """
    from dataclasses import asdict
    from datetime import UTC, datetime

    from driftwatch import actions
    from driftwatch.alerts.wording.subjects import subject_words, value_words

    with writing(config) as tx:
        done = actions.accept(tx, server, fingerprint, by=person(), reason=reason, now=datetime.now(UTC))
    if as_json:
        print_json({"schema": "driftwatch/accept/1", **asdict(done)})
    elif done.subjects:
        names = ", ".join(map(subject_words, done.subjects))
        typer.echo(f"{server}: accepted {value_words(done.fingerprint)} for {names}")
    else:
        typer.echo(f"{server}: {value_words(done.fingerprint)} is accepted already")
