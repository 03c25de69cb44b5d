"""The guided tour: a sample server, a baseline, a release that drifts, and the alert as it would arrive."""

import asyncio
import textwrap
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from driftwatch import config as configuration
from driftwatch import deploys
from driftwatch.alerts.outbox import Outbox
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.wording import Voice
from driftwatch.app import Outside, Service, open_store, rollouts, server_record, watched
from driftwatch.clock import SystemClock
from driftwatch.config import Config
from driftwatch.demo.sample import SampleServer
from driftwatch.errors import UsageError
from driftwatch.model import Depth, Level, ProbeRequest, Release, Report, State, Trigger
from driftwatch.observe import Observer
from driftwatch.probe import SystemResolver, prober
from driftwatch.store.ports import DeliveryOutcome, HookDelivery, Reader, Tx
from driftwatch.store.sqlite import InstanceLock
from driftwatch.web.server import HttpServer

SERVER = "bookshop"
CONFIG = """\
# Written by `driftwatch demo`.
[monitor]
interval = "10s"

[[server]]
name = "{server}"
url = "http://127.0.0.1:{port}/mcp"

[[alert]]
name = "terminal"
url = "json://localhost" # the demo prints what would go there

[http]
listen = "127.0.0.1:0"

[storage]
path = "driftwatch.db"
"""

FILES = ("config.toml", "driftwatch.db", "driftwatch.db-wal", "driftwatch.db-shm", "driftwatch.db.lock")
"""What a tour leaves in its folder; the next one begins anew."""

WIDTH = 80
BAR = "  │ "

Say = Callable[[str], None]


