"""The plan carried out: a fleet, two channels, and a service that is started, told and ended."""

import contextlib
import http.client
import json
import signal
import sqlite3
import subprocess
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

from bench.soak.plan import Action, Announce, Edit, Mode, Outage, Plan, Restart, Rhythm, Show
from bench.watched import Process, free_port, start, used_bytes

TOKEN = "s0ak-t0ken-0123456789"
STOP_S = 10.0
"""What a service that is asked to end gets."""
PATIENCE_S = 900.0
SAMPLE_EVERY_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One attempt to deliver a message, as the receiver saw it."""

    at: float
    channel: str
    message: str
    """Its id."""
    text: str
    answered: bool
    """Whether it was taken, and the answer sent."""
    refused: bool
    """Whether it surely was not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The service at one moment."""

    at: float
    pid: int
    memory_kb: int
    threads: int
    files: int
    database: int
    cpu_s: float


@dataclass(slots=True)
class Record:
    """What was seen from outside."""

    arrivals: list[Arrival] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    stops: list[tuple[int, float]] = field(default_factory=list)
    """Exit code and seconds of every SIGTERM."""
    kills: int = 0
    announced: list[tuple[str, int]] = field(default_factory=list)
    """Ref and status of every call of the webhook."""


def address(server: int) -> str:
    """Every server is a host of its own."""
    return f"127.77.{server // 250}.{server % 250 + 1}"


class Channel:
    """A receiver of messages that is out of order at times."""

    def __init__(self, name: str, outages: tuple[Outage, ...], record: Record) -> None:
        self.name = name
        self._outages = outages
        self._record = record
        self.began = 0.0
        """When the plan began, by the monotonic clock; 0 before that."""
        channel = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                channel.take(self)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def mode(self) -> Mode | None:
        """How it is out of order at the moment."""
        now = time.monotonic() - self.began
        return next((one.mode for one in self._outages if self.began and one.at <= now < one.until), None)

    def take(self, request: BaseHTTPRequestHandler) -> None:
        """One attempt: the message is read in any case, and only the answer differs."""
        message = json.loads(request.rfile.read(int(request.headers["content-length"])))
        mode = self.mode()
        arrival = Arrival(
            at=time.time(),
            channel=self.name,
            message=request.headers["X-Driftwatch-Message"],
            text=f"{message['title']}\n{message['message']}",
            answered=mode is None,
            refused=mode == "refuses",
        )
        self._record.arrivals.append(arrival)
        if mode == "hangs":
            # Until the sender has had enough.
            with contextlib.suppress(OSError):
                request.connection.recv(1)
        if mode in {"hangs", "drops"}:
            request.close_connection = True
            return
        request.send_response(503 if mode == "refuses" else 200)
        request.send_header("content-length", "0")
        request.end_headers()


class World:
    """The service with everything around it."""

    def __init__(self, folder: Path, plan: Plan, rhythm: Rhythm, fleet_port: int, fleet: Connection) -> None:
        self.record = Record()
        self.database, self.log = folder / "driftwatch.db", folder / "log"
        self.channels = (Channel("steady", (), self.record), Channel("shaky", plan.outages, self.record))
        self._config = folder / "config.toml"
        self._plan, self._rhythm = plan, rhythm
        self._fleet_port, self._fleet = fleet_port, fleet
        self._names = {server: f"s{server}" for server in plan.present}
        self._listen = free_port()
        self._calls = ThreadPoolExecutor(16)
        self._called: list[Future[None]] = []
        self._sampling = threading.Event()
        self._configure()
        self.process = self._start()

    def run(self) -> None:
        """Carry the plan out."""
        began = time.monotonic()
        for channel in self.channels:
            channel.began = began
        threading.Thread(target=self._sample, daemon=True).start()
        for action in self._plan.actions:
            time.sleep(max(0.0, began + action.at - time.monotonic()))
            self._do(action)
        time.sleep(max(0.0, began + self._rhythm.end - time.monotonic()))
        for call in self._called:
            call.result(PATIENCE_S)
        self._sampling.set()

    def stop(self) -> None:
        """End the service as an orchestrator does."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(2 * STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.record.stops.append((code, time.monotonic() - began))

    def _do(self, action: Action) -> None:
        match action:
            case Show(server=server, shown=shown):
                self._fleet.send((f"/s{server}", shown))
            case Announce():
                self._called.append(self._calls.submit(self._announce, action))
            case Edit():
                self._edit(action)
                self.process.send_signal(signal.SIGHUP)
            case Restart(how=how, pause=pause):
                if how is signal.SIGTERM:
                    self.stop()
                else:
                    self.process.kill()
                    self.process.wait()
                    self.record.kills += 1
                time.sleep(pause)
                self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        process = start(self._config, self.log)
        until = time.monotonic() + PATIENCE_S
        while self._asked("GET", "/readyz") != http.client.OK:
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"the service did not start; see {self.log}")
            time.sleep(0.2)
        return process

    def _announce(self, deploy: Announce) -> None:
        """Call until there is an answer, as the same delivery each time."""
        names = [self._names[server] for server in deploy.servers]
        body = json.dumps({"ref": deploy.ref, "servers": names})
        headers = {"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": deploy.ref}
        until, status = time.monotonic() + PATIENCE_S, None
        while status in {None, 503} and time.monotonic() < until:
            status = self._asked("POST", "/hooks/deploy", body, headers)
            time.sleep(1)
        self.record.announced.append((deploy.ref, status or 0))

    def _asked(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> int | None:
        connection = http.client.HTTPConnection("127.0.0.1", self._listen, timeout=10)
        try:
            connection.request(method, path, body, headers or {})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def _edit(self, edit: Edit) -> None:
        match edit.how:
            case "add":
                self._names[edit.server] = f"s{edit.server}"
            case "remove":
                del self._names[edit.server]
            case "rename":
                self._names[edit.server] = f"renamed-s{edit.server}"
        self._configure(broken=edit.how == "break")

    def _configure(self, *, broken: bool = False) -> None:
        tables = [
            f'[monitor]\ninterval = "{self._rhythm.every:g}s"\nfull_interval = "10m"\ntimeout = "10s"',
            f'deadline = "30s"\nconcurrency = 16\nloss_confirm = "{self._rhythm.loss_confirm:g}s"',
            f'[hook]\ntokens = ["{TOKEN}"]\nrate = "100/min"',
            f'[http]\nlisten = "127.0.0.1:{self._listen}"',
            '[alerts]\ngroup_wait = "10s"',
        ]
        tables += [
            f'[[alert]]\nname = "{channel.name}"\nurl = "json://127.0.0.1:{channel.port}/"\n'
            "pace = { per_second = 10, per_hour = 10000 }"
            for channel in self.channels
        ]
        for server, name in self._names.items():
            url = f"http://{address(server)}:{self._fleet_port}/s{server}"
            previous = f'\nprevious_name = "s{server}"' if name != f"s{server}" else ""
            tables.append(f'[[server]]\nname = "{name}"\nurl = "{url}"{previous}')
        tables += ["[[server]]\nname ="] if broken else []
        fresh = self._config.with_suffix(".new")
        fresh.write_text("\n".join(tables))
        fresh.replace(self._config)

    def _sample(self) -> None:
        while not self._sampling.wait(SAMPLE_EVERY_S):
            process = Process(self.process.pid)
            # Between two processes there is nothing to see.
            with contextlib.suppress(OSError, IndexError, sqlite3.Error):
                self.record.samples.append(
                    Sample(
                        at=time.time(),
                        pid=self.process.pid,
                        memory_kb=process.status("VmRSS"),
                        threads=process.status("Threads"),
                        files=process.files(),
                        database=used_bytes(self.database),
                        cpu_s=process.cpu_s(),
                    )
                )
