"""A running service as seen from beside it: what the kernel says of it, and what its database holds."""

import contextlib
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "524288", "MALLOC_ARENA_MAX": "2"}
"""What the image and the unit of systemd tell glibc; the Dockerfile says why."""


class Process:
    """What the kernel says of a process."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")

    def cpu_s(self) -> float:
        """User and system time so far."""
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def status(self, name: str) -> int:
        """A number of /proc/PID/status, such as VmRSS in kB."""
        for line in (self._folder / "status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        return 0

    def files(self) -> int:
        """Open file descriptors."""
        return len(list((self._folder / "fd").iterdir()))


def start(config: Path, log: Path) -> subprocess.Popen[bytes]:
    """A service as it runs in the image, which adds what it says to ``log``."""
    command = [sys.executable, "-m", "driftwatch", "run", "--config", str(config)]
    with log.open("ab") as file:
        return subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, **MALLOC})


def free_port() -> int:
    """A port on loopback that nobody has at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def rows(database: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Ask the database beside the service."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        return connection.execute(query, values).fetchall()


def used_bytes(database: Path) -> int:
    """What the database holds, without what is free in it."""
    pages, free, size = (
        int(rows(database, f"PRAGMA {name}")[0][0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def microseconds(at: float) -> int:
    """A moment as the database writes it."""
    return int(at * 1_000_000)