class PrintingSender:
    """A sender that shows a message instead of sending it."""

    def __init__(self, say: Say, width: int = WIDTH) -> None:
        """``say`` prints one text; lines are folded to ``width`` columns."""
        self._say = say
        self._room = max(width, WIDTH // 2) - len(BAR)

    async def send(
        self,
        url: str,  # noqa: ARG002 - the demo has no receiver
        *,
        title: str,
        body: str,
        html: str | None,  # noqa: ARG002 - a terminal shows text
        level: Level,  # noqa: ARG002
        message_id: str,  # noqa: ARG002
        timeout: float,  # noqa: ARG002, ASYNC109 - printing takes no time
    ) -> tuple[DeliveryOutcome, str | None]:
        """Print the message with a bar at its side."""
        lines = [
            part
            for line in f"{title}\n\n{body}".splitlines()
            for part in textwrap.wrap(line, self._room, break_on_hyphens=False) or [""]
        ]
        self._say("\n".join(f"{BAR}{line}".rstrip() for line in lines))
        return DeliveryOutcome.SENT, None


async def tour(
    folder: Path, say: Say, *, stay: bool = False, program: str = "driftwatch", width: int = WIDTH
) -> None:
    """Give the tour; its configuration and database stay in ``folder``.

    ``program`` is what a person types to run driftwatch here; messages are folded to ``width`` columns.
    With ``stay`` the sample server and a service that watches it go on until SIGTERM or SIGINT.
    Raises UsageError when the folder cannot be used.
    """
    sample, http = SampleServer("v1"), HttpServer("127.0.0.1", 0)
    config = _prepare(folder, http.port)
    serving = asyncio.create_task(http.run(sample.application))
    outside = Outside(clock=SystemClock(), resolver=SystemResolver(), sender=PrintingSender(say, width))
    try:
        await _show(sample, http.port, config, outside, say)
        command = f"-c {folder / 'config.toml'}"
        say(f"Kept in {folder}/. Look around:\n")
        for words in (f"status {SERVER}", f"diff {SERVER}", f"history {SERVER}"):
            say(f"    {program} {words} {command}")
        if stay:
            say("\nThe sample server and a service that watches it go on; Ctrl-C ends them.")
            await _watch(Service(config, outside), say)
    finally:
        http.stop()
        await serving


async def _watch(service: Service, say: Say) -> None:
    running = asyncio.create_task(service.run())
    ready = asyncio.create_task(service.ready())
    try:
        await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            say(f"Its pages: http://127.0.0.1:{service.port}/\n")
        await running
    finally:
        ready.cancel()
        service.stop()
        await asyncio.wait({running})


async def _show(sample: SampleServer, port: int, config: Config, outside: Outside, say: Say) -> None:
    with InstanceLock(config.storage.path):
        store = open_store(config, outside.clock)
        try:
            await asyncio.to_thread(store.migrate)
            now = outside.clock.now()
            record = server_record(config.servers[0], now, fleet=1)
            await store.transact(lambda tx: tx.import_servers([record], now))
            observer = Observer(
                watched={SERVER: watched(config, config.servers[0])},
                store=store,
                prober=prober(clock=outside.clock, resolver=outside.resolver),
                clock=outside.clock,
                channels=[ChannelRule.of(channel) for channel in config.channels],
                group_wait=timedelta(0),
                rollouts=rollouts(config),
            )
            outbox = Outbox(
                store=store,
                sender=outside.sender,
                channels=config.channels,
                clock=outside.clock,
                voice=Voice(option=config.option),
                group_wait=timedelta(0),
            )

            async def probe(request: ProbeRequest) -> Report:
                report = await observer.observe(request)
                if report is None:
                    raise UsageError(f"{config.storage.path}: the database did not take the probe")
                return report

            say(f"A sample MCP server runs at http://127.0.0.1:{port}/mcp, release {sample.release}.\n")
            say("1. The first probe is the baseline. Nobody is alerted.\n")
            first = ProbeRequest(
                server=SERVER, due_at=outside.clock.now(), trigger=Trigger.MANUAL, depth=Depth.FULL
            )
            say(_told(await probe(first)))
            sample.deploy("v2")
            release = _release(sample.release, outside.clock.now())
            say(
                f"\n2. Release {release.ref} is deployed, and the pipeline says so to POST /hooks/deploy.\n"
                "   It renames a tool and drops a parameter.\n"
            )
            await store.transact(lambda tx: _announce(tx, release))
            for number in range(1, config.hook.reads + 1):
                report = await probe(await store.query(_next_read))
                say(f"   read {number} of {config.hook.reads}: fingerprint {_fingerprint(report)}")
            (outcome,) = await store.query(lambda reader: reader.deploy(release.id))
            say(
                f"\n   A pipeline that waits is told: {outcome.verdict},\n   {outcome.summary}.\n"
                f"\n3. A deploy has settled after {config.hook.reads} agreeing reads (seconds apart, here at "
                "once).\n   This is what Slack or a mailbox gets, once:\n"
            )
            await outbox.run_once()
            say("")
        finally:
            await asyncio.to_thread(store.close)


def _release(ref: str, now: datetime) -> Release:
    return Release(
        id=str(uuid.uuid4()),
        ref=ref,
        received_at=now,
        servers=(SERVER,),
        previous_ref="v1",
        commit="3f5a9c1d7e20",
        actor="driftwatch demo",
    )


def _announce(tx: Tx, release: Release) -> None:
    """Write what the webhook's door would write."""
    delivery = HookDelivery(id=release.id, body_sha256="", received_at=release.received_at)
    tx.announce(delivery, release, deploys.probes(release, delay=timedelta(0)), debounce=timedelta(0))


def _next_read(reader: Reader) -> ProbeRequest:
    """The next read of the run; nobody waits here until it is due."""
    return next(request for request in reader.waiting_requests() if request.trigger is Trigger.DEPLOY)


def _prepare(folder: Path, port: int) -> Config:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        path = folder / "config.toml"
        path.write_text(CONFIG.format(server=SERVER, port=port), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{folder}: {error.strerror or error}; choose another place with --folder"
        ) from error
    return configuration.load(path, {})


def _told(report: Report) -> str:
    counts = [(state, sum(result.state is state for result in report.results)) for state in State]
    states = ", ".join(f"{count} {state.words}" for state, count in counts if count)
    eras = " and ".join(f"{surface.era} ({surface.revision})" for surface in report.surfaces)
    tools = report.surfaces[0].tools
    return f"   {states}\n   {eras}\n   {tools} tools, fingerprint {_fingerprint(report)}"


def _fingerprint(report: Report) -> str:
    return ", ".join(sorted({each.fingerprint.short for each in report.surfaces if each.fingerprint}))
