"""How much would be said in a week: the same simulated servers under different policies.

    python bench/policy.py [--weeks N] [--seed N]

One message is everything that one probe gives reason to say. Regular probes come every 15 minutes, re-probes
when the policy asks for them. The last column counts probes a day with the default policy.
"""

import argparse
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from driftwatch.model import Certificate, Depth, Era, Report, Result, State, Trigger
from driftwatch.transitions import (
    Changes,
    Memory,
    Policy,
    ToolsetObservation,
    apply,
    decide,
    toolset_subject,
)

START = datetime(2026, 3, 2, tzinfo=UTC)
INTERVAL = timedelta(minutes=15)
FULL_INTERVAL = timedelta(hours=6)
HOUR = timedelta(hours=1)
TOOLSET = toolset_subject(Era.MODERN, "anonymous")

Server = Callable[[timedelta, random.Random], tuple[str, str]]
"""What a server shows after some time: the state of its endpoint, and its toolset."""

NO_DAMPING = 1_000_000
POLICIES = {
    "every change": Policy(confirm=1, flap_count=NO_DAMPING),
    "K=2": Policy(confirm=2, flap_count=NO_DAMPING),
    "K=3": Policy(flap_count=NO_DAMPING),
    "K=3, flap": Policy(),
}


def healthy(_: timedelta, __: random.Random) -> tuple[str, str]:
    return "verified", "a"


def blips(_: timedelta, chance: random.Random) -> tuple[str, str]:
    return ("failed:timeout" if chance.random() < 0.05 else "verified"), "a"


def replicas_at_random(_: timedelta, chance: random.Random) -> tuple[str, str]:
    return "verified", chance.choice("ab")


def replicas_in_turn() -> Server:
    turn = [0]

    def show(_: timedelta, __: random.Random) -> tuple[str, str]:
        turn[0] += 1
        return "verified", "ab"[turn[0] % 2]

    return show


