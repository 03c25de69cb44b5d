"""What a silence or a window is about."""

from datetime import timedelta
from typing import Any

import pytest

from driftwatch.alerts.quiet import Quiet, holding, in_force
from driftwatch.config import Window
from driftwatch.model import Event, EventKind, Level, Silence
from tests.quiet.street import HOUR, NOON

PROBLEMS = [{"check": "tls/chain"}, {"check": "tls/expiry"}]


def event(**changes: Any) -> Event:
    values: dict[str, Any] = {
        "server": "api",
        "kind": EventKind.CHANGE,
        "subject": "check:tls/chain",
        "details": {},
    }
    return Event(id="e", level=Level.ERROR, alerts=True, at=NOON, run=None, **(values | changes))


@pytest.mark.parametrize(
    ("quiet", "tags", "held"),
    [
        ({}, (), True),
        ({"servers": ("api",)}, (), True),
        ({"servers": ("lab",)}, (), False),
        ({"tags": ("prod",)}, ("prod", "eu"), True),
        ({"tags": ("prod",)}, (), False),
        ({"servers": ("lab",), "tags": ("prod",)}, ("prod",), True),
        ({"checks": ("tls/chain", "tls/expiry")}, (), True),
        ({"checks": ("tls/expiry",)}, (), False),
    ],
)
def test_a_silence_is_about_what_it_names(
    quiet: dict[str, Any], tags: tuple[str, ...], *, held: bool
) -> None:
    one = Quiet(name="silence 1", until=NOON, **quiet)
    assert holding([one], event(), tags) == ("silence 1" if held else None)


@pytest.mark.parametrize(
    ("checks", "about", "held"),
    [
        ("release/fingerprint", {"subject": "toolset:modern:token"}, True),
        ("release/replicas", {"subject": "toolset:modern:token", "kind": EventKind.UNSETTLED}, True),
        ("release/replicas", {"subject": "toolset:modern:token"}, False),
        ("mcp/era-coverage", {"subject": "eras", "kind": EventKind.ERA_CHANGED}, True),
        (
            "tls/chain tls/expiry",
            {"kind": EventKind.ADDED_WITH_PROBLEMS, "details": {"results": PROBLEMS}},
            True,
        ),
        ("tls/chain", {"kind": EventKind.ADDED_WITH_PROBLEMS, "details": {"results": PROBLEMS}}, False),
        ("tls/chain", {"subject": None}, False),
    ],
)
def test_a_silence_of_checks_holds_back_what_is_about_these_alone(
    checks: str, about: dict[str, Any], *, held: bool
) -> None:
    one = Quiet(name="silence 1", until=NOON, checks=tuple(checks.split()))
    assert one.covers(event(**about), ()) is held


def test_what_driftwatch_says_about_itself_is_never_held_back() -> None:
    assert not Quiet(name="everything", until=NOON).covers(event(server=None), ())


def test_what_ends_last_holds_an_event_back() -> None:
    silences = [
        Silence(
            id=name, servers=("api",), starts_at=NOON, ends_at=NOON + lasting, reason="r", created_by="ann"
        )
        for name, lasting in {"short": HOUR, "long": 3 * HOUR, "over": timedelta(0)}.items()
    ]
    window = Window.model_validate({"cron": "0 12 * * *", "duration": "2h"})
    found = in_force(silences, [window], NOON)
    assert [quiet.until for quiet in found] == [NOON + 3 * HOUR, NOON + 2 * HOUR, NOON + HOUR]
    assert holding(found, event(), ()) == "silence long"
