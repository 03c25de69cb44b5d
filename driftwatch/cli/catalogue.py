"""``checks`` and ``explain``."""

from typing import Annotated

import typer

from driftwatch.cli.options import JsonOption, print_json, terminal_width


def checks(*, as_json: JsonOption = False) -> None:
    """List every check: its id, its severity, and what it finds."""
    from driftwatch import docs

    if as_json:
        print_json(docs.listing_json())
    else:
        typer.echo(docs.listing_text(terminal_width()))


def explain(
    check: Annotated[str, typer.Argument(help="A check's id, such as transport/content-type.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Explain one check: why it matters, and how to fix it."""
    from driftwatch import docs

    if as_json:
        print_json(docs.explain_json(check))
    else:
        typer.echo(docs.explain_text(check, terminal_width()))
