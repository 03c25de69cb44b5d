from dataclasses import replace
from datetime import timedelta

import pytest

from driftwatch.model import EventKind
from driftwatch.transitions import Incident, Policy, check_subject
from tests.transitions.timeline import ENDPOINT, HEALTHY, MODERN, Timeline, down

SUBJECT = check_subject(ENDPOINT)
DAY = timedelta(hours=24)


def open_incident(timeline: Timeline, subject: str = SUBJECT) -> Incident:
    assert timeline.memory
    return timeline.memory.incidents[subject]


def test_an_incident_begins_with_the_first_sighting_and_the_alert_about_it() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    began = timeline.now = timeline.now + DAY
    timeline.probes(3, down())
    incident = open_incident(timeline)
    (change,) = timeline.of(EventKind.CHANGE)
    assert incident.opened_at == began == change.since
    assert incident.opening_event == change.id
    assert change.details["incident"] == incident.id
    assert incident.value == "failed:dns"
    assert timeline.memory
    assert timeline.memory.states[SUBJECT].incident == incident.id


def test_its_recovery_closes_it() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down())
    incident = open_incident(timeline)
    timeline.probes(3, HEALTHY)
    (closed,) = timeline.changes.incidents
    (recovery,) = timeline.of(EventKind.RECOVERY)
    assert (closed.id, closed.closing_event, closed.closed_at) == (incident.id, recovery.id, recovery.at)
    assert recovery.details["incident"] == incident.id
    assert timeline.memory
    assert timeline.memory.incidents == {}
    assert timeline.memory.states[SUBJECT].incident is None


def test_errors_are_reminded_of_and_warnings_are_not() -> None:
    timeline = Timeline(policy=Policy(reminder=DAY))
    timeline.probe(HEALTHY)
    timeline.probes(3, down())
    assert open_incident(timeline).next_reminder_at == timeline.events[-1].at + DAY
    risky = Timeline()
    risky.probe(HEALTHY)
    risky.probes(3, HEALTHY.but(transport__content_type="observed_risk:charset"))
    assert open_incident(risky, check_subject("transport/content-type")).next_reminder_at is None


def test_what_was_failed_from_the_beginning_has_an_incident_and_no_reminder() -> None:
    timeline = Timeline()
    timeline.probe(down())
    incident = open_incident(timeline)
    assert incident.opening_event == timeline.of(EventKind.ADDED_WITH_PROBLEMS)[0].id
    assert incident.next_reminder_at is None
    timeline.probes(3, HEALTHY)
    assert timeline.of(EventKind.RECOVERY)[0].details["incident"] == incident.id


def test_what_was_at_risk_from_the_beginning_recovers_without_an_incident() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY.but(transport__content_type="observed_risk:charset"))
    began = timeline.memory
    timeline.probes(3, HEALTHY)
    (recovery,) = timeline.of(EventKind.RECOVERY)
    assert recovery.details["incident"] is None
    assert began
    assert recovery.since == began.last_run_at


def test_another_bad_value_carries_it_on_and_ends_the_acknowledgement() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down("dns"))
    incident = open_incident(timeline)
    assert timeline.memory
    acked = replace(incident, acked_at=timeline.now, acked_by="ada")
    timeline.memory = replace(timeline.memory, incidents={SUBJECT: acked})
    timeline.probes(3, down("dns"))
    assert open_incident(timeline).acked_by == "ada"
    timeline.probes(3, down("refused"))
    carried_on = open_incident(timeline)
    assert (carried_on.id, carried_on.value, carried_on.acked_at) == (incident.id, "failed:refused", None)
    assert carried_on.opened_at == incident.opened_at


def test_losing_sight_of_it_neither_closes_nor_changes_it() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    broken = HEALTHY.but(transport__content_type="failed:html")
    subject = check_subject("transport/content-type")
    timeline.probes(3, broken)
    incident = open_incident(timeline, subject)
    timeline.probes(3, HEALTHY.but(transport__content_type="not_checked:auth"))
    assert open_incident(timeline, subject) == incident
    timeline.probes(3, down())
    timeline.probes(3, broken)
    assert open_incident(timeline, subject).id == incident.id


def test_a_toolset_has_one_until_it_is_accepted_or_back() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, HEALTHY.offering("abd"))
    first = open_incident(timeline, MODERN)
    timeline.probes(3, HEALTHY.offering("abe"))
    assert open_incident(timeline, MODERN).id == first.id
    timeline.probes(3, HEALTHY)
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_an_incident_that_opens_again_is_another_one() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    ids = set()
    for _ in range(2):
        timeline.now += DAY
        timeline.probes(3, down())
        ids.add(open_incident(timeline).id)
        timeline.probes(3, HEALTHY)
    assert len(ids) == 2


@pytest.mark.parametrize(("flap_count", "opened_by"), [(4, EventKind.CHANGE), (3, EventKind.FLAPPING)])
def test_flapping_is_one_incident_until_it_settles(flap_count: int, opened_by: EventKind) -> None:
    timeline = Timeline(policy=Policy(flap_count=flap_count))
    timeline.probe(HEALTHY)
    for _ in range(2):
        timeline.probes(3, down())
        timeline.probes(3, HEALTHY)
    incident = open_incident(timeline)
    assert incident.opening_event == [event for event in timeline.of(opened_by) if event.alerts][-1].id
    timeline.probes(3, down())
    timeline.probes(3, HEALTHY)
    assert open_incident(timeline).id == incident.id
    timeline.probes(12, HEALTHY)
    assert timeline.memory
    assert timeline.memory.incidents == {}
    assert timeline.of(EventKind.SETTLED)[0].details["incident"] == incident.id
