"""What hostile servers cost: every specimen, visited again and again in a process of its own.

    python -m bench.hostile [--repeat N] [--deadline S] [--jobs N] [NAME...]

Beside the specimens in tests/ there are lists that are as large as a list may be. Each visit is a full probe
with a short deadline, and is judged. A violation is: a visit that outlives its deadline by more than 1 s,
more requests than the budget, more than 16 MB of memory gained between the sixth visit and the last, an error
in the log, a check that crashed, a judgement of more than two seconds of CPU, or a root cause that is not one
sentence. Exit code 1 when there is one. What a thread still decodes when a visit is over is waited for before
memory is read: it is neither gained nor given back yet. glibc keeps large blocks as it does in the image.

Memory does not stop growing after twenty visits. What little outlives a visit of a large list lies scattered
over it, and keeps whole megabytes until they are used again: up to what one visit needs at its height. For
one-type-of-many that is 8 MB after twenty visits and 22 MB after a hundred (--repeat 100 shows it).
"""

import argparse
import asyncio
import ctypes
import gc
import logging
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.watched import MALLOC
from driftwatch import checks
from driftwatch.evidence import Evidence, Missing
from driftwatch.judging import judge
from driftwatch.model import Depth, Json, State
from driftwatch.probe import Limits
from driftwatch.probe.steps import slow_tool
from driftwatch.probe.steps.replicas import CONNECTIONS, MAX_REQUESTS
from driftwatch.probe.steps.sequence import FULL, FULL_BOTH_ERAS
from driftwatch.probe.wire.place import place
from tests.specimens import SPECIMENS, Specimen
from tests.specimens.mcp import Mcp, tool
from tests.specimens.running import at_home

WARM_UP = 6
GROWTH = 16 * 2**20
JUDGED_S = 2.0
LATE_S = 1.0
M_MMAP_THRESHOLD = -3
"""The option of mallopt: without it glibc keeps up to 30 MB after a large list."""
AUTHORIZATION = 6
"""At most: three documents, two of them again, and the token that cannot be valid."""


# Lists of almost 4 MiB, each of another shape


def _tools(*tools: Json) -> Callable[[], Mcp]:
    return lambda: Mcp(tools=tools)


def _schema(**members: Json) -> Callable[[], Mcp]:
    return _tools(tool(inputSchema={"type": "object", **members}))


def _nested(depth: int, inner: Json) -> Json:
    for _ in range(depth):
        inner = {"type": "object", "properties": {"a": inner}}
    return inner


