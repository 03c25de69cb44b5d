"""Servers that send clients elsewhere."""

from collections.abc import Callable

from driftwatch.model import State
from tests.specimens.answering import shut
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, Specimen


def _redirect(status: int, location: str) -> Answer:
    return Answer(status=status, headers=(("Location", location),))


def _slash(status: int, location: str = "/mcp/") -> Callable[[], Mcp]:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return _redirect(status, location) if incoming.path == "/mcp" else None

    return lambda: Mcp(before=before)


def _redirected_list() -> Mcp:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        moved = incoming.rpc_method == "tools/list" and incoming.path == "/mcp"
        return _redirect(307, "/v2/mcp") if moved else None

    return Mcp(before=before)


def _leaves(
    name: str,
    deviation: str,
    answer: Answer,
    code: str,
    state: State = FAILED,
    **auth: tuple[State, str],
) -> Specimen:
    expected = {"transport/redirect": (state, code)}
    return shut(name, deviation, answer, "redirect", FAILED, also=expected, **auth)


REDIRECTS = (
    Specimen(
        name="redirect-307-slash",
        deviation="307 to the address with a slash",
        make=_slash(307),
        expect={"transport/redirect": (RISK, "same-origin")},
    ),
    Specimen(
        name="redirect-307-list",
        deviation="307 of tools/list alone, to another path",
        make=_redirected_list,
        expect={"transport/redirect": (RISK, "same-origin")},
    ),
    Specimen(
        name="redirect-308",
        deviation="308 to another path",
        make=_slash(308, "/v2/mcp"),
        expect={"transport/redirect": (RISK, "same-origin")},
    ),
    _leaves("redirect-301", "301 to the address with a slash", _redirect(301, "/mcp/"), "method-lost"),
    _leaves(
        "redirect-302",
        "302 to a login page",
        _redirect(302, "https://idp.invalid/login"),
        "other-host",
        challenge=(FAILED, "login-redirect"),
        resource_metadata=(NOT_CHECKED, "login-redirect"),
        invalid_token=(NOT_CHECKED, "login-redirect"),
    ),
    _leaves("redirect-host", "307 to another host", _redirect(307, "http://b.invalid/mcp"), "other-host"),
    _leaves(
        "redirect-metadata",
        "307 to the cloud's metadata address",
        _redirect(307, "http://169.254.169.254/latest/meta-data/"),
        "other-host",
    ),
    _leaves("redirect-loop", "307 to itself for ever", _redirect(307, "/mcp"), "same-origin", RISK),
    _leaves("redirect-nowhere", "307 to no address at all", _redirect(307, "http://[::1/"), "other-host"),
)
