"""release/replicas and release/stable-listing: which of them speaks, and what about."""

from dataclasses import replace
from typing import Any

import pytest

from driftwatch.evidence import Greeting, Instance, Missing, Replicas, Surface
from driftwatch.model import Era, Json, Result, State
from tests.checks.factories import (
    broken,
    evidence,
    fingerprint,
    judged,
    remembered,
    schema,
    surface,
    tool,
)

INFO = {"name": "notes", "version": "1"}
FULL = (tool("a"), tool("b"))
LESS = (tool("a"),)
REWORDED = (tool("a", description="Another text."), tool("b"))


def instance(tools: tuple[Json, ...] | Missing = FULL, info: Json = INFO) -> Instance:
    return Instance(address="192.0.2.1:443", server_info=info, instructions=None, tools=tools)


def twice(
    second: tuple[Json, ...] | Missing = FULL, era: Era = Era.MODERN, first: tuple[Json, ...] = FULL
) -> Surface:
    return surface(era, *first, second_read=second)


def results(seen: Surface, *instances: Instance, unanswered: tuple[str, ...] = ()) -> tuple[Result, Result]:
    """Of release/replicas and of release/stable-listing."""
    further = Replicas(era=seen.era, instances=instances, unanswered=unanswered)
    whole = evidence(seen, replicas=further)
    return judged("release/replicas", whole), judged("release/stable-listing", whole)


def states(*found: Result) -> list[tuple[State, str | None]]:
    return [(result.state, result.code) for result in found]


QUIET = (State.VERIFIED, None)


def test_reads_that_agree_are_verified() -> None:
    assert states(*results(twice(), instance(), instance())) == [QUIET, QUIET]


def test_true_and_one_are_two_answers_though_python_takes_them_for_one() -> None:
    one, true = ((tool("a", inputSchema=schema(n={"default": value})), tool("b")) for value in (1, True))
    replicas, stable = results(twice(true, first=one), instance(one), instance(one))
    assert states(replicas, stable) != [QUIET, QUIET]
    assert states(*results(twice(one, first=one), instance(true), instance(one)))[0] != QUIET


def test_a_further_connection_that_breaks_is_a_risk() -> None:
    seen = twice()
    further = Replicas(era=seen.era, instances=(instance(),), unanswered=(), broken=("reset",))
    result = judged("release/replicas", evidence(seen, replicas=further))
    assert states(result) == [(State.OBSERVED_RISK, "no-answer")]
    assert result.findings[0].measured == "1 of 2 further connections: reset"


BOTH = ((Era.MODERN, "2026-07-28"), (Era.LEGACY, "2025-11-25"))


@pytest.mark.parametrize(
    ("first", "greeting", "code", "measured"),
    [
        (BOTH, BOTH[0], None, ""),
        (BOTH, BOTH[1], None, ""),
        (BOTH[:1], (Era.LEGACY, None), None, ""),
        (BOTH, (Era.MODERN, None), "eras-differ", '"2026-07-28", then refused (HTTP 400)'),
        (BOTH, (Era.LEGACY, None), "eras-differ", '"2025-11-25", then refused (HTTP 400)'),
        (BOTH[:1], BOTH[1], "eras-differ", 'refused, then "2025-11-25"'),
        (BOTH[1:], BOTH[0], "eras-differ", 'refused, then "2026-07-28"'),
        (BOTH, (Era.LEGACY, "2025-06-18"), "revisions-differ", '"2025-11-25", then "2025-06-18"'),
    ],
)
def test_instances_that_speak_another_era_or_revision_are_a_risk(
    first: tuple[tuple[Era, str], ...], greeting: tuple[Era, str | None], code: str | None, measured: str
) -> None:
    seen = [surface(era, *FULL, revision=revision, second_read=FULL) for era, revision in first]
    said = Greeting(era=greeting[0], revision=greeting[1], said="HTTP 400")
    further = Replicas(era=seen[0].era, instances=(instance(),), unanswered=(), greetings=(said,))
    result = judged("release/replicas", evidence(*seen, replicas=further))
    assert result.code == code
    assert result.state is (State.OBSERVED_RISK if code else State.VERIFIED)
    assert [finding.measured for finding in result.findings] == ([measured] if code else [])


