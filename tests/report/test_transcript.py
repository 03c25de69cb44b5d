from dataclasses import replace

from driftwatch.evidence import Missing
from driftwatch.model import Depth
from driftwatch.report import transcript
from driftwatch.report.transcript import LIMIT_BYTES
from tests.specimens.running import running


async def test_the_exchanges_of_a_probe_are_told_without_repeats() -> None:
    async with running() as server:
        evidence = await server.probe(depth=Depth.FULL)
    told = transcript(evidence)
    assert told["left_out"] == 0
    assert 10 < len(told["exchanges"]) <= evidence.requests
    first = told["exchanges"][0]
    assert (first["http_method"], first["rpc_method"], first["status"]) == ("POST", "server/discover", 200)
    assert first["excerpt"]
    assert "answer" not in first


async def test_a_transcript_has_a_limit_and_counts_what_is_beyond_it() -> None:
    async with running() as server:
        evidence = await server.probe()
    openings = evidence.openings
    assert not isinstance(openings, Missing)
    loud = replace(openings[0].exchange, excerpt="x" * 2000)
    attempts = tuple(replace(loud, label=f"attempt {number}") for number in range(LIMIT_BYTES // 1000))
    told = transcript(replace(evidence, openings=(replace(openings[0], attempts=attempts),), surfaces=()))
    assert told["left_out"] > 0
    assert len(told["exchanges"]) + told["left_out"] == len(attempts)
