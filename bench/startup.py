"""Wall and CPU time of whole processes of the command line.

    python -m bench.startup [--rounds N]

``probe`` visits the demo's sample server, which runs in a process of its own.
"""

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import time

from bench.probe import serve


def once(*words: str) -> tuple[float, float]:
    """Wall and CPU seconds of one process."""
    before, began = os.times(), time.monotonic()
    subprocess.run([sys.executable, "-m", "driftwatch", *words], capture_output=True, check=False)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - began, cpu


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), kwargs={"legacy": True}, daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/mcp"
    commands = {
        "driftwatch --help": ("--help",),
        "driftwatch probe URL --depth light": ("probe", url, "--depth", "light"),
        "driftwatch probe URL": ("probe", url),
    }
    once("--version")  # compiles what is not compiled yet
    for name, words in commands.items():
        walls, cpus = zip(*(once(*words) for _ in range(rounds)), strict=True)
        print(f"{name:<36} {statistics.median(walls):.3f} s   {statistics.median(cpus):.3f} s of CPU")
    server.terminate()


if __name__ == "__main__":
    main()
