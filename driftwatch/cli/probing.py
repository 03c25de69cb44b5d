"""``probe`` and ``judge``: one probe, or a saved one, judged without a service."""

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from driftwatch.cli.options import (
    BaselineOption,
    ConfigOption,
    FailOnOption,
    JsonOption,
    JUnitOption,
    MarkdownOption,
    SarifOption,
    find_config,
    is_configured,
    load_config,
    open_readonly,
    read_token,
)
from driftwatch.errors import StoreError, UsageError, no_server
from driftwatch.fail_on import FailOn

if TYPE_CHECKING:
    from driftwatch.checks import Policy, Remembered
    from driftwatch.config import Config, Server
    from driftwatch.evidence import Evidence, Missing
    from driftwatch.model import Depth, Era


def probe(
    target: Annotated[
        str, typer.Argument(metavar="URL|NAME", help="A URL, or a server's name in the configuration.")
    ],
    config: ConfigOption = None,
    *,
    depth: Annotated[
        Literal["light", "full"],
        typer.Option(help="light: the handshake and the tool list; full: every check."),
    ] = "full",
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="'Name: value' to send; for a URL. May repeat.")
    ] = None,
    token_file: Annotated[Path | None, typer.Option(help="A file with a bearer token; for a URL.")] = None,
    as_json: JsonOption = False,
    junit: JUnitOption = None,
    sarif: SarifOption = None,
    markdown: MarkdownOption = None,
    baseline: BaselineOption = None,
    save: Annotated[
        Path | None, typer.Option(help="Keep everything the probe saw, for judge and --baseline.")
    ] = None,
    fail_on: FailOnOption = None,
) -> None:
    """Probe one server once and report every check. Writes nothing, alerts nobody."""
    import asyncio
    import json

    from driftwatch import checks, evidence
    from driftwatch.cli import reports
    from driftwatch.model import Depth

    outputs = reports.Outputs(json=as_json, junit=junit, sarif=sarif, markdown=markdown)
    loaded, server = _target(target, config, header or [], token_file)
    compared = reports.read_baseline(baseline)
    with _progress(f"probing {server.name}", wanted=outputs.text):
        seen = asyncio.run(_probe(loaded, server, Depth(depth)))
    if save is not None:
        reports.write_atomically(save, json.dumps(evidence.to_json(seen)) + "\n", option="--save")
    place, policy = reports.at_url(seen), checks.Policy()
    known: Mapping[Era, Remembered | Missing] = {}
    if "://" not in target:
        place = reports.in_configuration(find_config(config), server.line)
        policy, known = _known(loaded, server, seen.credential)
    judged = reports.judged_against(seen, policy, known, compared)
    raise typer.Exit(outputs.write(judged, place, fail_on or [FailOn.FAILED]))


def judge(
    file: Annotated[Path, typer.Argument(help="A probe saved with probe --save; - reads standard input.")],
    *,
    as_json: JsonOption = False,
    junit: JUnitOption = None,
    sarif: SarifOption = None,
    markdown: MarkdownOption = None,
    baseline: BaselineOption = None,
    fail_on: FailOnOption = None,
) -> None:
    """Judge a saved probe again, without any connection."""
    from driftwatch import checks, evidence
    from driftwatch.cli import reports

    outputs = reports.Outputs(json=as_json, junit=junit, sarif=sarif, markdown=markdown)
    seen = evidence.from_json(reports.read_json(file))
    judged = reports.judged_against(seen, checks.Policy(), {}, reports.read_baseline(baseline))
    raise typer.Exit(outputs.write(judged, reports.at_url(seen), fail_on or [FailOn.FAILED]))


def _target(
    target: str, config: Path | None, headers: list[str], token_file: Path | None
) -> "tuple[Config, Server]":
    from driftwatch.config import adhoc

    if "://" in target:
        pairs = {}
        for header in headers:
            name, colon, value = header.partition(":")
            if not colon or not name.strip():
                raise UsageError(f"--header wants 'Name: value', not {name!r}")
            pairs[name.strip()] = value.strip()
        loaded = adhoc(target, headers=pairs, token=read_token(token_file) if token_file else None)
        return loaded, loaded.servers[0]
    if _looks_like_address(target) and not is_configured(config):
        raise UsageError(
            f"{target!r} is no URL (did you mean https://{target}?), and there is no configuration in which "
            "it could be a server's name"
        )
    if headers or token_file:
        raise UsageError(
            "--header and --token-file go with a URL; a configured server has its own credential"
        )
    loaded = load_config(config)
    for server in loaded.servers:
        if server.name == target:
            return loaded, server
    if _looks_like_address(target):
        raise UsageError(f"no server is named {target!r}; did you mean https://{target}?")
    raise no_server(target, (server.name for server in loaded.servers))


def _looks_like_address(target: str) -> bool:
    """``host/mcp``, ``host:8000`` or ``mcp.example.com``: what people write when they forget the scheme."""
    return re.fullmatch(r"[\w.-]+(:\d+)?(/\S*)?", target) is not None and any(c in target for c in "./:")


async def _probe(config: "Config", server: "Server", depth: "Depth") -> "Evidence":
    from driftwatch.clock import SystemClock
    from driftwatch.model import Trigger
    from driftwatch.probe import SystemResolver, Target, prober

    once = prober(clock=SystemClock(), resolver=SystemResolver())
    return await once(Target.of(config, server), depth=depth, trigger=Trigger.MANUAL)


def _known(
    config: "Config", server: "Server", credential: str
) -> "tuple[Policy, Mapping[Era, Remembered | Missing]]":
    """What the configuration says of a server, and what the service's database knows where there is one."""
    from driftwatch.observe import checks_policy, remembered

    policy = checks_policy(config, server)
    try:
        store = open_readonly(config)
    except StoreError:
        return policy, {}
    try:
        with store.read() as reader:
            return policy, remembered(reader.memory(server.name), credential)
    finally:
        store.close()


@contextlib.contextmanager
def _progress(text: str, *, wanted: bool) -> Iterator[None]:
    """A line on standard error while the probe works; only for a person at a terminal."""
    if not (wanted and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
