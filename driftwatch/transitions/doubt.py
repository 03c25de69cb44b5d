"""What a report cannot tell from chance: instances in turn, lists that change at every read, silent eras."""

from dataclasses import replace

from driftwatch.model import Depth, Era, Result, State
from driftwatch.transitions.confirmation import NO_WAIT, Sighting, put_off, wait
from driftwatch.transitions.ledger import Ledger
from driftwatch.transitions.memory import SubjectState
from driftwatch.transitions.subjects import ERAS, check_subject, is_spoken
from driftwatch.transitions.values import (
    CHANGES,
    ENDPOINT,
    ERA_COVERAGE,
    INSTANCE_GONE,
    INSTANCES_DIFFER,
    LISTS_DIFFER,
    NOT_APPLICABLE,
    REPLICAS,
    STABLE_LISTING,
    code_of,
    eras_of,
    eras_value,
    state_of,
    value_of,
)

_BAD = frozenset({State.FAILED, State.OBSERVED_RISK})

_SPOKEN_OTHERWISE = frozenset({"eras-differ", "revisions-differ"})
"""What release/replicas finds where an instance does not understand what another one has begun."""

_OF_LISTS = ("tool/", "schema/")
"""How the checks begin whose findings are in a tool list: perhaps of one instance, or of a mixture."""

_BY_CHANCE = 4
"""So many times as many observations must agree where they may do so by chance."""

_OF_ERAS = frozenset({ERA_COVERAGE, "mcp/protocol-version"})
"""Checks of what the very eras and revisions are, which apply to every one of them."""


def decides(ledger: Ledger) -> bool:
    """Whether this report may confirm what only several reads of one list can tell from chance."""
    policy = ledger.policy
    return ledger.report.depth is Depth.FULL or policy.confirm == 1 or not policy.confirm_delays


def in_turn(ledger: Ledger) -> bool:
    """Whether several lists answer in turn, as far as is known: then none of them is a change."""
    return _is_or_may_be(ledger, REPLICAS, LISTS_DIFFER)


def eras_in_turn(ledger: Ledger) -> bool:
    """Whether instances that speak different eras or revisions answer in turn, as far as is known."""
    return _is_or_may_be(ledger, REPLICAS, INSTANCES_DIFFER)


def eras_unclear(ledger: Ledger) -> bool:
    """Whether it is open which eras and revisions are spoken: then what hangs on them is no change either."""
    spoken = [state for state in ledger.states().values() if is_spoken(state.subject)]
    return eras_in_turn(ledger) or any(state.pending is not None or state.flapping for state in spoken)


def explained(ledger: Ledger, check: str) -> bool:
    """Whether a check that speaks for what takes turns was told already."""
    state = ledger.state(check_subject(check))
    return state is not None and state_of(state.confirmed) in _BAD


def silent(ledger: Ledger) -> frozenset[Era]:
    """The eras that were spoken and now give no clear answer, which ends neither them nor their faults."""
    eras, heard = ledger.state(ERAS), {surface.era for surface in ledger.report.surfaces}
    known = eras_of(eras.confirmed) if eras is not None and heard else frozenset()
    return (known - heard).intersection(ledger.unclear)


def hangs_on_eras(ledger: Ledger, result: Result) -> bool:
    """Whether a check shows another value because another era or revision is spoken."""
    state, value = ledger.state(check_subject(result.check)), value_of(result)
    if state is None or (value == state.confirmed and state.pending is None):
        return False
    return result.check in _OF_ERAS or NOT_APPLICABLE in {value, state.confirmed, state.pending}


def unproven(ledger: Ledger, state: SubjectState, sighting: Sighting, result: Result) -> SubjectState | None:
    """What is remembered of a check about which this result proves nothing; None where it may count.

    In this order: instances that agree a moment after they differed leave everything as it is, those that
    agree on something else than in the last probe begin a new count, and what only another instance or a
    silent era may show waits.
    """
    if _agrees_by_chance(ledger, state, result):
        return replace(state, last_observed_at=ledger.at)
    if _agrees_with_others(ledger, state, result):
        return wait(put_off(state), sighting)
    if _may_be_another(ledger, state, result):
        ledger.doubted.add(state.subject)
        return wait(state, sighting)
    return None


def _agrees_by_chance(ledger: Ledger, state: SubjectState, result: Result) -> bool:
    """Whether instances that differed a moment ago may be the same ones still, although they agree now."""
    if state.pending not in INSTANCES_DIFFER or state.pending_since is None:
        return False
    moment = 2 * max(ledger.policy.confirm_delays, default=NO_WAIT)
    return result.state is State.VERIFIED and ledger.at - state.pending_since <= moment


