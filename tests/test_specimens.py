"""Every specimen, probed over real sockets and judged: exactly what is expected, and nothing else."""

import pytest

from driftwatch import checks
from driftwatch.judging import judge
from driftwatch.model import Depth, Era, State
from tests.specimens import SPECIMENS, Specimen
from tests.specimens.running import at_home
from tests.specimens.specimen import NOT_CHECKED

ALWAYS = {
    "tls/chain": (NOT_CHECKED, "plain-http"),
    "tls/expiry": (NOT_CHECKED, "plain-http"),
    "release/fingerprint": (NOT_CHECKED, "no-baseline"),
    "auth/challenge": (NOT_CHECKED, "no-auth"),
    "auth/resource-metadata": (NOT_CHECKED, "no-auth"),
    "auth/invalid-token": (NOT_CHECKED, "no-auth"),
    "auth/credential": (NOT_CHECKED, "no-credential"),
    "auth/credential-echo": (NOT_CHECKED, "no-credential"),
}
"""What a probe of plain http on this machine, without a store and a credential, never verifies."""

UNASKED = {
    "timeouts/slow-tool": (NOT_CHECKED, "not-configured"),
    "load/rate-limit": (NOT_CHECKED, "no-consent"),
    "logs/credentials": (NOT_CHECKED, "no-logs"),
}
"""What nobody asked for, whatever became of the rest."""

STREAMABLE = {
    "errors/tool-arguments": (NOT_CHECKED, "not-configured"),
    "tools/invalid-cursor": (NOT_CHECKED, "no-cursor"),
}
"""What it does not verify of a server of Streamable HTTP, unless there is more to it."""

NO_LISTENING = {"timeouts/stream-buffering": (NOT_CHECKED, "not-offered")}
"""Nor of a modern one."""


@pytest.mark.parametrize("specimen", SPECIMENS, ids=str)
async def test_a_specimen_shows_its_deviation_and_nothing_else(specimen: Specimen) -> None:
    async with at_home(specimen) as server:
        evidence = await server.probe(path=specimen.path, depth=Depth.FULL, **specimen.target)
    # Which rules an era or revision has is the business of the checks' own tests.
    report = judge(evidence, checks.Policy()).report
    unverified = {
        result.check: (result.state, result.code)
        for result in report.results
        if result.state is not State.VERIFIED and result.code != "not-applicable"
    }
    assert unverified == expected(specimen, reachable=evidence.outcome.reachable)


NEEDS_LIST = {"tools", "fingerprint", "second_read"}
UNBLOCKED = ("tls/chain", "tls/expiry", "auth/credential", "auth/credential-echo")
"""What is answered without a dialogue."""


def expected(specimen: Specimen, *, reachable: bool) -> dict[str, tuple[State, str]]:
    always = {**ALWAYS, **UNASKED, **(STREAMABLE if {Era.MODERN, Era.LEGACY} & set(specimen.eras) else {})}
    always |= NO_LISTENING if Era.MODERN in specimen.eras else {}
    everywhere = {**always, **specimen.expect}
    if specimen.blocked is not None:
        # With a surface, it is the list that is missing; without one, everything.
        stopped = [
            declaration.id
            for declaration in checks.catalogue
            if not specimen.eras
            or (NEEDS_LIST & set(declaration.needs) and set(specimen.eras) & set(declaration.eras))
        ]
        blocked = dict.fromkeys(stopped, (NOT_CHECKED, specimen.blocked))
        if reachable:
            blocked.pop("network/addresses", None)
        unblocked = {check: ALWAYS[check] for check in UNBLOCKED}
        everywhere = {**always, **blocked, **UNASKED, **unblocked, **specimen.expect}
    return {check: state for check, state in everywhere.items() if state[0] is not State.VERIFIED}