TEXT = {"type": "string"}
HEAVY: dict[str, Callable[[], Mcp]] = {
    "60000-parameters": _schema(properties={f"p{n}": TEXT for n in range(60_000)}, required=["p0"]),
    "60000-semantic-parameters": _schema(properties={f"email_{n}": TEXT for n in range(60_000)}, required=[]),
    "60000-alternatives": _schema(anyOf=[{"properties": {f"p{n}": TEXT}} for n in range(60_000)]),
    "30000-definitions-in-a-chain": _schema(
        properties={"a": {"$ref": "#/$defs/d0"}},
        **{"$defs": {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(30_000)}},
    ),
    "references-that-fan-out": _schema(
        properties={"a": {"$ref": "#/$defs/d0"}},
        **{"$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 9} for n in range(60)}},
    ),
    "300000-values": _schema(properties={"a": {"enum": [f"v{n}" for n in range(300_000)]}}),
    "300000-required": _schema(properties={"a": TEXT}, required=[f"v{n}" for n in range(300_000)]),
    "500-deep-branches": _tools(*(tool(f"t{n}", inputSchema=_nested(60, TEXT)) for n in range(500))),
    "4-mb-of-blanks": _tools(tool(description=" " * 4_000_000)),
    "4-mb-of-orders": _tools(tool(description="never ignore always do not tell " * 120_000)),
    "4-mb-of-apostrophes": _tools(tool(description="don't " * 650_000)),
    "1-mb-of-hidden-characters": _tools(tool(description="\u200b" * 500_000)),
    "4-mb-of-name": _tools(tool("n" * 4_000_000)),
    "4-mb-of-parameter-name": _schema(properties={"start_Date" * 400_000: TEXT}),
    "5000-twins": _tools(*(tool("TwIn"[: n % 4 + 1]) for n in range(5000))),
    "one-type-of-many": _schema(properties={"a": {"type": ["string", "null"] * 150_000}}),
}


def everything() -> Iterator[Specimen]:
    """Every specimen, and the heavy ones, of which nothing is expected but to be over soon."""
    yield from SPECIMENS
    for name, make in HEAVY.items():
        yield Specimen(name=name, deviation="as large as it may be", make=make)


# One specimen


@dataclass(slots=True, kw_only=True)
class Cost:
    """What the visits to one specimen took."""

    name: str
    slowest_s: float = 0.0
    judged_s: float = 0.0
    requests: int = 0
    budget: int = 0
    growth: int = 0
    cause: str = ""
    violations: list[str] = field(default_factory=list)


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what was said."""
        self.said.append(record.getMessage())


async def cost(specimen: Specimen, *, repeat: int, deadline: float) -> Cost:
    """Visit one specimen so many times."""
    found, errors = Cost(name=specimen.name), _Errors()
    logging.getLogger().addHandler(errors)
    given = specimen.target.get("limits", Limits())
    limits = replace(given, timeout_s=min(given.timeout_s, deadline), deadline_s=deadline)
    target = {**specimen.target, "limits": limits}
    for visits in (WARM_UP, repeat):
        before = memory()
        with ThreadPoolExecutor() as threads:
            loop = asyncio.get_running_loop()
            loop.set_default_executor(threads)
            for _ in range(visits):
                async with at_home(specimen) as visit:
                    began = loop.time()
                    evidence = await visit.probe(path=specimen.path, depth=Depth.FULL, **target)
                    found.slowest_s = max(found.slowest_s, loop.time() - began)
                _judge(evidence, found)
                del evidence, visit
                # A watched server keeps its port, so that its URLs are parsed once; here no visit does.
                place.cache_clear()
        await asyncio.sleep(0)  # what came too late arrives, and is dropped
        found.growth = memory() - before
    configured = {"slow_tool", "burst", "log_files"} & set(specimen.target)
    found.violations += [f"logged: {said}" for said in dict.fromkeys(errors.said)]
    if found.slowest_s > deadline + LATE_S and not configured:
        found.violations.append(f"took {found.slowest_s:.2f} s")
    if found.requests > found.budget and "burst" not in configured:
        found.violations.append(f"{found.requests} requests, {found.budget} allowed")
    if found.growth > GROWTH:
        found.violations.append(f"grew by {found.growth / 2**20:.1f} MB")
    if found.judged_s > JUDGED_S:
        found.violations.append(f"judged in {found.judged_s:.2f} s of CPU")
    return found


def _judge(evidence: Evidence, found: Cost) -> None:
    began = time.process_time()
    report = judge(evidence, checks.Policy()).report
    found.judged_s = max(found.judged_s, time.process_time() - began)
    allowed = budget(evidence)
    if not found.budget or evidence.requests - allowed > found.requests - found.budget:
        found.requests, found.budget = evidence.requests, allowed
    found.violations += [str(result.reason) for result in report.results if result.code == "bug"]
    roots = {declared.id for declared in checks.catalogue if declared.root}
    failed = [one for one in report.results if one.check in roots and one.state is State.FAILED]
    spoken = [*(finding.message for one in failed for finding in one.findings[:1]), evidence.outcome.message]
    found.cause = spoken[0]
    if any(not said or "\n" in said or len(said) > 500 for said in spoken):
        found.violations.append(f"not one sentence: {spoken!r:.200}")


def budget(evidence: Evidence) -> int:
    """How many requests a visit that saw this may have taken."""
    listings = [one.listing for one in evidence.surfaces if not isinstance(one.listing, Missing)]
    openings = () if isinstance(evidence.openings, Missing) else evidence.openings
    again = sum(len(opening.attempts) - 1 for opening in openings) + sum(one.refetched for one in listings)
    return (
        (FULL_BOTH_ERAS if len(evidence.surfaces) == 2 else FULL)
        + again
        + sum(3 * len(one.exchanges) for one in listings if len(one.exchanges) > 1)
        + (CONNECTIONS * MAX_REQUESTS if evidence.surfaces else 0)
        + (0 if isinstance(evidence.authorization, Missing) else AUTHORIZATION)
        + (0 if isinstance(evidence.slow_call, Missing) else slow_tool.MAX_REQUESTS)
    )


def memory() -> int:
    """Bytes that this process holds, after everything that can be given back was."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def visit_all(number: int, given: tuple[int, float]) -> Cost:
    """One specimen, in this process."""
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, int(MALLOC["MALLOC_MMAP_THRESHOLD_"]))
    specimen = list(everything())[number]
    return asyncio.run(cost(specimen, repeat=given[0], deadline=given[1]))


def told(one: Cost) -> Cost:
    """Print the line of one specimen."""
    print(
        f"{one.name:<34}{one.slowest_s:>7.2f} s{one.judged_s:>7.2f} s{one.requests:>7}/{one.budget}"
        f"{one.growth / 2**20:>7.1f} MB  {one.cause[:110]}",
        flush=True,
    )
    for violation in dict.fromkeys(one.violations):
        print(f"    VIOLATION {violation}", flush=True)
    return one


def main() -> None:
    """Visit them all and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.hostile",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--deadline", type=float, default=2.0)
    parser.add_argument("--jobs", type=int, default=2)
    wanted = parser.parse_args()
    numbers = [
        number for number, one in enumerate(everything()) if not wanted.names or one.name in wanted.names
    ]
    # Every specimen in a fresh process, so that none stands in for another's memory.
    with multiprocessing.get_context("fork").Pool(wanted.jobs, maxtasksperchild=1) as pool:
        jobs = [pool.apply_async(visit_all, (number, (wanted.repeat, wanted.deadline))) for number in numbers]
        print(f"{'specimen':<34}{'slowest':>9}{'judged':>9}{'requests':>11}{'memory':>10}  root cause")
        costs = [told(job.get()) for job in jobs]
    bad = sum(bool(one.violations) for one in costs)
    slowest, judged = max(one.slowest_s for one in costs), max(one.judged_s for one in costs)
    growth = max(one.growth for one in costs) / 2**20
    print(
        f"{len(costs)} specimens, {WARM_UP + wanted.repeat} probes each, deadline {wanted.deadline:g} s: "
        f"slowest {slowest:.2f} s, judged in at most {judged:.2f} s, grew by at most {growth:.1f} MB, "
        f"{bad} with violations"
    )
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
