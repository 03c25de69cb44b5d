"""A fleet that changes and fails for half an hour, and whether driftwatch tells each change exactly once.

    python -m bench.soak [--servers 500] [--every 60] [--minutes 30] [--seed 1] [--keep FOLDER]

A seeded plan is carried out on a real service: toolsets change (some for a single look), servers fail in five
ways, deploys are announced over HTTP, one of two channels is out of order for a third of the time, the
configuration is edited, broken, and read again on SIGHUP, and the service is ended six times in the first
half, three of them with SIGKILL. When everything is delivered, what arrived is compared with the plan. A
violation is a change that was not told, was told twice without saying so, or never was one; memory, files or
threads that grow over the second half; more than 250 bytes of database for a probe; an error in the log; an
end on SIGTERM that takes 10 s or fails. Exit code 1 when there is one.
"""

import argparse
import os
import pickle
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from bench.simulated import fleet
from bench.soak import judge
from bench.soak.drive import PATIENCE_S, Sample, World, address
from bench.soak.plan import USUAL, Announce, Edit, Plan, Rhythm, Show, plan
from bench.watched import rows

KNOWN = "SELECT count(DISTINCT server_id) FROM run WHERE depth = 'full'"
"""How many servers were looked at in full: what changes during that look is no change to driftwatch."""
WAITING = """
    SELECT (SELECT count(*) FROM message WHERE status IN ('pending', 'sending'))
         + (SELECT count(*) FROM event_delivery
             WHERE message_id IS NULL AND suppressed_by IS NULL AND dropped_at IS NULL)
         + (SELECT count(*) FROM deploy_outcome WHERE state IN ('waiting', 'settling'))
"""


def wait(world: World, condition: Callable[[int], bool], query: str) -> float:
    """Wait until a number in the database is right; how long that took."""
    began = time.monotonic()
    while not condition(int(rows(world.database, query)[0][0])):
        if time.monotonic() > began + PATIENCE_S:
            sys.exit(f"it stays so: {query}; see {world.log}")
        time.sleep(1)
    return time.monotonic() - began


def second_half(samples: Sequence[Sample]) -> list[Sample]:
    """What was seen of the process that lived to the end, in the later half of the time."""
    middle = (samples[0].at + samples[-1].at) / 2
    return [sample for sample in samples if sample.at >= middle and sample.pid == samples[-1].pid]


def violations(world: World, made: Plan, late: Sequence[Sample]) -> list[str]:
    """Everything that is not as it has to be."""
    events, arrivals = judge.told(world.database), world.record.arrivals
    return [
        *judge.right_words(made, events),
        *judge.arrived_once(events, arrivals, [channel.name for channel in world.channels]),
        *judge.names_servers(events, arrivals),
        *judge.stayed_small(late, world.database),
        *judge.no_errors(world.log),
        *judge.ended_well(world.record),
    ]


def show(world: World, made: Plan, late: Sequence[Sample]) -> None:
    """What happened."""
    record, arrivals = world.record, world.record.arrivals
    actions = Counter(
        action.shown.fault or "toolset" if isinstance(action, Show) else type(action).__name__.lower()
        for action in made.actions
    )
    edits = Counter[str](action.how for action in made.actions if isinstance(action, Edit))
    deploys = [action for action in made.actions if isinstance(action, Announce)]
    words = Counter(word.partition(" ")[0] for words in made.expected.values() for word in words)
    probes = rows(world.database, "SELECT count(*), sum(depth = 'full') FROM run")[0]
    taken = [arrival for arrival in arrivals if arrival.answered]
    repeats = sum(judge.REPEAT in arrival.text for arrival in arrivals)
    cpu = (late[-1].cpu_s - late[0].cpu_s) / (late[-1].at - late[0].at)
    print(
        f"  done        {listed(actions)}; edits: {listed(edits)}; {len(deploys)} deploys of "
        f"{sum(len(deploy.servers) for deploy in deploys)} servers\n"
        f"  restarts    {record.kills} SIGKILL; SIGTERM took "
        f"{', '.join(f'{seconds:.1f} s' for _, seconds in record.stops)}\n"
        f"  probes      {probes[0]}, {probes[1]} of them full; {100 * cpu:.0f} % of a core\n"
        f"  to tell     {listed(words)}, on each of {len(world.channels)} channels\n"
        f"  messages    {len(taken)} taken of {len(arrivals)} attempts, {repeats} labelled possible repeats"
    )
    for name, unit, values in (
        ("memory", "MB", [sample.memory_kb / 1024 for sample in late]),
        ("files", "", [sample.files for sample in late]),
        ("threads", "", [sample.threads for sample in late]),
        ("database", "MB", [sample.database / 2**20 for sample in late]),
    ):
        low, high, last = (f"{value:.4g}" for value in (min(values), max(values), values[-1]))
        print(f"  {name:<11} second half: min {low}, max {high}, last {last} {unit}".rstrip())
    added, more, changes = judge.growth(late, world.database)
    print(
        f"  growth      memory {judge.slope(late) * 60:.1f} kB a minute; database {added / 1024:.0f} kB "
        f"with {more} probes and {changes} changes"
    )


def listed(counts: Counter[str]) -> str:
    """``3 down, 2 error``."""
    return ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--servers", type=int, default=500)
    parser.add_argument("--every", type=float, default=60, help="seconds")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--keep", type=Path, help="a folder that stays, with database, log and all that was seen"
    )
    arguments = parser.parse_args()
    end = arguments.minutes * 60
    rhythm = Rhythm(every=arguments.every, end=end, loss_confirm=min(300, end / 6))
    made = plan(arguments.seed, arguments.servers, rhythm)
    addresses = {f"/s{server}": address(server) for server in range(arguments.servers)}
    if arguments.keep:
        arguments.keep.mkdir(parents=True)
    with (
        nullcontext(arguments.keep) if arguments.keep else tempfile.TemporaryDirectory() as folder,
        fleet(USUAL, addresses) as (port, control),
    ):
        world = World(Path(folder), made, rhythm, port, control)
        try:
            known = wait(world, lambda number: number >= len(made.present), KNOWN)
            print(
                f"{datetime.now(UTC):%Y-%m-%d %H:%M} {arguments.servers} servers every {arguments.every:g} s "
                f"for {arguments.minutes:g} minutes, seed {arguments.seed}; baseline {known:.0f} s, "
                f"load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
            world.run()
            settled = wait(world, lambda number: number == 0, WAITING)
        finally:
            world.stop()
        if arguments.keep:
            (arguments.keep / "record.pickle").write_bytes(pickle.dumps((made, world.record)))
        late = second_half(world.record.samples)
        show(world, made, late)
        print(f"  settled     {settled:.0f} s after the end")
        wrong = violations(world, made, late)
    print(*(f"  VIOLATION   {each}" for each in wrong), f"{len(wrong)} violations", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
