"""A server that stops answering once it was asked something wrong on purpose."""

from driftwatch.evidence import Missing, Surface
from driftwatch.model import Depth
from driftwatch.probe import Credential
from tests.servers.raw import RESET
from tests.specimens.authorization import Gate
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp
from tests.specimens.running import Running, running

CUT = Answer(cut=True)


def _reason(part: object) -> str:
    assert isinstance(part, Missing)
    assert part.code == "shut-out"
    return part.reason


async def _seen(server: Running) -> Surface:
    (surface,) = (await server.probe(depth=Depth.FULL)).surfaces
    return surface


async def test_nothing_more_is_asked_and_the_last_wrong_request_is_named() -> None:
    shut: list[bool] = []

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        if not shut and incoming.rpc_method == "driftwatch/no_such_method":
            shut.append(True)
            return None
        return CUT if shut else None

    async with running(Mcp(legacy=False, before=before)) as server:
        surface = await _seen(server)
    assert (
        "after a request for a method that does not exist and a request whose header contradicts its body;"
        in _reason(surface.header_mismatch)
    )
    assert "negative_probes = false" in _reason(surface.unsupported_version)
    # The request that was cut off, and a plain one that settles it; one of them may be sent twice.
    assert set(server.asked[server.asked.index("driftwatch/no_such_method") + 1 :]) == {"server/discover"}


async def test_a_token_that_the_server_has_had_enough_of_is_told_as_that() -> None:
    gate = Gate()
    shut: list[bool] = []

    def before(mcp: Mcp, incoming: Incoming) -> Answer | None:
        if "driftwatch-invalid-token" in incoming.headers.get("authorization", ""):
            shut.append(True)
        return CUT if shut else gate(mcp, incoming)

    greeted = Mcp(before=before, greet=lambda _: (RESET,) if shut else ())
    async with running(greeted) as server:
        evidence = await server.probe(depth=Depth.FULL, credential=Credential.bearer("token", "good-t0ken"))
    assert evidence.surfaces
    assert "and a request with an invalid token;" in _reason(evidence.replicas)
    assert not isinstance(evidence.authorization, Missing)
    assert "invalid token" in _reason(evidence.authorization.invalid_token)


async def test_requests_that_are_right_get_nobody_shut_out() -> None:
    async with running(
        Mcp(legacy=False, before=lambda _, one: CUT if one.method == "GET" else None)
    ) as server:
        evidence = await server.probe(depth=Depth.FULL, negative_probes=False)
    (surface,) = evidence.surfaces
    assert not isinstance(surface.get, Missing)
    assert not isinstance(evidence.replicas, Missing)
