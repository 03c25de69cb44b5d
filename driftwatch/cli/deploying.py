"""``deploy``: tell a running driftwatch of a release, wait for its verdict, and end as it says."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import (
    ConfigOption,
    JsonOption,
    is_configured,
    load_beside,
    load_config,
    print_json,
    read_token,
)
from driftwatch.errors import UsageError

if TYPE_CHECKING:
    from http import HTTPStatus

    from driftwatch.model import Json

GATES = ("failed", "drift", "breaking", "risk")
LONGEST_WAIT_S = 3600

_UNADDRESSED = "no address of the driftwatch service: set DRIFTWATCH_URL or give --url, such as https://driftwatch.example.com"
_ANONYMOUS = "no token: set DRIFTWATCH_HOOK_TOKEN or give --token-file, with one of [hook] of the service"


def deploy(
    servers: Annotated[
        list[str] | None, typer.Argument(help="The servers that it went to; without any, every one.")
    ] = None,
    config: ConfigOption = None,
    *,
    ref: Annotated[str, typer.Option(help="What was deployed: a version, a tag, a commit.")],
    commit: Annotated[str, typer.Option(help="Its commit.")] = "",
    link: Annotated[str, typer.Option(help="Where people read more, such as the CI run.")] = "",
    actor: Annotated[str, typer.Option(help="Who deployed it.")] = "",
    previous_ref: Annotated[str, typer.Option(help="What ran before.")] = "",
    environment: Annotated[str, typer.Option(help="Where it went, such as production.")] = "",
    expect_change: Annotated[
        bool, typer.Option("--expect-change", help="The toolset is meant to change: that trips no gate.")
    ] = False,
    wait: Annotated[
        int,
        typer.Option(min=0, max=LONGEST_WAIT_S, help="Seconds to wait for the verdict; 0 only announces."),
    ] = 0,
    gate: Annotated[
        list[str] | None,
        typer.Option(help=f"What ends with 1: {', '.join(GATES)}; by default failed and drift."),
    ] = None,
    url: Annotated[
        str,
        typer.Option(envvar="DRIFTWATCH_URL", help="The service; by default where the configuration says."),
    ] = "",
    token_file: Annotated[
        Path | None,
        typer.Option(help="A file with the token; else DRIFTWATCH_HOOK_TOKEN, else [hook] tokens."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Announce a deploy to a running driftwatch.

    With --wait it is the gate of a pipeline. Exits with 0 when it passed, 1 when a check failed or the
    toolset drifted (see --gate), 2 when the service refuses the announcement, 3 when the deploy did not
    settle in time or the service cannot be reached. It needs the address and a token, and no configuration.
    """
    from driftwatch.cli.announcing import Client

    gates = _gates(gate, expect_change=expect_change) if wait else []
    body: dict[str, Json] = {
        "ref": ref,
        "commit": commit,
        "link": link,
        "actor": actor,
        "previous_ref": previous_ref,
        "environment": environment,
    }
    body = {key: value for key, value in body.items() if value or key == "ref"}
    if servers:
        body["servers"] = servers
    if expect_change:
        body["expect_change"] = True
    token = _given_token(token_file)
    if not is_configured(config):
        _must_have(url, token)
    client = Client(url or _local(config), token or _own_token(config))
    status, said = client.announce(body, wait_s=wait, gates=gates)
    if as_json:
        print_json({"schema": "driftwatch/deploy/1", **said})
    else:
        typer.echo(_text(said, waited=bool(wait)))
    raise typer.Exit(_exit_code(status, said, waited=bool(wait)))


def _gates(given: list[str] | None, *, expect_change: bool) -> list[str]:
    if not given:
        return ["failed"] if expect_change else ["failed", "drift"]
    words = [word.strip() for text in given for word in text.split(",")]
    if any(word not in GATES for word in words):
        raise UsageError(f"--gate is one or more of {', '.join(GATES)}")
    return words


def _local(config: Path | None) -> str:
    """The service of this machine's configuration."""
    listen = load_beside(config).http.listen
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(listen.host, listen.host)
    return f"http://[{host}]:{listen.port}" if ":" in host else f"http://{host}:{listen.port}"


def _given_token(file: Path | None) -> str:
    """The token that the caller gave; empty where there is none."""
    return _visible(read_token(file) if file else os.environ.get("DRIFTWATCH_HOOK_TOKEN", "").strip())


def _own_token(config: Path | None) -> str:
    """The token of this machine's configuration."""
    tokens = load_config(config).hook.tokens
    if not tokens:
        raise UsageError(f"{_ANONYMOUS}; or configure tokens in it")
    return _visible(tokens[0].get_secret_value())


def _must_have(url: str, token: str) -> None:
    """Raise UsageError for what a caller without a configuration has to give, all of it at once."""
    missing = [] if url else [_UNADDRESSED]
    missing += [] if token else [_ANONYMOUS]
    if missing:
        raise UsageError("; ".join(missing))


def _visible(token: str) -> str:
    if not token.isascii() or (token and not token.isprintable()):
        raise UsageError("the token is not visible ASCII: give only the token")
    return token


def _exit_code(status: "HTTPStatus", said: "Json", *, waited: bool) -> int:
    """As everywhere: 0 fine, 1 something is wrong, 3 nobody can say."""
    from http import HTTPStatus

    if said["tripped"]:
        return 1
    return 3 if status != HTTPStatus.OK and waited else 0


def _text(said: "Json", *, waited: bool) -> str:
    from driftwatch.report.terminal import plain

    verdict = said["verdict"] or ("still under way" if waited else "announced")
    lines = [f"deploy {plain(said['ref'])}: {verdict}"]
    lines += [f"  {plain(name)}: {_line(each)}" for name, each in sorted(said["servers"].items())]
    if said["gates"]:
        passed = (
            f"not passed, because of {' and '.join(said['tripped'])}" if said["tripped"] else _undecided(said)
        )
        lines.append(f"gate ({', '.join(said['gates'])}): {passed}")
    lines.append(f"follow it: {plain(said['status_url'])}")
    return "\n".join(lines)


def _undecided(said: "Json") -> str:
    if said["verdict"] is None:
        return "not known yet"
    return "not judged" if said["verdict"] in {"unsettled", "inconclusive"} else "passed"


def _line(each: "Json") -> str:
    from driftwatch.report.terminal import plain

    if each["verdict"] is None:
        return str(each["state"])
    counts = ", ".join(
        f"{number} {state.replace('_', ' ')}" for state, number in (each["counts"] or {}).items()
    )
    change = each["toolset"]["summary"] or ("toolset changed" if each["toolset"]["changed"] else "")
    if change and each["toolset"]["breaking"]:
        change += " (breaking)"
    told = [text for text in (counts, plain(change)) if text]
    return f"{each['verdict']} - {'; '.join(told)}" if told else str(each["verdict"])
