"""The sample server is right about everything that a full probe looks at."""

from datetime import UTC, datetime

import pytest

from driftwatch import checks
from driftwatch.demo.sample import RELEASES, SampleServer
from driftwatch.judging import judge
from driftwatch.model import Depth, Report, State, Trigger
from driftwatch.probe import SystemResolver, Target, ToolCall, TrustStore, probe
from tests.service.world import serving


async def report(sample: SampleServer, **arguments: object) -> Report:
    async with serving(sample.application) as port:
        evidence = await probe(
            Target(
                name="bookshop",
                url=f"http://127.0.0.1:{port}/mcp",
                tool_call=ToolCall(name="create_order", arguments=arguments),
            ),
            depth=Depth.FULL,
            trigger=Trigger.MANUAL,
            trust=TrustStore(),
            resolver=SystemResolver(),
            now=lambda: datetime.now(UTC),
        )
    return judge(evidence, checks.Policy()).report


@pytest.mark.parametrize("release", RELEASES)
async def test_a_full_probe_of_the_sample_server_finds_nothing(release: str) -> None:
    found = [
        result for result in (await report(SampleServer(release), quantity=1)).results if result.findings
    ]
    assert found == []


async def test_without_the_older_era_the_only_finding_is_that_it_is_missing() -> None:
    results = (await report(SampleServer(legacy=False), quantity=1)).results
    assert [result.check for result in results if result.findings] == ["mcp/era-coverage"]


async def test_its_tools_refuse_wrong_arguments_and_take_right_ones() -> None:
    wrong = (await report(SampleServer(), book=7, quantity=1)).result("errors/tool-arguments")
    assert wrong.state is State.VERIFIED
    right = (await report(SampleServer(), book="b1", quantity=1)).result("errors/tool-arguments")
    assert (right.state, right.code) == (State.FAILED, "accepted")
