"""When a deploy has settled: agreeing reads, each on a connection of its own, until the time is up. Pure.

The first read is a full probe. Later ones are light, because a rollout shows in the tool list and the
certificate, and both are in a light probe: asking the deliberate bad requests again and again would only be
a burden. Two things ask for another full one: an answer that no full probe has seen yet, and a check in doubt
that only a full probe exercises.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from driftwatch.model import Json

ROOT = "root"
"""What stands for the toolsets of a server that never showed one: the state of its endpoint."""

PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(seconds=30)
"""Between two reads: a rollout that takes its time is read less and less often."""

_EACH_PAUSE = 6
"""So many reads until the pause grows."""

_AGAIN = 2
"""An answer that was left before has to agree this many times as often: a rollout may be half-way."""


class Phase(Enum):
    """What a read means for the run."""

    READING = auto()
    SETTLED = auto()
    UNSETTLED = auto()
    """The time is up, and the answers differ."""
    LOST = auto()
    """The time is up, and the server does not show what it showed before."""
    UNSURE = auto()
    """The time is up, and too few reads saw anything; those that did agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a run settles."""

    reads: int = 3
    """Agreeing reads in a row."""
    timeout: timedelta = timedelta(minutes=5)
    """Counted from the first read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one read saw."""

    at: datetime
    full: bool
    toolsets: Mapping[str, str]
    """The fingerprint's pair by subject; empty where no list was read to its end."""
    root: str
    """The value of the root check, such as ``verified`` or ``failed:refused``."""
    also: Mapping[str, str] = field(default_factory=dict)
    """The pairs of other lists that the same read was shown, by subject."""
    in_doubt: bool = False
    """Whether it was shown several, or met instances that differ: then it agrees with nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of the server, and how often it came."""

    toolsets: Mapping[str, str]
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: all that it needs to go on after a restart.

    A read that shows neither a list nor what stands for one says nothing of the release: a server that
    restarts is read again until the time is up.
    """

    started_at: datetime
    before: Mapping[str, str] = field(default_factory=dict)
    """The confirmed pairs when the run began, by subject."""
    accepted: Mapping[str, str] = field(default_factory=dict)
    """The accepted ones then: what a gate compares with."""
    root: str | None = None
    """What the root check showed then, where that stands for the list of a server that shows none."""
    reads: int = 0
    agreeing: int = 0
    """Reads in a row with the latest answer."""
    thorough: bool = False
    """One of them was a full probe."""
    returned: bool = False
    """The latest answer is one that another had replaced."""
    in_doubt: bool = False
    """The latest read met instances that differ."""
    eras: Mapping[str, int] = field(default_factory=dict)
    """How often each set of eras was spoken."""
    revisions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The same of the revisions of each era, by subject."""
    latest: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    """In the order in which they came first."""

    def to_json(self) -> dict[str, Json]:
        """The progress as a JSON object."""
        return {
            "started_at": self.started_at.isoformat(),
            "before": dict(self.before),
            "accepted": dict(self.accepted),
            "root": self.root,
            "reads": self.reads,
            "agreeing": self.agreeing,
            "thorough": self.thorough,
            "returned": self.returned,
            "in_doubt": self.in_doubt,
            "eras": dict(self.eras),
            "revisions": {subject: dict(spoken) for subject, spoken in self.revisions.items()},
            "latest": dict(self.latest),
            "answers": [
                {"toolsets": dict(answer.toolsets), "times": answer.times} for answer in self.answers
            ],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "Progress":
        """Read what to_json wrote. Raises KeyError or TypeError for anything else."""
        return cls(
            **{
                **value,
                "started_at": datetime.fromisoformat(value["started_at"]),
                "answers": tuple(Answer(**answer) for answer in value["answers"]),
            }
        )

    @property
    def changed(self) -> bool:
        """Whether the latest answer differs from what was there before."""
        return any(self.before.get(subject, pair) != pair for subject, pair in self.latest.items())

    @property
    def differs(self) -> bool:
        """Whether reads showed several lists, or met instances that speak otherwise."""
        spoken = (self.eras, *self.revisions.values())
        return self.in_doubt or len(self.answers) > 1 or any(len(values) > 1 for values in spoken)

    @property
    def drifted(self) -> dict[str, tuple[str, str]]:
        """What was accepted and what the latest answer shows instead, by subject."""
        return {
            subject: (self.accepted[subject], pair)
            for subject, pair in self.latest.items()
            if self.accepted.get(subject, pair) != pair
        }

    def spoken(self, subject: str) -> dict[str, int]:
        """How often each value of one subject was read."""
        counts: dict[str, int] = {}
        for answer in self.answers:
            value = answer.toolsets.get(subject)
            if value is not None:
                counts[value] = counts.get(value, 0) + answer.times
        return counts


def advance(progress: Progress, look: Look) -> Progress:
    """Let one read count."""
    answer = look.toolsets or ({ROOT: look.root} if look.root == progress.root else {})
    progress = replace(progress, reads=progress.reads + 1, in_doubt=look.in_doubt)
    if not answer:
        return replace(progress, agreeing=0, thorough=False, latest={})
    known = [each.toolsets for each in progress.answers]
    answers = _counted(progress.answers, answer)
    if look.in_doubt:
        answers = _counted(answers, {**answer, **look.also}) if look.also else answers
        return replace(progress, agreeing=0, thorough=False, latest=answer, answers=answers)
    if answer == progress.latest:
        return replace(
            progress,
            agreeing=progress.agreeing + 1,
            thorough=progress.thorough or look.full,
            answers=answers,
        )
    returned = answer in known and len(known) > 1
    return replace(
        progress, agreeing=1, thorough=look.full, returned=returned, latest=answer, answers=answers
    )


def anew(progress: Progress, now: datetime) -> Progress:
    """The progress of a run that begins again, with all its time; what was there before it stays."""
    return Progress(started_at=now, before=progress.before, accepted=progress.accepted, root=progress.root)


def _counted(answers: tuple[Answer, ...], answer: Mapping[str, str]) -> tuple[Answer, ...]:
    """The answers with this one, which may be among them."""
    known = [each.toolsets for each in answers]
    if answer not in known:
        return (*answers, Answer(toolsets=answer, times=1))
    place = known.index(answer)
    again = replace(answers[place], times=answers[place].times + 1)
    return (*answers[:place], again, *answers[place + 1 :])


def phase(progress: Progress, rules: Rules, now: datetime, *, pending: bool = False) -> Phase:
    """Whether the run is over, after a read; ``pending`` says that a check or a toolset is still in doubt."""
    needed = rules.reads * (_AGAIN if progress.returned else 1)
    over = now - progress.started_at >= rules.timeout
    agreed = progress.agreeing >= needed
    if agreed and (over or (progress.thorough and not pending)):
        return Phase.SETTLED
    if not over:
        return Phase.READING
    if not progress.latest:
        return Phase.LOST
    return Phase.UNSETTLED if progress.differs else Phase.UNSURE


def next_read(progress: Progress, rules: Rules, now: datetime) -> datetime:
    """When the next read is due: one of them is made when the time is up."""
    pause = min(PAUSE * (1 + progress.reads // _EACH_PAUSE), LONGEST_PAUSE)
    return max(now, min(now + pause, progress.started_at + rules.timeout))
