"""``db backup|check|restore``: the database as a file."""

from pathlib import Path
from typing import Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_beside, print_json

app = typer.Typer(
    help="Back up, check and restore the database.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("backup")
def backup(
    target: Annotated[
        Path | None,
        typer.Argument(help="Where to; without it a file named after the time, in the backup folder."),
    ] = None,
    config: ConfigOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Copy the database as it is now, also beside a running service.

    The copy is complete, or does not exist.
    """
    from driftwatch.store.sqlite import SqliteStore

    storage = load_beside(config).storage
    store = SqliteStore(storage.path, backup_dir=storage.backup_dir)
    try:
        path = store.backup(target)
    finally:
        store.close()
    if as_json:
        print_json({"schema": "driftwatch/backup/1", "path": str(path), "bytes": path.stat().st_size})
    else:
        typer.echo(f"{path} ({path.stat().st_size:,} bytes)")


@app.command("check")
def check(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Read the whole database and look for damage. Exits with 1 when there is some."""
    from driftwatch.store.sqlite import SqliteStore

    storage = load_beside(config).storage
    store = SqliteStore(storage.path, backup_dir=storage.backup_dir)
    try:
        faults = store.check()
    finally:
        store.close()
    if as_json:
        print_json({"schema": "driftwatch/db-check/1", "path": str(storage.path), "faults": faults})
    else:
        typer.echo("\n".join(faults) or f"{storage.path} is sound")
    raise typer.Exit(1 if faults else 0)


@app.command("restore")
def restore(
    backup: Annotated[Path, typer.Argument(help="The backup to put in the database's place.")],
    config: ConfigOption = None,
) -> None:
    """Put a backup in the place of the database.

    The service has to be stopped. The backup is checked first, and the database of today is kept beside it.
    Nothing that happened after the backup is known any more; a change that was told since then may be told
    again.
    """
    from driftwatch.store.sqlite import InstanceLock, SqliteStore

    storage = load_beside(config).storage
    path = storage.path
    store = SqliteStore(path, backup_dir=storage.backup_dir)
    try:
        with InstanceLock(path):
            kept = store.restore(backup)
    finally:
        store.close()
    typer.echo(f"{path} is now what {backup} was" + (f"; the former one is {kept}" if kept else ""))
