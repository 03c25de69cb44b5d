"""What will happen, and what has to be told of it (pure, from a seed).

A server has at most one story: what it does, when, and which words about it each channel has to hear, no more
and no less. Many have none and must never be heard of.
"""

import random
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bench.simulated import Fault, Shown, Tools, tools_of
from driftwatch.toolset import Toolset, fingerprint

USUAL = tools_of(4)
WORDS: dict[Fault, tuple[str, str]] = {
    "down": ("change check:transport/endpoint", "recovery check:transport/endpoint"),
    "error": ("change check:transport/endpoint", "recovery check:transport/endpoint"),
    "drip": ("change check:transport/endpoint", "recovery check:transport/endpoint"),
    "cut": ("coverage_lost check:tools/pagination", "coverage_back check:tools/pagination"),
    "mistyped": ("change check:transport/content-type", "recovery check:transport/content-type"),
}
"""What is told when a fault begins and when it is over; everything behind its cause is folded into that."""

Mode: TypeAlias = Literal["refuses", "hangs", "drops"]
MODES: tuple[Mode, ...] = ("refuses", "hangs", "drops")


@dataclass(frozen=True, slots=True)
class Show:
    """A server shows something else."""

    at: float
    server: int
    shown: Shown


@dataclass(frozen=True, slots=True)
class Announce:
    """The deploy webhook is called."""

    at: float
    ref: str
    servers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """The configuration is edited and the service told to read it again."""

    at: float
    how: Literal["add", "remove", "rename", "break", "mend"]
    server: int = -1


@dataclass(frozen=True, slots=True)
class Restart:
    """The service is ended and started again after a pause."""

    at: float
    how: signal.Signals
    pause: float


@dataclass(frozen=True, slots=True)
class Outage:
    """A channel takes nothing for a while."""

    at: float
    until: float
    mode: Mode