def _agrees_with_others(ledger: Ledger, state: SubjectState, result: Result) -> bool:
    """Whether instances agree within this probe, but not with the probe before: that begins a new count."""
    eras = ledger.state(ERAS)
    if state.confirmed not in INSTANCES_DIFFER or result.state is not State.VERIFIED or eras is None:
        return False
    return eras_value(surface.era for surface in ledger.report.surfaces) != (eras.pending or eras.confirmed)


def _may_be_another(ledger: Ledger, state: SubjectState, result: Result) -> bool:
    """Whether a check may show this only because another instance answers, half-way perhaps, or none does."""
    of_lists = result.check.startswith(_OF_LISTS) and in_turn(ledger)
    of_eras = hangs_on_eras(ledger, result) and eras_unclear(ledger)
    return (
        of_lists
        or of_eras
        or _is_of_differing_eras(ledger, state, result)
        or _is_of_silent_eras(ledger, state, result)
    )


def _is_of_silent_eras(ledger: Ledger, state: SubjectState, result: Result) -> bool:
    """Whether a check looks otherwise only because an era that it judges gave no clear answer.

    What it found there is not mended. That a rule of such an era does not apply is no news where
    mcp/era-coverage says already that it could not be seen.
    """
    value, missing = value_of(result), silent(ledger)
    if not missing or value == state.confirmed:
        return False
    if value == NOT_APPLICABLE:
        return any(
            each.check == ERA_COVERAGE and each.state is State.NOT_CHECKED for each in ledger.report.results
        )
    known = {finding.get("era") for finding in state.detail.get("findings") or ()}
    seen = {finding.era for finding in result.findings}
    return state_of(state.confirmed) in _BAD and bool(known & missing) and seen <= known


def _is_of_differing_eras(ledger: Ledger, state: SubjectState, result: Result) -> bool:
    """Whether a check moves in nothing but eras that some instances do not speak, or speak otherwise."""
    eras = _differing_eras(ledger)
    if not eras or result.check == REPLICAS or value_of(result) == state.confirmed:
        return False
    if State.NOT_CHECKED in {result.state, state_of(state.confirmed)}:
        return True
    known = state.detail.get("findings") or ()
    told = {finding.era for finding in result.findings} or {finding.get("era") for finding in known}
    return told <= eras


def _differing_eras(ledger: Ledger) -> frozenset[Era]:
    """The eras that some instances speak otherwise, or not at all, by this report or the last ones."""
    state = ledger.state(check_subject(REPLICAS))
    confirmed = state.detail.get("findings") if state and state.confirmed in INSTANCES_DIFFER else None
    findings = [(finding.get("code"), finding.get("era")) for finding in confirmed or ()]
    for result in ledger.report.results:
        if result.check == REPLICAS:
            findings += [(finding.code, finding.era) for finding in result.findings]
    return frozenset(Era(era) for code, era in findings if code in _SPOKEN_OTHERWISE and era)


def restless(ledger: Ledger) -> bool:
    """Whether a light probe says nothing about a list: another one answers, or it changes every time."""
    return in_turn(ledger) or _is_or_may_be(ledger, STABLE_LISTING, CHANGES)


def needed(ledger: Ledger, subject: str) -> int:
    """How many observations must agree.

    Instances that differ may agree a few times by chance, and one that serves nobody may be met a few times.
    """
    state, replicas = ledger.state(subject), ledger.state(check_subject(REPLICAS))
    by_chance = state is not None and state.confirmed in INSTANCES_DIFFER
    if subject == check_subject(ENDPOINT) and state is not None and replicas is not None:
        by_chance = state_of(state.confirmed) is State.VERIFIED and INSTANCE_GONE in {
            replicas.confirmed,
            replicas.pending,
        }
    return ledger.policy.confirm * (_BY_CHANCE if by_chance else 1)


def may_agree_by_chance(ledger: Ledger, result: Result) -> bool:
    """Whether instances that are known to differ agree in this probe: a few of them may be one."""
    if result.check != REPLICAS or result.state is not State.VERIFIED:
        return False
    state = ledger.state(check_subject(REPLICAS))
    return state is not None and state.confirmed in INSTANCES_DIFFER


def differs_less(state: SubjectState, value: str) -> bool:
    """Whether instances that show different lists do so in a way that counts less this time, by chance."""
    lists = {value, state.confirmed} <= LISTS_DIFFER and code_of(value) == code_of(state.confirmed)
    return lists and state_of(state.confirmed) is State.FAILED


def _is_or_may_be(ledger: Ledger, check: str, values: frozenset[str]) -> bool:
    state = ledger.state(check_subject(check))
    return state is not None and not values.isdisjoint({state.confirmed, state.pending})
