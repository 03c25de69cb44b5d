"""``run`` and ``healthcheck``."""

import os
import sys

import typer

from driftwatch.cli.options import ConfigOption, find_config, load_beside, load_to_alert


def run(config: ConfigOption = None) -> None:
    """Run the service: probe on the interval, alert on change.

    It logs one JSON line for each probe, event and delivery, and ends cleanly on SIGTERM or SIGINT within 8
    seconds.
    """
    import asyncio
    import functools

    from driftwatch import logs

    loaded = load_to_alert(config)
    from driftwatch.app import Service

    for warning in loaded.warnings:
        typer.echo(f"{find_config(config)}: warning: {warning}", err=True)
    logs.configure(loaded.secrets())
    asyncio.run(Service(loaded, load=functools.partial(load_to_alert, config)).run())
    # A send that hangs in its own thread must not keep the process alive: everything is stored by now.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def healthcheck(config: ConfigOption = None) -> None:
    """Ask the running service whether it is alive. Exits with 0 or 1.

    For the container's HEALTHCHECK.
    """
    import http.client

    listen = load_beside(config).http.listen
    # A service that listens everywhere is asked on loopback.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(listen.host, listen.host)
    connection = http.client.HTTPConnection(host, listen.port, timeout=4)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except OSError as error:
        typer.echo(f"not alive: {host}:{listen.port}: {error.strerror or error}", err=True)
        raise typer.Exit(1) from error
    finally:
        connection.close()
    typer.echo("alive" if status == http.client.OK else f"not alive: HTTP {status}")
    raise typer.Exit(0 if status == http.client.OK else 1)
