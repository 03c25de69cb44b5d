"""Runs the benches one after the other and writes docs/performance.md from what they print.

    python -m bench.performance [--quick] [--only NAME,...]

Takes about an hour on a quiet machine; ``--quick`` leaves the large fleets and the soak out. What was not
run keeps its former section. Figures are what this machine gave; compare them with each other, not with
another's.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
HEAD = """# Performance

Written by `python -m bench.performance`. Each section is what one bench printed, and when; the floor stands
beside the figure in the same run where there is one. CPU is process CPU, without the other side's.
"""


@dataclass(frozen=True)
class Bench:
    """One section of the page."""

    name: str
    title: str
    says: str
    command: tuple[str, ...]
    large: bool = False


def fleet(servers: int, every: int, minutes: float, *more: str) -> tuple[str, ...]:
    """The command of a fleet."""
    sizes = ("--servers", str(servers), "--every", str(every), "--minutes", str(minutes))
    return ("-m", "bench.fleet", *sizes, *more)


BENCHES = (
    Bench(
        "start",
        "Start-up and the command line",
        "Whole processes: `--help`, one probe of a server on loopback with its report, and an idle service.",
        ("-m", "bench.startup"),
    ),
    Bench(
        "light",
        "A light probe",
        "The same requests over bare sockets, with driftwatch, and with the official client.",
        ("-m", "bench.probe"),
    ),
    Bench("full", "A full probe", "The same requests over bare sockets.", ("-m", "bench.probe", "--full")),
    Bench(
        "toolset",
        "Fingerprint and diff",
        "A thousand tools of two megabytes, as they are published and as a diff finds them hardest: with ten "
        "thousand changes and more, and, in the rows that say `apart`, with none that two tools share. What "
        "one diff may cost is bounded: a schema beyond it is said to have changed in more ways than can be "
        "followed.",
        ("bench/toolset.py",),
    ),
    Bench("store", "The store", "A probe that changes nothing, as it is recorded.", ("bench/store.py",)),
    Bench(
        "metrics",
        "A scrape",
        "`/metrics` of a thousand servers.",
        ("bench/metrics.py",),
    ),
    Bench(
        "deploy",
        "From a deploy to its message",
        "Announced over HTTP until it is in the channel's hands, `delay = 0` and one read.",
        ("bench/deploy.py",),
    ),
    Bench(
        "fleet-100",
        "A fleet of 100",
        "A hundred servers every ten seconds, of which ten change.",
        fleet(100, 10, 2, "--drift", "10"),
    ),
    Bench(
        "fleet-1000",
        "A fleet of 1,000",
        "A thousand servers every minute. Three minutes still hold some of what is written once for each "
        "server.",
        fleet(1000, 60, 3),
        large=True,
    ),
    Bench(
        "fleet-10000",
        "A fleet of 10,000",
        "Ten thousand servers every five minutes.",
        fleet(10_000, 300, 5, "--concurrency", "16"),
        large=True,
    ),
    Bench(
        "soak",
        "A soak",
        "Half an hour of changes, faults, deploys, dead channels, edits and restarts, told exactly once.",
        ("-m", "bench.soak"),
        large=True,
    ),
)


def machine() -> str:
    """What the figures were made on."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    name = model[1] if model else platform.machine()
    return f"{os.cpu_count()} cores of {name}, Python {platform.python_version()}"


def run(bench: Bench) -> str:
    """Run a bench; its section."""
    load = os.getloadavg()[0]
    began = time.monotonic()
    done = subprocess.run([sys.executable, *bench.command], capture_output=True, text=True, check=False)
    said = done.stdout.strip() + (f"\n(exit code {done.returncode})" if done.returncode else "")
    print(f"== {bench.name}, {time.monotonic() - began:.0f} s\n{said}\n{done.stderr[-500:]}", flush=True)
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine()}, load {load:.1f} before it began"
    shown = " ".join(("python", *bench.command))
    return f"## {bench.title}\n\n{bench.says} `{shown}`; {when}.\n\n```\n{said}\n```\n"


def sections() -> dict[str, str]:
    """What the page has now, by title."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    return {part.partition("\n")[0].removeprefix("## "): part.rstrip() + "\n" for part in parts}


def main() -> None:
    """Run what is asked for, one after the other, and write the page after each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[])
    arguments = parser.parse_args()
    wanted = [name for given in arguments.only for name in given.split(",")]
    if unknown := set(wanted) - {bench.name for bench in BENCHES}:
        parser.error(f"no such bench: {', '.join(sorted(unknown))}")
    for bench in BENCHES:
        if (wanted and bench.name not in wanted) or (arguments.quick and bench.large):
            continue
        now = {**sections(), bench.title: run(bench)}
        PAGE.write_text(
            "\n".join([HEAD, *(now[each.title] for each in BENCHES if each.title in now)]), "utf-8"
        )


if __name__ == "__main__":
    main()
