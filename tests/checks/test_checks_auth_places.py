"""The two well-known addresses of the metadata: every combination of what they can answer."""

from itertools import product

import pytest

from driftwatch.evidence import Exchange, Metadata
from driftwatch.model import Json, State
from driftwatch.probe.credentials import metadata
from driftwatch.probe.wire.request import Reply, Request
from tests.checks.factories import evidence, exchange, fault, judged
from tests.checks.test_checks_auth import ENDPOINT, authorization

ROOT = "https://h.example/.well-known/oauth-protected-resource"
PATH = f"{ROOT}/mcp"


def _document(resource: str) -> dict[str, Json]:
    return {"resource": resource, "authorization_servers": ["https://as.example"]}


def _answer(status: int | None, **changes: Json) -> Exchange:
    return exchange("GET", status, http_method="GET", rpc_method=None, **changes)


BLOCK = "<title>Attention Required! | Cloudflare</title>"
ANSWERS = {
    "good": _answer(200, answer=_document(ENDPOINT)),
    "wrong": _answer(200, answer=_document("https://other.example/mcp")),
    "page": _answer(200, content_type="text/html"),
    "404": _answer(404),
    "405": _answer(405),
    "401": _answer(401),
    "403": _answer(403),
    "bot page": _answer(403, content_type="text/html", excerpt=BLOCK),
    "429": _answer(429),
    "500": _answer(500),
    "503": _answer(503),
    "redirect": _answer(302, headers=(("location", ROOT),)),
    "timeout": _answer(None, fault=fault("timeout")),
}

VERIFIED = (State.VERIFIED, None)
UNCLEAR = (State.NOT_CHECKED, "unclear")
NOWHERE = (State.FAILED, "nowhere")
OF_A_DOCUMENT = {
    "good": VERIFIED,
    "wrong": (State.FAILED, "other-resource"),
    "page": (State.FAILED, "html"),
}
SENDS_ON = {
    "404": (State.OBSERVED_RISK, "root-only"),
    "405": (State.OBSERVED_RISK, "root-only"),
    "401": VERIFIED,
    "403": VERIFIED,
    "bot page": VERIFIED,
    "429": VERIFIED,
}
"""Refusals, and what the check says where the document at the root is the only one and good."""
SAYS_NOTHING = {"bot page", "429"}


def expected(path: str, root: str) -> tuple[State, str | None]:
    if path not in SENDS_ON:
        return OF_A_DOCUMENT.get(path, UNCLEAR)
    if root == "good":
        return SENDS_ON[path]
    if root not in SENDS_ON:
        return OF_A_DOCUMENT.get(root, UNCLEAR)
    return UNCLEAR if {path, root} & SAYS_NOTHING else NOWHERE


@pytest.mark.parametrize(("path", "root"), list(product(ANSWERS, ANSWERS)))
async def test_any_refusal_leads_on_to_the_root_and_nothing_else_does(path: str, root: str) -> None:
    async def send(request: Request) -> Reply:
        answer = ANSWERS[path if request.url == PATH else root]
        return Reply(exchange=answer, session=None, retry_after_s=None, location=None)

    looked = await metadata.find(send, ENDPOINT, None)
    seen = evidence(authorization=authorization("Bearer", metadata=looked))
    found = judged("auth/resource-metadata", seen)
    assert (found.state, found.code) == expected(path, root)
    # Without a challenge, the failure of a bare 401 is certain only where there is certainly no document.
    bare = judged("auth/challenge", evidence(authorization=authorization(None, metadata=looked)))
    assert bare.state is (State.FAILED if is_nowhere(path, root) else State.OBSERVED_RISK)


def is_nowhere(path: str, root: str) -> bool:
    """Whether clients certainly come to no JSON document."""
    nothing = SENDS_ON.keys() - SAYS_NOTHING | {"page"}
    return path == "page" or {path, root} <= nothing


def test_a_closed_address_is_remarked_and_an_unanswered_one_is_named() -> None:
    def judge(path: str) -> str | None:
        looked = [("path", PATH, path), ("root", ROOT, "good")]
        places = tuple(Metadata(place=place, url=url, reply=ANSWERS[answer]) for place, url, answer in looked)
        seen = authorization("Bearer", metadata=places)
        return judged("auth/resource-metadata", evidence(authorization=seen)).reason

    assert judge("403") == (
        "the well-known address with the endpoint's path is closed (HTTP 403 with application/json): clients "
        "go on to the one without it"
    )
    assert judge("500") == "https://mcp.example.org/mcp was not answered: HTTP 500 with application/json"
