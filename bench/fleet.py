"""A fleet of simulated servers on loopback, watched by a real service in a process of its own.

    python -m bench.fleet --servers 1000 --every 60 [--minutes 3] [--drift 0]

Every server is first baselined (a full probe each), then measured for so many minutes at its interval: how
late probes start (p50, p99, worst), the CPU of the service as a share of one core and per probe, its memory,
threads and files, and what the database grew by for each probe. ``--drift N`` lets N servers change their
tools while it is measured; each has to be told exactly once at a loopback receiver.
The simulated servers run in another process and answer at once; their work does not count.
"""

import argparse
import contextlib
import json
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ClassVar

from bench.simulated import Shown, fleet, tools_of
from bench.watched import Process, free_port, microseconds, rows, start, used_bytes


class Receiver(BaseHTTPRequestHandler):
    """Counts which servers were spoken about."""

    told: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        """Take one message."""
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        for word in (message["title"] + " " + message["message"]).replace(":", " ").replace(",", " ").split():
            if word.startswith("s") and word[1:].isdecimal():
                self.told[word] += 1
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def receiving() -> Iterator[int]:
    """A loopback receiver of alerts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


def configure(folder: Path, arguments: argparse.Namespace, port: int, receiver: int) -> Path:
    """A configuration that watches the whole fleet."""
    rhythm = f'interval = "{arguments.every}s"\nfull_interval = "90d"\nconcurrency = {arguments.concurrency}'
    channel = (
        f'name = "ops"\nurl = "json://127.0.0.1:{receiver}/"\npace = {{ per_second = 50, per_hour = 99999 }}'
    )
    tables = [
        f"[monitor]\n{rhythm}\nper_host = 100",
        f'[http]\nlisten = "127.0.0.1:{free_port()}"',
        f"[[alert]]\n{channel}",
    ]
    tables += [
        f'[[server]]\nname = "s{number}"\nurl = "http://127.0.0.1:{port}/s{number}"'
        for number in range(arguments.servers)
    ]
    path = folder / "config.toml"
    path.write_text("\n\n".join(tables))
    return path


def warm_up(database: Path, servers: int, process: subprocess.Popen[bytes]) -> float:
    """Wait until every server has its baseline; how long that took."""
    began = time.monotonic()
    while True:
        if process.poll() is not None:
            sys.exit(f"the service ended with {process.returncode}")
        with contextlib.suppress(sqlite3.Error):
            known = rows(database, "SELECT count(*) FROM server WHERE last_run_at IS NOT NULL")[0][0]
            if known >= servers:
                return time.monotonic() - began
        time.sleep(1)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def measure(
    arguments: argparse.Namespace, folder: Path, process: subprocess.Popen[bytes], control: Connection
) -> None:
    """Baseline, measure, print."""
    database, watched = folder / "driftwatch.db", Process(process.pid)
    began = watched.cpu_s()
    took = warm_up(database, arguments.servers, process)
    full = (watched.cpu_s() - began) / arguments.servers
    print(f"baseline of {arguments.servers} servers: {took:.0f} s, {full * 1000:.1f} ms of CPU a full probe")
    # Until everyone is back in their own phase, and the first light probe has left its transcript.
    time.sleep(arguments.every + 20)
    began_at, cpu, size = time.time(), watched.cpu_s(), used_bytes(database)
    for number in range(arguments.drift):
        control.send((f"/s{number}", Shown(tools=tools_of(arguments.tools, "_v2"))))
    peak = 0
    while time.time() < began_at + arguments.minutes * 60:
        time.sleep(1)
        peak = max(peak, watched.status("VmRSS"))
    elapsed, cpu = time.time() - began_at, watched.cpu_s() - cpu
    late = [
        (taken - due) / 1_000_000
        for due, taken in rows(
            database,
            "SELECT due_at, taken_at FROM run WHERE taken_at > ? AND trigger = 'interval'",
            microseconds(began_at),
        )
    ]
    probes = rows(database, "SELECT count(*) FROM run WHERE taken_at > ?", microseconds(began_at))[0][0]
    grown = used_bytes(database) - size
    print(
        f"{arguments.servers} servers every {arguments.every} s for {elapsed:.0f} s: {probes} probes "
        f"({probes / elapsed:.1f}/s)\n"
        f"  start lag   p50 {statistics.median(late):.2f} s   p99 {percentile(late, 0.99):.2f} s   "
        f"worst {max(late):.2f} s\n"
        f"  CPU         {100 * cpu / elapsed:.0f} % of a core, {1000 * cpu / probes:.2f} ms a probe\n"
        f"  memory      {peak / 1024:.0f} MB  {watched.status('Threads')} threads  {watched.files()} files\n"
        f"  database    {grown / probes:.0f} bytes a probe, {used_bytes(database) / 2**20:.1f} MB in all"
    )
    if arguments.drift:
        told = Counter(Receiver.told)
        wanted = {f"s{number}" for number in range(arguments.drift)}
        known, others = len(wanted & told.keys()), len(told.keys() - wanted)
        print(f"  drift       {known} of {len(wanted)} told, {others} others")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--servers", type=int, default=100)
    parser.add_argument("--every", type=int, default=60, help="seconds")
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--tools", type=int, default=5)
    parser.add_argument("--drift", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=8)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        receiving() as receiver,
        fleet(tools_of(arguments.tools)) as (port, control),
    ):
        folder = Path(name)
        config = configure(folder, arguments, port, receiver)
        began = time.monotonic()
        process = start(config, folder / "log")
        try:
            while not (folder / "driftwatch.db").exists() and process.poll() is None:
                time.sleep(0.05)
            print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} started in {time.monotonic() - began:.1f} s")
            measure(arguments, folder, process, control)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        faults = [
            line
            for line in (folder / "log").read_text().splitlines()
            if '"level": "error"' in line or "Traceback" in line
        ]
        print(f"  ended with {process.returncode}, {len(faults)} errors in the log", *faults[:3], sep="\n  ")


if __name__ == "__main__":
    main()
