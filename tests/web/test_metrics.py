"""The numbers for Prometheus: their form, what they say, and what may stand in them."""

import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch import checks
from driftwatch.model import (
    Certificate,
    Event,
    EventKind,
    Level,
    State,
)
from driftwatch.store.ports import Backlog, RunSummary, ServerOverview, ServerRecord
from driftwatch.transitions import SubjectState
from driftwatch.web.metrics import service
from driftwatch.web.metrics.exposition import Family, Kind, escaped, exposition
from driftwatch.web.metrics.fleet import FAMILIES, FleetMetrics
from driftwatch.web.vitals import Vitals

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PAIR = f"dw1:{'a' * 64}.{'b' * 64}"


class Fleet:
    """What a store answers, and how often it was asked for whole servers."""

    def __init__(self, *names: str) -> None:
        self.probed: dict[str, datetime | None] = dict.fromkeys(names, NOW)
        self.states = {name: dict.fromkeys(("mcp/envelope", "tls/chain"), State.VERIFIED) for name in names}
        self.reachable = dict.fromkeys(names, True)
        self.happened: list[Event] = []
        self.asked: list[str] = []

    def last_probed(self) -> dict[str, datetime | None]:
        return self.probed

    def states_now(self, names: list[str]) -> dict[str, dict[str, State]]:
        return {name: self.states[name] for name in names}

    def overview(self, *, limit: int, names: list[str]) -> list[ServerOverview]:
        self.asked += names
        return [overview(name, self) for name in names]

    def runs(self, server: str, limit: int) -> list[RunSummary]:
        return [run(NOW - timedelta(hours=1), reachable=False), run(NOW - timedelta(hours=2))]

    def events(self, *, since: datetime, before: tuple[datetime, str] | None, limit: int) -> list[Event]:
        newest = sorted(self.happened, key=lambda event: (event.at, event.id), reverse=True)
        below = [one for one in newest if before is None or (one.at, one.id) < before]
        return [one for one in below if one.at >= since][:limit]


def run(at: datetime, *, reachable: bool = True) -> RunSummary:
    return RunSummary(
        id="1",
        taken_at=at,
        trigger="interval",
        depth="light",
        duration_s=0.25,
        requests=4,
        reachable=reachable,
        counts={},
    )


def overview(name: str, fleet: Fleet) -> ServerOverview:
    at = fleet.probed[name]
    counts = {state: sum(one is state for one in fleet.states[name].values()) for state in State}
    toolset = SubjectState(
        subject="toolset:modern:token",
        confirmed=PAIR,
        confirmed_since=NOW,
        last_observed_at=NOW,
        accepted="dw1:other",
    )
    return ServerOverview(
        record=ServerRecord(
            name=name,
            url="https://mcp.example.org/mcp",
            host="mcp.example.org:443",
            credential="token",
            revision="r",
            next_due_at=NOW,
            next_full_at=NOW,
        ),
        counts=counts,
        worst=max(counts, key=lambda state: bool(counts[state])),
        changed_at=None,
        last_run=run(at, reachable=fleet.reachable[name]) if at else None,
        certificate=Certificate(
            not_before=NOW,
            not_after=NOW + timedelta(days=72),
            issuer="CN=R11",
            subject_alt_names=(),
            version="TLSv1.3",
            chain_length=2,
            leaf_sha256="c" * 64,
            serial="1",
        ),
        toolsets=(toolset,),
        incidents=(),
    )


def event(name: str, kind: EventKind, at: datetime, server: str | None = None) -> Event:
    return Event(id=name, server=server, kind=kind, level=Level.INFO, alerts=False, at=at, run=None)


def text(metrics: FleetMetrics) -> str:
    return exposition(metrics.families()).decode()


def looked(
    fleet: Fleet, metrics: FleetMetrics | None = None, *, at: datetime = NOW, full: bool = True
) -> str:
    """The text after one more look."""
    metrics = FleetMetrics() if metrics is None else metrics
    metrics.update(fleet, at, full=full)  # type: ignore[arg-type]
    return text(metrics)


