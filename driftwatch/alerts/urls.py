"""Judges channels' URLs in a process of its own, which ends when the configuration is read.

Apprise takes 26 MB with all its services. A service that has nothing to tell need not hold them.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

from driftwatch.alerts.services import validate

DEADLINE_S = 30.0
"""How long the process may take for all URLs of a configuration; loading Apprise is nearly all of it."""

_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH")
"""What the process is told of ours: the rest may be secrets, and theirs is standard input."""


@contextlib.contextmanager
def judging() -> Iterator[Callable[[str], str | None]]:
    """Judge URLs as ``services.validate`` does. The process loads Apprise while the block begins.

    Where it cannot be started, or ends, or takes too long, the URLs are judged in this process.
    """
    with contextlib.ExitStack() as stack:
        try:
            process = stack.enter_context(_started())
        except OSError:
            yield validate
            return
        stack.callback(process.kill)
        end = threading.Timer(DEADLINE_S, process.kill)
        end.daemon = True
        end.start()
        stack.callback(end.cancel)
        yield lambda url: _ask(process, url)


def _started() -> "subprocess.Popen[bytes]":
    ours = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return subprocess.Popen(
        # With a safe path: a service may be started in anybody's folder.
        [sys.executable, "-P", "-m", "driftwatch.alerts.urls"],
        env={**ours, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,  # so that closing it writes nothing, whatever became of the process
    )


def _ask(process: "subprocess.Popen[bytes]", url: str) -> str | None:
    assert process.stdin is not None  # noqa: S101 - pipes, both of them
    assert process.stdout is not None  # noqa: S101
    try:
        process.stdin.write(json.dumps(url).encode() + b"\n")
        reason: str | None = json.loads(process.stdout.readline())
    except (OSError, ValueError):
        return validate(url)
    return reason


def _answer() -> None:
    """A URL a line, as JSON; the answer to each is what is wrong with it, or null."""
    validate("json://localhost")
    for line in sys.stdin:
        print(json.dumps(validate(json.loads(line))), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    _answer()