@pytest.mark.parametrize("offered", [(), ("2026-07-28", "2025-11-25"), ("2026-07-28",)])
def test_instances_that_offer_other_revisions_are_a_risk(offered: tuple[str, ...]) -> None:
    seen = replace(twice(), supported_versions=("2025-11-25", "2026-07-28"))
    said = Greeting(era=seen.era, revision="2026-07-28", said="HTTP 200", supported_versions=offered)
    further = Replicas(era=seen.era, instances=(instance(),), unanswered=(), greetings=(said,))
    result = judged("release/replicas", evidence(seen, replicas=further))
    assert result.code == ("offers-differ" if len(offered) == 1 else None)
    measured = '"2025-11-25" and "2026-07-28", then "2026-07-28"'
    assert [finding.measured for finding in result.findings] == ([measured] if len(offered) == 1 else [])


def test_instances_with_other_tools_break_the_rule_of_2026_07_28() -> None:
    replicas, stable = results(twice(), instance(), instance(LESS))
    assert states(replicas, stable) == [(State.FAILED, "tools-differ"), QUIET]
    (finding,) = replicas.findings
    assert "tool removed" in finding.message
    assert finding.measured == "2 lists in 4 reads"
    assert finding.era is Era.MODERN


@pytest.mark.parametrize(("legacy", "era"), [(FULL, None), (LESS, None), (REWORDED, Era.MODERN)])
def test_instances_that_show_their_lists_in_both_eras_are_met_by_every_client(
    legacy: tuple[Json, ...], era: Era | None
) -> None:
    seen = evidence(
        twice(),
        twice(legacy, era=Era.LEGACY, first=legacy),
        replicas=Replicas(era=Era.MODERN, instances=(instance(), instance(LESS)), unanswered=()),
    )
    assert [finding.era for finding in judged("release/replicas", seen).findings] == [era]


def test_instances_that_differ_in_their_instructions_alone_show_the_same_tools() -> None:
    other = replace(instance(), instructions="Ask first.")
    (finding,) = results(twice(), instance(), other)[0].findings
    assert finding.message == "Connections made within seconds are given different instructions."
    assert finding.code == "definitions-differ"


def test_older_revisions_have_no_such_rule() -> None:
    replicas, _ = results(twice(era=Era.LEGACY), instance(LESS))
    assert states(replicas) == [(State.OBSERVED_RISK, "tools-differ")]


def test_the_same_tools_with_other_definitions_are_a_risk() -> None:
    replicas, _ = results(twice(), instance(REWORDED))
    assert states(replicas) == [(State.OBSERVED_RISK, "definitions-differ")]


def test_two_lists_that_take_turns_request_by_request_are_two_instances() -> None:
    replicas, stable = results(twice(REWORDED), instance(FULL), instance(REWORDED))
    assert states(replicas, stable) == [(State.OBSERVED_RISK, "definitions-differ"), QUIET]
    assert stable.reason == "several lists take turns: see release/replicas"


def test_instances_of_different_versions_are_a_risk_though_their_tools_agree() -> None:
    replicas, _ = results(twice(), instance(info={"name": "notes", "version": "2"}))
    assert states(replicas) == [(State.OBSERVED_RISK, "versions-differ")]
    assert replicas.findings[0].measured == '"notes" "1" and "notes" "2"'


@pytest.mark.parametrize("info", [None, 1, [], {"name": 3}, {"version": None}])
def test_any_server_info_is_taken(info: Json) -> None:
    assert results(twice(), instance(info=info))[0].code == "versions-differ"


def stamped(second: int) -> tuple[Json, ...]:
    return (tool("a", inputSchema=schema(at={"type": "string", "default": f"12:00:0{second}"})), tool("b"))


def test_a_list_that_is_new_at_every_read_is_named_by_its_field() -> None:
    seen = twice(stamped(1), first=stamped(0))
    replicas, stable = results(seen, instance(stamped(2)), instance(stamped(3)))
    assert states(replicas, stable) == [QUIET, (State.OBSERVED_RISK, "volatile")]
    assert "release/stable-listing" in (replicas.reason or "")
    (finding,) = stable.findings
    assert (finding.subject, finding.pointer) == ("a", "/inputSchema/properties/at/default")
    assert finding.measured == '"12:00:00", then "12:00:01"'


def shuffled(*order: str) -> tuple[Json, ...]:
    return (tool("a", inputSchema=schema(tags={"type": "array", "default": list(order)})),)


def test_a_set_in_random_order_is_volatile_and_not_two_instances() -> None:
    seen = twice(shuffled("c", "a", "b"), first=shuffled("a", "b", "c"))
    replicas, stable = results(seen, instance(shuffled("a", "b", "c")), instance(shuffled("c", "a", "b")))
    assert states(replicas, stable) == [QUIET, (State.OBSERVED_RISK, "volatile")]
    assert stable.findings[0].pointer == "/inputSchema/properties/tags/default"