def slow_flap(after: timedelta, _: random.Random) -> tuple[str, str]:
    return ("failed:http-5xx" if after // timedelta(minutes=70) % 2 else "verified"), "a"


def outage(after: timedelta, _: random.Random) -> tuple[str, str]:
    down = timedelta(days=2) <= after < timedelta(days=2, hours=2)
    return ("failed:refused" if down else "verified"), "a"


def outage_in_many_words(after: timedelta, chance: random.Random) -> tuple[str, str]:
    state, toolset = outage(after, chance)
    codes = ("failed:refused", "failed:timeout", "failed:reset")
    return (state if state == "verified" else chance.choice(codes)), toolset


def rename(after: timedelta, _: random.Random) -> tuple[str, str]:
    return "verified", "a" if after < timedelta(days=3) else "b"


def rollout(after: timedelta, chance: random.Random) -> tuple[str, str]:
    """Ten minutes in which old and new instances answer."""
    begun = after - timedelta(days=3)
    if begun < timedelta(0):
        return "verified", "a"
    return "verified", "b" if chance.random() < begun / timedelta(minutes=10) else "a"


SERVERS: dict[str, Callable[[], Server]] = {
    "nothing happens": lambda: healthy,
    "1 probe in 20 fails": lambda: blips,
    "2 replicas, at random": lambda: replicas_at_random,
    "2 replicas, in turn": replicas_in_turn,
    "down every other 70 min": lambda: slow_flap,
    "down for 2 h": lambda: outage,
    "the same, 3 error codes": lambda: outage_in_many_words,
    "a tool renamed": lambda: rename,
    "the same, 10 min rollout": lambda: rollout,
}


def week(server: Server, policy: Policy, seed: int) -> tuple[int, int]:
    """Messages and probes of seven days."""
    chance = random.Random(seed)
    memory: Memory | None = None
    changes = Changes()
    now = regular = START
    messages = probes = 0
    while now < START + timedelta(days=7):
        shown = server(now - START, chance)
        full = (now - START) % FULL_INTERVAL < timedelta(seconds=1)
        if changes.confirm is not None and changes.confirm.due_at <= now:
            full |= changes.confirm.depth is Depth.FULL
        probes += 1
        memory, changes = probe(memory, shown, policy=policy, now=now, run=str(probes), full=full)
        messages += any(event.alerts for event in changes.events)
        regular = regular + INTERVAL if now >= regular else regular
        now = min(regular, changes.confirm.due_at) if changes.confirm else regular
    return messages, probes


def rollout_of_a_certificate(since: int, until: int, seed: int) -> int:
    """Messages of 40 days in which a CDN exchanges a certificate, between two of them in random turn."""
    chance = random.Random(seed)
    days = timedelta(days=1)
    old, new = (
        Certificate(
            not_before=START + (end - 90) * days,
            not_after=START + end * days,
            issuer="CN=Bench",
            subject_alt_names=("api.example",),
            version="TLSv1.3",
            chain_length=2,
            leaf_sha256=name,
            serial="01",
        )
        for name, end in (("old", 40.5), ("new", 130))
    )
    memory: Memory | None = None
    messages = 0
    for number in range(40 * 96):
        now = START + number * INTERVAL
        share = (now - START - since * days) / ((until - since) * days)
        report = replace(EMPTY, taken_at=now, certificate=new if chance.random() < share else old)
        changes = decide(memory, report, toolsets={}, settings="", policy=Policy(), now=now, run=str(number))
        memory = apply(memory, changes, report)
        messages += any(event.alerts for event in changes.events)
    return messages


def probe(
    memory: Memory | None,
    shown: tuple[str, str],
    *,
    policy: Policy,
    now: datetime,
    run: str,
    full: bool,
) -> tuple[Memory, Changes]:
    """One probe and what it changes."""
    state, toolset = shown
    name, _, code = state.partition(":")
    endpoint = Result(check="transport/endpoint", state=State(name), code=code or None)
    depth = Depth.FULL if full else Depth.LIGHT
    report = replace(EMPTY, taken_at=now, results=(endpoint,), depth=depth)
    pair = f"dw1:{toolset}.0"
    listed = name == State.VERIFIED
    observation = ToolsetObservation(subject=TOOLSET, pair=pair, algorithm="dw1", diff=None)
    changes = decide(
        memory,
        report,
        toolsets={TOOLSET: observation} if listed else {},
        settings="",
        policy=policy,
        now=now,
        run=run,
    )
    return apply(memory, changes, report), changes


EMPTY = Report(
    driftwatch="bench",
    server="api",
    url="https://api.example/mcp",
    taken_at=START,
    depth=Depth.LIGHT,
    trigger=Trigger.INTERVAL,
    duration_s=0.1,
    requests=3,
    reachable=True,
    credential="anonymous",
    surfaces=(),
    certificate=None,
    results=(),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--weeks", type=int, default=5, help="weeks to average over (default 5)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"Messages a week, mean of {options.weeks} weeks")
    print(f"{'':26}" + "".join(f"{name:>14}" for name in POLICIES) + f"{'probes a day':>14}")
    for name, server in SERVERS.items():
        line, probes = f"{name:26}", 0.0
        for policy in POLICIES.values():
            weeks = [week(server(), policy, options.seed + number) for number in range(options.weeks)]
            line += f"{sum(messages for messages, _ in weeks) / len(weeks):14.1f}"
            probes = sum(number for _, number in weeks) / len(weeks) / 7
        print(f"{line}{probes:14.0f}")
    print("Messages in 40 days in which a CDN rolls out a certificate that ends on day 40")
    for since, until in ((24, 28), (20, 30), (29, 36), (0, 36)):
        worst = max(rollout_of_a_certificate(since, until, options.seed + n) for n in range(options.weeks))
        print(f"{f'from day {since} to day {until}':26}{worst:14}")


if __name__ == "__main__":
    main()
