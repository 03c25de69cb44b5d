"""Faults of what a reply is sent as, and servers that refuse to be accepted as an event stream."""

from collections.abc import Callable

from tests.specimens.answering import always, answers, asks, error, when
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, page_html
from tests.specimens.specimen import FAILED, NOT_CHECKED, VERIFIED, Specimen


def _content_type(value: str | None, method: str | None = None) -> Callable[[], Mcp]:
    def changed(incoming: Incoming, answer: Answer) -> Answer:
        if answer.status != 200 or incoming.method != "POST" or method not in {None, incoming.rpc_method}:
            return answer
        return answer.with_header("Content-Type", value)

    return lambda: Mcp(after=changed)


def _refuses_sse(status: int) -> Callable[[], Mcp]:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return Answer(status=status) if "text/event-stream" in incoming.headers.get("accept", "") else None

    return lambda: Mcp(before=before)


CONTENT_TYPES = (
    Specimen(
        name="content-type-text-plain",
        deviation="replies are text/plain",
        make=_content_type("text/plain; charset=utf-8"),
        expect={"transport/content-type": (FAILED, "wrong")},
    ),
    Specimen(
        name="content-type-absent",
        deviation="replies have no Content-Type",
        make=_content_type(None),
        expect={
            "transport/content-type": (FAILED, "absent"),
        },
    ),
    Specimen(
        name="content-type-lookalike",
        deviation="application/json-rpc, which merely begins like a right one",
        make=_content_type("application/json-rpc"),
        expect={"transport/content-type": (FAILED, "wrong")},
    ),
    Specimen(
        name="content-type-odd-but-right",
        deviation="upper case, a charset",
        make=_content_type("Application/JSON; Charset=UTF-8"),
    ),
    Specimen(
        name="content-type-doubled",
        deviation="the type twice in one header",
        make=_content_type("application/json, application/json"),
    ),
    Specimen(
        name="content-type-list",
        deviation="tools/list alone is text/plain",
        make=_content_type("text/plain", "tools/list"),
        expect={"transport/content-type": (FAILED, "wrong")},
    ),
    Specimen(
        name="html-list",
        deviation="a web page in answer to tools/list",
        make=answers("tools/list", page_html("Home", status=200)),
        expect={
            "transport/content-type": (FAILED, "html"),
            "tools/pagination": (NOT_CHECKED, "json"),
            "mcp/message-text": (NOT_CHECKED, "content-type"),
            "session/ended": (NOT_CHECKED, "same-answer"),
        },
        blocked="incomplete-list",
    ),
    *(
        Specimen(
            name=f"empty-list-{status}",
            deviation=f"tools/list is answered with HTTP {status} and nothing else",
            make=answers("tools/list", Answer(status=status)),
            expect={
                "tools/pagination": (FAILED, "no-answer"),
                "session/ended": (NOT_CHECKED, "same-answer"),
            },
            blocked="incomplete-list",
        )
        for status in (200, 202, 204)
    ),
    Specimen(
        name="refused-list",
        deviation="tools/list is answered with an internal error, in every session",
        make=when(asks("tools/list"), error(-32603, 200)),
        expect={
            "tools/pagination": (FAILED, "page-error"),
            "session/ended": (NOT_CHECKED, "same-answer"),
        },
        blocked="incomplete-list",
    ),
    Specimen(
        name="html-200",
        deviation="a web page with status 200 instead of any answer",
        make=always(page_html("Welcome", status=200)),
        eras=(),
        expect={
            "transport/endpoint": (FAILED, "not-mcp"),
            "transport/content-type": (FAILED, "html"),
            "transport/redirect": VERIFIED,
            "transport/accept-sse": VERIFIED,
        },
        blocked="not-mcp",
    ),
    Specimen(
        name="accept-406",
        deviation="406 to every Accept that lists an event stream",
        make=_refuses_sse(406),
        expect={
            "transport/accept-sse": (FAILED, "refused"),
            "transport/get": (NOT_CHECKED, "accept-refused"),
        },
    ),
    Specimen(
        name="accept-415",
        deviation="415 to every Accept that lists an event stream",
        make=_refuses_sse(415),
        expect={
            "transport/accept-sse": (FAILED, "refused"),
            "transport/get": (NOT_CHECKED, "accept-refused"),
        },
    ),
)