def test_without_further_connections_two_reads_that_differ_are_volatile() -> None:
    seen = evidence(twice(stamped(1), first=stamped(0)), replicas=Missing("no time", "deadline"))
    assert judged("release/stable-listing", seen).code == "volatile"
    assert judged("release/replicas", seen).code == "deadline"


def test_what_no_model_reads_may_change_at_every_read() -> None:
    def built(build: str) -> tuple[Json, ...]:
        return (tool("a", _meta={"ui": f"?v={build}"}, icons=[{"src": build}]),)

    seen = twice(built("3c4d"), first=built("1a2b"))
    assert states(*results(seen, instance(built("5e6f")))) == [QUIET, QUIET]


def test_another_order_of_the_tools_is_noted_where_a_revision_asks_for_a_stable_one() -> None:
    turned = tuple(reversed(FULL))
    replicas, stable = results(twice(turned), instance())
    assert states(replicas, stable) == [QUIET, (State.OBSERVED_RISK, "order")]
    assert stable.findings[0].measured == "2 orders in 3 reads"
    replicas, stable = results(twice(turned, Era.LEGACY), instance())
    assert states(replicas, stable) == [QUIET, QUIET]
    assert stable.reason == "the order of the tools differs from read to read"


def test_connections_that_showed_less_are_said_and_nothing_is_concluded() -> None:
    lost = Missing("the list was not read to its end", "incomplete-list")
    replicas, _ = results(twice(), instance(lost), unanswered=("HTTP 502 to initialize",))
    assert replicas.state is State.VERIFIED
    assert replicas.reason == (
        "a further connection gave no complete list: its version was compared; "
        "a further connection was not answered: HTTP 502 to initialize"
    )


def test_a_list_that_was_not_complete_is_compared_with_nothing() -> None:
    incomplete = surface(Era.MODERN, listing=broken("page-error"), second_read=Missing("no", "second-read"))
    replicas, stable = results(incomplete, instance())
    assert states(replicas, stable) == [QUIET, (State.NOT_CHECKED, "second-read")]


def test_instructions_of_an_instance_count() -> None:
    other: Any = Instance(address=None, server_info=INFO, instructions="Call me first.", tools=FULL)
    assert states(results(twice(), other)[0]) == [(State.OBSERVED_RISK, "definitions-differ")]


def of_both_eras(
    legacy: tuple[Json, ...],
    legacy_again: tuple[Json, ...],
    *instances: Instance,
    first: tuple[Json, ...] = FULL,
) -> tuple[Result, ...]:
    """Of release/replicas, release/stable-listing, release/fingerprint and mcp/era-coverage."""
    modern = twice(first, first=first)
    older = surface(Era.LEGACY, *legacy, second_read=legacy_again)
    seen = evidence(modern, older, replicas=Replicas(era=Era.MODERN, instances=instances, unanswered=()))
    before = remembered(fingerprint("c", "b"))
    now = fingerprint("a", "b")
    compared = judged(
        "release/fingerprint", seen, fingerprints=dict.fromkeys(Era, now), known=dict.fromkeys(Era, before)
    )
    named = [judged(check, seen) for check in ("release/replicas", "release/stable-listing")]
    return (*named, compared, judged("mcp/era-coverage", seen))


def test_eras_and_fingerprints_are_not_compared_where_instances_answer_in_turn() -> None:
    replicas, stable, compared, eras = of_both_eras(LESS, FULL, instance(), instance())
    assert states(replicas, stable) == [(State.FAILED, "tools-differ"), QUIET]
    assert replicas.findings[0].era is None  # which instance answers in which era is chance
    for result in (compared, eras):
        assert (result.state, result.code, result.cause) == (
            State.NOT_CHECKED,
            "reads-differ",
            "release/replicas",
        )


def test_a_list_of_one_era_that_changes_at_every_read_spoils_no_other() -> None:
    replicas, stable, compared, eras = of_both_eras(LESS, (tool("c"),), instance(), instance())
    assert states(replicas, stable) == [QUIET, (State.OBSERVED_RISK, "volatile")]
    assert (eras.code, eras.cause) == ("reads-differ", "release/stable-listing")
    assert [finding.era for finding in compared.findings] == [Era.MODERN]


def test_eras_whose_lists_differ_at_every_read_alike_differ() -> None:
    _, _, compared, eras = of_both_eras(LESS, LESS, instance(), instance())
    assert (compared.code, eras.code) == ("changed", "eras-differ")


def test_three_lists_that_come_again_are_three_instances() -> None:
    seen = twice(LESS, first=FULL)
    replicas, stable = results(seen, instance(REWORDED), instance(FULL))
    assert states(replicas, stable) == [(State.FAILED, "tools-differ"), QUIET]
