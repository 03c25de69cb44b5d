"""``demo``."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[Path, typer.Option(help="Where the demo keeps its configuration and database.")] = Path(
        "driftwatch-demo"
    ),
    *,
    stay: Annotated[
        bool, typer.Option("--stay", help="Keep the sample server and a service running.")
    ] = False,
) -> None:
    """See it work: a server, a release that drifts, the alert.

    No network, no configuration.
    """
    import asyncio
    import logging
    import shutil

    from driftwatch.demo.tour import tour

    # The tour tells its story itself; the service's log lines would talk over it.
    logging.getLogger("driftwatch").setLevel(logging.ERROR)
    width = shutil.get_terminal_size().columns
    asyncio.run(tour(folder, typer.echo, stay=stay, program=_program(), width=width))


def _program() -> str:
    """What a person types to run this: its path, where the shell would not find it by name (a venv)."""
    import shlex
    import shutil
    import sys

    typed = Path(sys.argv[0])
    if typed.name != "driftwatch":
        return f"{shlex.quote(sys.executable)} -m driftwatch"
    return "driftwatch" if shutil.which("driftwatch") else shlex.quote(str(typed))