Action: TypeAlias = Show | Announce | Edit | Restart


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """The times that stories are made of, in seconds."""

    every: float
    end: float
    loss_confirm: float
    slow: float = 90
    """What three probes take longer that run into their deadline."""

    @property
    def seen(self) -> float:
        """After this a change is confirmed: the next probe, two more looks, and patience for a restart."""
        return 2 * self.every + 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that will happen, in seconds from the beginning, and the words that have to be told."""

    present: tuple[int, ...]
    """The servers that are configured at first."""
    actions: tuple[Action, ...]
    outages: tuple[Outage, ...]
    expected: dict[int, tuple[str, ...]]
    rejected: int
    """How often the configuration is broken."""


@dataclass(frozen=True, slots=True)
class Story:
    """What one server, or those of one deploy, do."""

    actions: tuple[Action, ...]
    expected: tuple[str, ...] = ()


Dice: TypeAlias = random.Random
Teller: TypeAlias = Callable[[int, Dice, Rhythm], Story]


def toolset(tools: Tools) -> str:
    """The word for a toolset that became another one."""
    return f"toolset {fingerprint(Toolset(tuple(dict(tool) for tool in tools), None)).pair}"


def _added(tools: Tools, name: str) -> Tools:
    return (*tools, {**tools[0], "name": name})


def _renamed(tools: Tools, name: str) -> Tools:
    return ({**tools[0], "name": name}, *tools[1:])


def _reworded(tools: Tools, name: str) -> Tools:
    return ({**tools[0], "description": f"Looks {name} up."}, *tools[1:])


def _with_parameter(tools: Tools, name: str, *, required: bool) -> Tools:
    schema: dict[str, Any] = dict(tools[0]["inputSchema"])
    schema["properties"] = {**schema["properties"], name: {"type": "string", "description": "More."}}
    schema["required"] = [*schema["required"], name] if required else schema["required"]
    return ({**tools[0], "inputSchema": schema}, *tools[1:])


def changed(tools: Tools, name: str, dice: Dice) -> Tools:
    """The tools with one change, breaking or not, that no other server makes."""
    how = dice.randrange(5)
    if how == 0:
        return _added(tools, name)
    if how == 1:
        return _renamed(tools, name)
    if how == 2:
        return _reworded(tools, name)
    return _with_parameter(tools, name, required=how == 3)


def begin(dice: Dice, rhythm: Rhythm, length: float) -> float:
    """When a story begins that takes so long."""
    return dice.uniform(0, max(0.0, rhythm.end - length))


def change(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """The toolset changes."""
    tools = changed(USUAL, f"c{server}", dice)
    return Story((Show(begin(dice, rhythm, rhythm.seen), server, Shown(tools=tools)),), (toolset(tools),))


def two_changes(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """It changes again, once the first change is confirmed."""
    first = changed(USUAL, f"c{server}", dice)
    second = _added(first, f"d{server}")
    at = begin(dice, rhythm, 2 * rhythm.seen)
    return Story(
        (
            Show(at, server, Shown(tools=first)),
            Show(at + rhythm.seen, server, Shown(tools=second)),
        ),
        (toolset(first), toolset(second)),
    )


def loss(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """A tool is gone for good."""
    at = begin(dice, rhythm, rhythm.seen + rhythm.loss_confirm)
    return Story((Show(at, server, Shown(tools=USUAL[:-1])),), (toolset(USUAL[:-1]),))


def blip(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """Another list for a single look: nothing is told."""
    tools = changed(USUAL, f"c{server}", dice)
    return Story((Show(begin(dice, rhythm, rhythm.seen), server, Shown(tools=tools, reads=1)),))


def half(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """Half the list for less than a loss takes to count: nothing is told."""
    lasts = dice.uniform(0.2, 0.7) * rhythm.loss_confirm
    at = begin(dice, rhythm, lasts + rhythm.every)
    return Story(
        (Show(at, server, Shown(tools=USUAL[:2])), Show(at + lasts, server, Shown(tools=USUAL))),
    )


def fault(server: int, dice: Dice, rhythm: Rhythm, *, behind: bool = False) -> Story:
    """The server fails for some minutes, and perhaps comes back with other tools."""
    kind = dice.choice(tuple(WORDS))
    lasts = rhythm.seen + rhythm.slow + dice.uniform(0, rhythm.every)
    at = begin(dice, rhythm, lasts + rhythm.seen)
    tools = changed(USUAL, f"c{server}", dice) if behind else USUAL
    return Story(
        (Show(at, server, Shown(tools=USUAL, fault=kind)), Show(at + lasts, server, Shown(tools=tools))),
        (*WORDS[kind], *((toolset(tools),) if behind else ())),
    )


def change_behind_a_fault(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """The toolset changes while nobody can look."""
    return fault(server, dice, rhythm, behind=True)


def rename(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """The server gets another name in the configuration, and later other tools."""
    tools = changed(USUAL, f"c{server}", dice)
    at = begin(dice, rhythm, 2 * rhythm.seen)
    return Story(
        (Edit(at, "rename", server), Show(at + rhythm.every, server, Shown(tools=tools))), (toolset(tools),)
    )


def remove(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """The server is not watched any more, and changes then."""
    tools = changed(USUAL, f"c{server}", dice)
    at = begin(dice, rhythm, rhythm.seen)
    # A probe that is on its way when the file is read ends as it began.
    return Story((Edit(at, "remove", server), Show(at + 30, server, Shown(tools=tools))))


def add(server: int, dice: Dice, rhythm: Rhythm) -> Story:
    """A server is watched from now on, and changes after its baseline."""
    tools = changed(USUAL, f"c{server}", dice)
    at = begin(dice, rhythm, 2 * rhythm.seen)
    return Story(
        (Edit(at, "add", server), Show(at + rhythm.seen, server, Shown(tools=tools))), (toolset(tools),)
    )


SHARES: Sequence[tuple[Teller, float]] = (
    (change, 0.22),
    (two_changes, 0.04),
    (loss, 0.02),
    (blip, 0.06),
    (half, 0.04),
    (fault, 0.1),
    (change_behind_a_fault, 0.03),
    (rename, 0.02),
    (remove, 0.02),
    (add, 0.02),
)
"""How much of the fleet has which story; deploys come on top."""
DEPLOYS = 0.03
"""Deploys for each server of the fleet; each is of a few servers, and one in three changes nothing."""


def deploys(servers: Iterator[int], number: int, dice: Dice, rhythm: Rhythm) -> Iterator[tuple[int, Story]]:
    """Releases that are announced as they come, each with the stories of its servers."""
    for place in range(number):
        ref, at = f"r{place}", begin(dice, rhythm, rhythm.seen)
        members = [next(servers) for _ in range(dice.randint(2, 4))]
        yield members[0], Story((Announce(at, ref, tuple(members)),))
        if place % 3 == 2:
            continue
        for server in members:
            tools = changed(USUAL, f"c{server}", dice)
            yield server, Story((Show(at, server, Shown(tools=tools)),), (f"{toolset(tools)} by {ref}",))


def restarts(dice: Dice, rhythm: Rhythm, number: int) -> Iterator[Restart]:
    """In the first half, so that the second one shows what a process that lives long needs."""
    for place in range(number):
        at = rhythm.end * (0.05 + 0.42 * (place + dice.random() * 0.6) / number)
        how = signal.SIGKILL if place % 2 else signal.SIGTERM
        yield Restart(at, how, dice.uniform(0, 15))


def outages(dice: Dice, rhythm: Rhythm) -> Iterator[Outage]:
    """A third of the time, each in another way."""
    cycle = rhythm.end / 6
    for place in range(6):
        at = place * cycle + dice.uniform(0, 0.6) * cycle
        yield Outage(at, at + cycle / 3, MODES[place % len(MODES)])


def breakages(dice: Dice, rhythm: Rhythm, number: int) -> Iterator[Edit]:
    """The file is faulty for half a minute; not while restarts need one that is in order."""
    for place in range(number):
        at = rhythm.end * (0.55 + 0.4 * (place + 0.5 * dice.random()) / number)
        yield Edit(at, "break")
        yield Edit(at + 30, "mend")


def plan(seed: int, servers: int, rhythm: Rhythm) -> Plan:
    """The whole of it."""
    dice = random.Random(seed)
    numbers = list(range(servers))
    dice.shuffle(numbers)
    free = iter(numbers)
    stories: list[tuple[int, Story]] = []
    for teller, share in SHARES:
        for _ in range(max(1, round(share * servers))):
            server = next(free)
            stories.append((server, teller(server, dice, rhythm)))
    stories += deploys(free, max(2, round(DEPLOYS * servers)), dice, rhythm)
    actions: list[Action] = [action for _, story in stories for action in story.actions]
    broken = 3
    actions += [*restarts(dice, rhythm, 6), *breakages(dice, rhythm, broken)]
    expected: dict[int, tuple[str, ...]] = {}
    for server, story in stories:
        expected[server] = expected.get(server, ()) + story.expected
    late = {action.server for action in actions if isinstance(action, Edit) and action.how == "add"}
    return Plan(
        present=tuple(number for number in range(servers) if number not in late),
        actions=tuple(sorted(actions, key=lambda action: action.at)),
        outages=tuple(outages(dice, rhythm)),
        expected=expected,
        rejected=broken,
    )
