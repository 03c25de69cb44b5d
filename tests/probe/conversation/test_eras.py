from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.evidence import Exchange, Fault
from driftwatch.model import Json
from driftwatch.probe.conversation import eras
from tests.specimens.exchanges import error, exchange, result


@pytest.mark.parametrize(
    ("answer", "modern"),
    [
        (result({"supportedVersions": ["2026-07-28"]}), True),
        (result({"supportedVersions": ["2026-07-28", "2025-11-25", "2024-11-05"]}), True),
        (result({"supportedVersions": ["2099-01-01"]}), False),
        (result({"supportedVersions": "2026-07-28"}), False),
        (result({"supportedVersions": [20260728, None]}), False),
        (result({"tools": []}), False),
        (result(None), False),
        (result({"supportedVersions": ["2026-07-28"]}, status=400), False),
        (error(-32601, status=404), False),
        (exchange(200, excerpt="<html>"), False),
        (exchange(None, fault=Fault(code="timeout", phase="headers", message="no answer")), False),
    ],
)
def test_modern_means_that_the_revision_is_listed_not_that_discover_answered(
    answer: Exchange, *, modern: bool
) -> None:
    assert eras.is_modern(answer) is modern


@pytest.mark.parametrize(
    ("answer", "revision"),
    [
        (result({"protocolVersion": "2025-11-25"}), "2025-11-25"),
        (result({"protocolVersion": "2025-6-18"}), "2025-6-18"),
        (result({"protocolVersion": ""}), None),
        (result({"protocolVersion": 20251125}), None),
        (result({}), None),
        (result([]), None),
        (result({"protocolVersion": "2025-11-25"}, status=500), None),
        (error(-32602), None),
    ],
)
def test_the_negotiated_revision_is_kept_verbatim(answer: Exchange, revision: str | None) -> None:
    assert eras.negotiated(answer) == revision


NEWEST = "2025-11-25"


@pytest.mark.parametrize(
    ("answer", "tried", "offer"),
    [
        pytest.param(
            error(-32602, data={"supported": ["2024-11-05", "2025-06-18"], "requested": NEWEST}),
            (NEWEST,),
            "2025-06-18",
            id="the newest revision that the data lists",
        ),
        pytest.param(
            error(-32602, "Supported versions: 2025-06-18, 2025-03-26"),
            (NEWEST,),
            "2025-06-18",
            id="the newest revision that the message lists",
        ),
        pytest.param(
            exchange(400, excerpt='{"error":"Unsupported protocol version. Supported versions: 2025-03-26"}'),
            (NEWEST,),
            "2025-03-26",
            id="a revision listed in a body that is no JSON-RPC",
        ),
        pytest.param(error(-32602), (NEWEST,), "2025-06-18", id="no list: the next older one"),
        pytest.param(error(-32602), (NEWEST, "2025-06-18"), "2025-03-26", id="and the next"),
        pytest.param(error(-32602), eras.OFFERED, None, id="until all were offered"),
        pytest.param(
            error(-32022, data={"supported": ["2026-07-28"], "requested": NEWEST}),
            (NEWEST,),
            None,
            id="a list without a revision of initialize is final",
        ),
        pytest.param(
            error(-32022, data={"supported": ["2024-10-07"]}),
            (NEWEST,),
            "2024-10-07",
            id="the pre-release where it is named",
        ),
        pytest.param(
            error(-32022, data={"supported": [NEWEST]}),
            (NEWEST,),
            "2025-06-18",
            id="a list of the very revision it refused: another one",
        ),
        pytest.param(error(-32601, "unknown method"), (NEWEST,), None, id="no initialize, no offers"),
        pytest.param(error(-32020, "version header missing"), (NEWEST,), None, id="a strict modern server"),
        pytest.param(error(-32000, "Unauthorized"), (NEWEST,), None, id="an error about something else"),
        pytest.param(error(-32000, "Unsupported version"), (NEWEST,), "2025-06-18", id="an own code"),
        pytest.param(exchange(404, excerpt="not found"), (NEWEST,), None, id="a page that is not there"),
        pytest.param(exchange(400, excerpt="bad request"), (NEWEST,), None, id="400 for some reason"),
        pytest.param(result({"protocolVersion": NEWEST}), (NEWEST,), None, id="an answer"),
    ],
)
def test_what_is_offered_after_a_refusal(answer: Exchange, tried: tuple[str, ...], offer: str | None) -> None:
    assert eras.next_offer(answer, tried) == offer


@given(
    named=st.lists(st.sampled_from([*eras.LEGACY_REVISIONS, "2099-01-01", "1999-01-01", "2026-07-28"])),
    code=st.sampled_from([-32602, -32022, -32000]),
)
def test_each_revision_is_offered_at_most_once_and_the_offers_end(named: list[str], code: int) -> None:
    refusal = error(code, f"unsupported version, try {' '.join(named)}")
    tried: tuple[str, ...] = (NEWEST,)
    while (offer := eras.next_offer(refusal, tried)) is not None:
        assert offer not in tried
        tried = (*tried, offer)
    assert len(tried) <= len(eras.LEGACY_REVISIONS)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_answer_whatever_its_shape_breaks_the_reading(value: Json) -> None:
    for answer in (result(value), error(value, value, data=value), exchange(200, answer=value)):
        eras.is_modern(answer)
        eras.negotiated(answer)
        eras.offers_modern_again(answer)
        eras.next_offer(answer, (NEWEST,))


def test_an_unsupported_version_error_that_lists_our_revision_is_worth_one_more_request() -> None:
    assert eras.offers_modern_again(error(-32022, data={"supported": ["2026-07-28"], "requested": "x"}))
    assert not eras.offers_modern_again(error(-32022, data={"supported": ["2099-01-01"]}))
    assert not eras.offers_modern_again(error(-32022, data={"supported": [], "requested": "2026-07-28"}))
    assert not eras.offers_modern_again(error(-32602, "we speak 2026-07-28"))


def test_a_message_that_names_what_is_refused_does_not_list_it() -> None:
    refused = replace(error(-32022, "Unsupported: 2026-07-28"), rpc_method="server/discover")
    assert not eras.offers_modern_again(refused)
    assert eras.offers_modern_again(error(-32022, "initialize is gone, use 2026-07-28"))
