"""Wall and CPU time of whole processes of the command line, and the memory of a service with little to do.

    python -m bench.startup [--rounds N]

``probe`` goes to the demo's sample server, which runs in a process of its own. As in an installed package,
everything is compiled before the first round.
"""

import argparse
import contextlib
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.probe import SERVERS, served
from bench.watched import Process, free_port, rows, start

SETTLED_S = 10
"""What a service still does after its first probe is over by then."""


def once(*words: str) -> tuple[float, float]:
    """Wall and CPU seconds of one process."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "driftwatch", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0  # it was waited for above
    return time.monotonic() - began, used.ru_utime + used.ru_stime


def idle(folder: Path, url: str) -> str:
    """What a service for one server takes when it has probed it and gone quiet."""
    config = folder / "config.toml"
    config.write_text(
        f'[http]\nlisten = "127.0.0.1:{free_port()}"\n'
        f'[[alert]]\nname = "ops"\nurl = "json://127.0.0.1:9/"\n'
        f'[[server]]\nname = "sample"\nurl = "{url}"\n'
    )
    service = start(config, folder / "log")
    while True:
        if service.poll() is not None:
            sys.exit(f"the service ended with {service.returncode}: {(folder / 'log').read_text()}")
        with contextlib.suppress(sqlite3.Error):
            if rows(folder / "driftwatch.db", "SELECT 1 FROM run"):
                break
        time.sleep(0.2)
    time.sleep(SETTLED_S)
    watched = Process(service.pid)
    taken = f"{watched.status('VmRSS') / 1024:.1f} MB   {watched.status('Threads')} threads"
    service.terminate()
    service.wait()
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with served(SERVERS["dual era"]) as (port,), tempfile.TemporaryDirectory() as folder:
        measure(f"http://127.0.0.1:{port}/mcp", Path(folder), rounds)


def measure(url: str, folder: Path, rounds: int) -> None:
    """Measure the commands and a service against a server, and print."""
    commands = {
        "driftwatch --help": ("--help",),
        "driftwatch probe URL --depth light": ("probe", url, "--depth", "light"),
        "driftwatch probe URL": ("probe", url),
    }
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    for name, words in commands.items():
        once(*words)
        walls, cpus = zip(*(once(*words) for _ in range(rounds)), strict=True)
        print(
            f"{name:<36} {statistics.median(walls):.3f} s   {statistics.median(cpus):.3f} s of CPU, "
            f"at best {min(cpus):.3f}"
        )
    print(f"{'driftwatch run, idle':<36} {idle(folder, url)}")


if __name__ == "__main__":
    main()
