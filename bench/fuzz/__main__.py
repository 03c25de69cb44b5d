"""A great many damaged inputs, to see that none of them makes driftwatch crash or work without bound.

    python -m bench.fuzz [--inputs N] [--seed N] [--hypothesis N] [--server URL]... [TARGET...]

The corpus is made at run time: what full probes of the specimens in tests/ and of every ``--server`` saw.
Its bytes, JSON values and whole evidence are damaged at random, as often as ``--inputs`` says in all;
``--hypothesis`` adds as many examples that Hypothesis makes up. An input fails that raises anything, is
called a bug by a check, or takes more than two seconds of CPU. ``--replay SEED`` repeats a printed one.
Exit code 1 when one failed.
"""

import argparse
import asyncio
import logging
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from driftwatch.model import Json

from .corpus import gather
from .damage import BYTES, NAMES, SCALARS
from .targets import Targets

CPU_S = 2.0
"""What one input may take."""

SHARES = {
    "json": 25,
    "sse": 22,
    "challenge": 15,
    "address": 10,
    "certificate": 4,
    "schema": 6,
    "diff": 4,
    "judgement": 3,
    "dialogue": 3,
    "wire": 8,
}
"""Of a hundred inputs."""


# Runs


@dataclass(slots=True)
class Tally:
    """What became of one target."""

    inputs: int = 0
    slowest_s: float = 0.0
    slowest: str = ""
    failures: Counter[str] = field(default_factory=Counter)

    async def run(self, feed: Callable[[random.Random], object], seed: str) -> None:
        """One input."""
        self.inputs += 1
        began = time.process_time()
        try:
            done = feed(random.Random(seed))
            if isinstance(done, Awaitable):
                await done
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            where = traceback.extract_tb(error.__traceback__)[-1]
            self._fail(f"{type(error).__name__} at {where.filename}:{where.lineno}: {error!s:.200}", seed)
        took = time.process_time() - began
        if took > self.slowest_s:
            self.slowest_s, self.slowest = took, seed
        if took > CPU_S:
            self._fail("too slow", seed)

    def _fail(self, what: str, seed: str) -> None:
        self.failures[what] += 1
        if self.failures[what] == 1:
            print(f"  FAILED {what} (seed {seed})", flush=True)


async def by_damage(targets: Targets, names: list[str], inputs: int, seed: int) -> dict[str, Tally]:
    """Feed every target its share."""
    whole, tallies = sum(SHARES[name] for name in names), {}
    for name in names:
        tally = tallies[name] = Tally()
        began = time.monotonic()
        for number in range(inputs * SHARES[name] // whole):
            await tally.run(getattr(targets, name), f"{seed}:{name}:{number}")
        seconds = time.monotonic() - began
        print(
            f"{name:<12}{tally.inputs:>9,} inputs {seconds:8.1f} s  slowest {tally.slowest_s * 1000:7.1f} ms"
            f" ({tally.slowest})  {sum(tally.failures.values())} failed",
            flush=True,
        )
    return tallies


anything: st.SearchStrategy[Json] = st.recursive(
    st.sampled_from(SCALARS) | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(NAMES) | st.text(), inner, max_size=6)
    ),
    max_leaves=50,
)


def by_hypothesis(targets: Targets, examples: int, seed: int) -> int:
    """The same targets with what Hypothesis makes up; raises what one of them raised."""
    rng, several = random.Random(seed), st.lists(anything, max_size=4)
    pieces = st.lists(st.sampled_from(BYTES) | st.binary(max_size=20), max_size=12).map(b"".join)
    feeds: list[tuple[st.SearchStrategy[Any], Callable[[Any], None]]] = [
        (pieces, lambda raw: targets.read_json(raw, sole=True)),
        (pieces, lambda raw: targets.read_events(raw, rng)),
        (st.tuples(st.text()), lambda one: targets.read_challenge(*one)),
        (st.tuples(anything), lambda one: targets.walk(*one)),
        (st.tuples(several, several), lambda two: targets.compare(*two)),
    ]
    for strategy, feed in feeds:
        calm = settings(
            max_examples=examples // len(feeds),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        seeded(seed)(calm(given(strategy)(feed)))()
    print(f"hypothesis  {examples // len(feeds) * len(feeds):>9,} examples", flush=True)
    return examples // len(feeds) * len(feeds)


async def replay(targets: Targets, seed: str) -> None:
    """One input once more; raises what it raises."""
    done = getattr(targets, seed.split(":")[1])(random.Random(seed))
    if isinstance(done, Awaitable):
        await done


def main() -> None:
    """Feed them all and say what became of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", default=list(SHARES), metavar="TARGET", help=", ".join(SHARES))
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--hypothesis", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server", action="append", default=[])
    parser.add_argument("--replay", metavar="SEED")
    wanted = parser.parse_args()
    logging.getLogger("driftwatch").setLevel(logging.CRITICAL)
    targets = Targets(asyncio.run(gather(wanted.server)))
    corpus = targets.corpus
    print(f"corpus: {len(corpus.evidence)} probes, {len(corpus.exchanges)} exchanges; seed {wanted.seed}")
    if wanted.replay:
        asyncio.run(replay(targets, wanted.replay))
        return
    tallies = asyncio.run(by_damage(targets, wanted.targets, wanted.inputs, wanted.seed))
    total = sum(tally.inputs for tally in tallies.values())
    if wanted.hypothesis:
        total += by_hypothesis(targets, wanted.hypothesis, wanted.seed)
    failed = sum(sum(tally.failures.values()) for tally in tallies.values())
    print(f"{total:,} inputs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