def everything(fleet: Fleet) -> str:
    """A whole scrape."""
    metrics = FleetMetrics()
    metrics.update(fleet, NOW, full=True)  # type: ignore[arg-type]
    about = service.families(
        Vitals(
            started_at=NOW,
            config_loaded_at=NOW,
            heartbeat_at=NOW,
            probes={("interval", "reachable"): 3},
            deliveries={("ops", "sent"): 2},
        ),
        servers=len(metrics),
        overdue=0,
        channels=["ops", "mail"],
        backlog=[Backlog(channel="mail", messages=2, oldest_at=NOW)],
        database_bytes=4096,
    )
    events = [service.EVENTS.sample(number, {"kind": kind}) for kind, number in metrics.events.items()]
    return exposition([*about, (service.EVENTS, events), *metrics.families()]).decode()


# --- the form


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_has_nothing_to_say_about_a_scrape() -> None:
    checked = subprocess.run(
        ["promtool", "check", "metrics"],
        input=everything(Fleet("a", "b")),
        text=True,
        capture_output=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_every_family_stands_together_under_its_own_help_and_type() -> None:
    lines = everything(Fleet("a", "b")).splitlines()
    seen: list[str] = []
    for line in lines:
        name = line.split()[2] if line.startswith("#") else re.split(r"[ {]", line)[0]
        if not seen or seen[-1] != name:
            seen.append(name)
    assert len(seen) == len(set(seen))
    assert {name for name in seen if name.endswith("_total")} == {
        line.split()[2] for line in lines if line.startswith("# TYPE") and line.endswith(" counter")
    }


def test_a_family_without_samples_is_left_out() -> None:
    assert exposition([(Family("a_b", "Nothing."), [])]) == b""


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_is_one_label_on_one_line(value: str) -> None:
    line = Family("a", "A.", Kind.GAUGE).sample(1, {"x": value}).decode()
    assert line.count("\n") == 1
    inner = re.fullmatch(r'a\{x="((?:[^"\\\n]|\\["\\n])*)"\} 1\n', line)
    assert inner is not None
    undone = re.sub(r'\\(["\\n])', lambda match: {"n": "\n"}.get(match[1], match[1]), inner[1])
    assert undone == value.encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize(
    ("value", "written"),
    [(1, "1"), (0.25, "0.25"), (1e9, "1000000000"), (float("inf"), "+Inf"), (float("nan"), "NaN")],
)
def test_numbers_are_written_as_prometheus_reads_them(value: float, written: str) -> None:
    assert Family("a", "A.").sample(value) == f"a {written}\n".encode()


def test_quotes_backslashes_and_line_breaks_are_escaped() -> None:
    assert escaped('a"b\\c\nd') == 'a\\"b\\\\c\\nd'


# --- what they say


def test_every_check_of_a_server_has_one_series_that_names_its_state() -> None:
    fleet = Fleet("a")
    fleet.states["a"] = {declared.id: State.VERIFIED for declared in checks.catalogue}
    fleet.states["a"]["mcp/envelope"] = State.FAILED
    told = looked(fleet)
    assert told.count("\ndriftwatch_check_state{") == len(checks.catalogue)
    assert 'driftwatch_check_state{server="a",check="mcp/envelope",state="failed"} 1\n' in told
    assert 'driftwatch_checks{server="a",state="failed"} 1\n' in told


def test_the_counts_mode_has_counts_and_no_series_per_check() -> None:
    told = looked(Fleet("a"), full=False)
    assert 'driftwatch_checks{server="a",state="verified"} 2\n' in told
    assert "driftwatch_check_state" not in told
    assert "driftwatch_toolset_info" not in told


def test_a_toolset_is_told_with_its_fingerprint_and_whether_it_is_accepted() -> None:
    assert (
        f'driftwatch_toolset_info{{server="a",era="modern",credential="token",fingerprint="{PAIR}",'
        'accepted="false"} 1\n'
    ) in looked(Fleet("a"))


def test_a_server_that_is_down_still_says_when_it_was_last_reached() -> None:
    fleet, metrics = Fleet("a"), FleetMetrics()
    fleet.reachable["a"] = False
    wanted = "driftwatch_probe_last_success_timestamp_seconds"
    assert f'{wanted}{{server="a"}} {int((NOW - timedelta(hours=2)).timestamp())}\n' in looked(fleet)
    fleet.reachable["a"] = True
    looked(fleet, metrics)
    fleet.reachable["a"], fleet.probed["a"] = False, NOW + timedelta(hours=1)
    assert f'{wanted}{{server="a"}} {int(NOW.timestamp())}\n' in looked(fleet, metrics)


def test_only_what_was_probed_or_had_an_event_is_read_again() -> None:
    fleet, metrics = Fleet("a", "b", "c"), FleetMetrics()
    looked(fleet, metrics)
    assert fleet.asked == ["a", "b", "c"]
    fleet.probed["b"] = NOW + timedelta(seconds=1)
    fleet.happened.append(event("1", EventKind.ACCEPTED, NOW + timedelta(seconds=1), "c"))
    fleet.states["c"]["mcp/envelope"] = State.FAILED
    told = looked(fleet, metrics, at=NOW + timedelta(seconds=2))
    assert fleet.asked == ["a", "b", "c", "b", "c"]
    assert 'server="c",check="mcp/envelope",state="failed"' in told
    looked(fleet, metrics, at=NOW + timedelta(seconds=3))
    assert fleet.asked == ["a", "b", "c", "b", "c"]


def test_a_server_that_is_gone_has_no_series_any_more() -> None:
    fleet, metrics = Fleet("a", "b"), FleetMetrics()
    looked(fleet, metrics)
    del fleet.probed["a"]
    assert 'server="a"' not in looked(fleet, metrics)


def test_events_are_counted_from_the_start_on_and_each_of_them_once() -> None:
    fleet, metrics = Fleet("a"), FleetMetrics()
    fleet.happened.append(event("old", EventKind.CHANGE, NOW - timedelta(seconds=5)))
    looked(fleet, metrics)
    fleet.happened += [
        event(f"{number:04}", EventKind.CHANGE, NOW + timedelta(seconds=1)) for number in range(1200)
    ]
    # Dated before the last look, committed after it.
    fleet.happened.append(event("late", EventKind.RECOVERY, NOW - timedelta(seconds=10)))
    for later in (2, 3, 120):
        looked(fleet, metrics, at=NOW + timedelta(seconds=later))
    assert metrics.events[EventKind.CHANGE] == 1200
    assert metrics.events[EventKind.RECOVERY] == 1
    assert set(metrics.events) == set(EventKind)


def test_counters_that_have_counted_nothing_are_zero_and_not_absent() -> None:
    told = everything(Fleet())
    assert 'driftwatch_probes_total{trigger="deploy",outcome="unreachable"} 0\n' in told
    assert 'driftwatch_deliveries_total{channel="mail",outcome="rejected"} 0\n' in told
    assert 'driftwatch_events_total{kind="toolset_changed"} 0\n' in told


def test_the_outbox_is_told_by_channel() -> None:
    told = everything(Fleet())
    assert 'driftwatch_outbox_pending_messages{channel="mail"} 2\n' in told
    assert 'driftwatch_outbox_pending_messages{channel="ops"} 0\n' in told
    oldest = f'driftwatch_outbox_oldest_message_timestamp_seconds{{channel="mail"}} {int(NOW.timestamp())}\n'
    assert oldest in told


def test_the_page_for_operators_names_every_metric_and_no_other(request: pytest.FixtureRequest) -> None:
    page = (request.config.rootpath / "docs/operate.md").read_text(encoding="utf-8")
    table = "".join(
        line for line in page.splitlines() if line.startswith("| `driftwatch_") or "process_" in line
    )
    told = set(re.findall(r"`((?:driftwatch|process)_\w+)`", table))
    assert told == {family.name for family in (*FAMILIES, *service.FAMILIES)}
