"""What holds for every history of a server."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch.model import Depth, Era, Event, EventKind, Trigger
from driftwatch.transitions import Changes, Memory, Policy, check_subject
from tests.transitions.timeline import (
    BEHIND_ENDPOINT,
    CHAIN,
    ENDPOINT,
    FINGERPRINT,
    HEALTHY,
    PAGINATION,
    Timeline,
    View,
    down,
)

BROKEN = HEALTHY.but(transport__content_type="failed:html")
VIEWS = (
    HEALTHY,
    down("dns"),
    down("timeout"),
    View(states={ENDPOINT: "not_checked:auth"}, causes=down().causes, tools={}),
    View(
        states={CHAIN: "failed:expired"},
        causes={ENDPOINT: CHAIN, **dict.fromkeys((*BEHIND_ENDPOINT, FINGERPRINT), ENDPOINT)},
        tools={},
    ),
    View(
        states={PAGINATION: "failed:page-error"},
        causes={"tool/name-charset": PAGINATION, FINGERPRINT: PAGINATION},
        tools={},
    ),
    BROKEN,
    HEALTHY.but(transport__content_type="failed:empty"),
    HEALTHY.but(transport__content_type="observed_risk:charset"),
    HEALTHY.but(transport__content_type="not_checked:bug"),
    HEALTHY.but(session__ended="failed:still-open"),
    HEALTHY.but(tls__expiry="observed_risk:7-days"),
    HEALTHY.but(release__fingerprint="not_checked:too-large"),
    HEALTHY.but(release__replicas="failed:differ").offering("abd"),
    HEALTHY.offering("abcd"),
    HEALTHY.offering("ab"),
    BROKEN.offering("abd"),
    HEALTHY.offering("abc", Era.LEGACY),
)
TOLD = frozenset(
    {
        *(EventKind.CHANGE, EventKind.RECOVERY, EventKind.COVERAGE_LOST, EventKind.COVERAGE_BACK),
        *(EventKind.TOOLSET_CHANGED, EventKind.TOOLSET_RETURNED, EventKind.ERA_CHANGED, EventKind.FLAPPING),
    }
)
"""The events that stand for one confirmed change."""


@dataclass(frozen=True)
class Probe:
    view: View
    after: int
    depth: Depth
    trigger: Trigger


probes = st.builds(
    Probe,
    view=st.sampled_from(VIEWS),
    after=st.sampled_from([15, 30, 45, 900, 3600, 8 * 3600]),
    depth=st.sampled_from(Depth),
    trigger=st.sampled_from([Trigger.INTERVAL, Trigger.CONFIRM, Trigger.DEPLOY]),
)
stretches = st.lists(st.tuples(probes, st.integers(1, 5)), max_size=14)
"""Some probes in a row see the same: otherwise next to nothing would ever be confirmed."""


def walk(timeline: Timeline, history: Sequence[tuple[Probe, int]]) -> None:
    for probe, times in history:
        for _ in range(times):
            timeline.now += timedelta(seconds=probe.after)
            before = timeline.memory
            timeline.probe(probe.view, depth=probe.depth, trigger=probe.trigger)
            assert timeline.memory
            if before is not None:
                every_event_stands_for_a_change(before, timeline.memory, timeline.changes)
                every_change_has_its_event(before, timeline.memory, timeline.changes)
            what_is_blocked_says_nothing(timeline.changes, probe.view)
            what_belongs_into_the_history_is_no_alert(timeline.changes)
            incidents_and_states_agree(timeline.memory)
            stretches_follow_each_other(before, timeline.changes)
            confirm = timeline.changes.confirm
            assert confirm is None or confirm.due_at >= timeline.now


def every_event_stands_for_a_change(before: Memory, after: Memory, changes: Changes) -> None:
    for event in changes.events:
        if event.kind in TOLD:
            assert event.subject
            assert event.before == before.states[event.subject].confirmed
            assert event.after == after.states[event.subject].confirmed
            assert event.before != event.after


def every_change_has_its_event(before: Memory, after: Memory, changes: Changes) -> None:
    listed = [
        subject
        for event in changes.events
        if event.kind is EventKind.REBASED
        for subject in (*event.details["added"], *(item["subject"] for item in event.details["moved"]))
    ]
    for subject, state in after.states.items():
        old = before.states.get(subject)
        if old is not None and (old.confirmed == state.confirmed or state.accepted is None):
            continue
        told = [event for event in changes.events if event.subject == subject and event.kind in TOLD]
        silent = subject == check_subject(FINGERPRINT)
        assert len(told) + listed.count(subject) == 1 or (silent and not told)
        values = [stretch.value for stretch in changes.intervals if stretch.subject == subject]
        assert values == [state.confirmed]


def what_is_blocked_says_nothing(changes: Changes, view: View) -> None:
    blocked = {check_subject(check) for check in view.causes}
    assert not [event for event in changes.events if event.subject in blocked]


def what_belongs_into_the_history_is_no_alert(changes: Changes) -> None:
    history = {EventKind.BASELINE, EventKind.BLIP, EventKind.REBASED, EventKind.TLS_RENEWED}
    assert not [event for event in changes.events if event.kind in history and event.alerts]


def incidents_and_states_agree(memory: Memory) -> None:
    assert {subject: incident.id for subject, incident in memory.incidents.items()} == {
        subject: state.incident for subject, state in memory.states.items() if state.incident
    }


def stretches_follow_each_other(before: Memory | None, changes: Changes) -> None:
    for stretch in changes.intervals:
        state = before.states.get(stretch.subject) if before else None
        assert state is None or stretch.since >= (state.blocked_since or state.confirmed_since)


def everything_about_incidents_was_said(events: Sequence[Event], all_changes: Sequence[Changes]) -> None:
    alerted = {event.id for event in events if event.alerts}
    opening = {item.id: item.opening_event for changes in all_changes for item in changes.incidents}
    for event in events:
        incident = event.details.get("incident")
        if incident is not None:
            assert opening[incident] in alerted
    assert set(opening.values()) <= alerted


@settings(max_examples=120, deadline=None)
@given(stretches)
def test_every_confirmed_change_is_one_event_and_nothing_else_is(
    history: list[tuple[Probe, int]],
) -> None:
    timeline = Timeline()
    walk(timeline, history)
    ids = [event.id for event in timeline.events]
    assert len(ids) == len(set(ids))


@settings(max_examples=60, deadline=None)
@given(stretches, probes)
def test_what_was_said_last_is_true_and_then_there_is_silence(
    history: list[tuple[Probe, int]], last: Probe
) -> None:
    timeline = Timeline()
    all_changes = []
    for probe in (*history, (replace(last, after=900, depth=Depth.FULL, trigger=Trigger.INTERVAL), 30)):
        for _ in range(probe[1]):
            walk(timeline, [(probe[0], 1)])
            all_changes.append(timeline.changes)
    everything_about_incidents_was_said(timeline.events, all_changes)
    assert timeline.memory
    for subject, state in timeline.memory.states.items():
        told = [event for event in timeline.events if event.subject == subject and event.alerts]
        seen = state.last_observed_at == timeline.memory.last_run_at
        if told and seen and subject != check_subject(FINGERPRINT):
            assert told[-1].after == state.confirmed
    for result in timeline.report(last.view, Depth.FULL, Trigger.INTERVAL).results:
        state = timeline.memory.states[check_subject(result.check)]
        assert state.pending is None
        if result.cause is None:
            assert state.blocked_by is None
            shown = "verified" if result.state == "verified" else f"{result.state}:{result.code}"
            assert state.confirmed == shown
        else:
            assert state.blocked_by is not None
    said = len(timeline.events)
    walk(timeline, [(replace(last, after=900), 4)])
    assert len(timeline.events) == said
    assert timeline.changes.intervals == ()
    assert timeline.changes.confirm is None


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_whatever_a_server_does_it_is_not_probed_without_pause(data: st.DataObject) -> None:
    timeline = Timeline()
    views = data.draw(st.lists(st.sampled_from(VIEWS), min_size=1, max_size=6))
    sequence = data.draw(st.lists(st.sampled_from(views), min_size=1, max_size=40))
    timeline.run(timedelta(hours=12), lambda _: sequence[timeline.made % len(sequence)])
    regular, closer = 12 * 4, 2 * Policy().reprobes
    # What comes out of calm is looked at again at once, whatever was spent on answers that take turns.
    assert timeline.made < 3 * regular + closer
