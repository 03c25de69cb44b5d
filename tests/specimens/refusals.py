"""Faults in how wrong requests are refused: cursors, methods, headers, revisions, arguments."""

import json
from collections.abc import Callable

from driftwatch.model import Era
from driftwatch.probe import ToolCall
from tests.specimens.answering import asks, error, one, status, when
from tests.specimens.healthy import MODERN_ONLY, as_server_error
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp, as_json, tool
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, VERIFIED, Specimen

METHOD = "driftwatch/no_such_method"
CURSOR = "driftwatch-not-a-cursor"
CALL = {"tool_call": ToolCall(name="add_note", arguments={"text": 7})}


def _is_future(incoming: Incoming) -> bool:
    return incoming.headers.get("mcp-protocol-version") == "2099-01-01"


def _is_mismatched(incoming: Incoming) -> bool:
    return incoming.headers.get("mcp-method", incoming.rpc_method) != incoming.rpc_method


def _has_wrong_cursor(incoming: Incoming) -> bool:
    return bool(incoming.rpc.get("params", {}).get("cursor") == CURSOR)


def _result(incoming: Incoming) -> Answer:
    return as_json(json.dumps({"jsonrpc": "2.0", "id": incoming.rpc.get("id"), "result": {}}))


def _called(change: Callable[[Json], Json]) -> Callable[[], Mcp]:
    def changed(method: str, _: Json, result: Json) -> Json:
        return change(result) if method == "tools/call" else result

    return lambda: Mcp(result=changed)


CURSORS = (
    one(
        "cursor-any",
        "a cursor that was never issued gets the first page",
        when(
            _has_wrong_cursor,
            lambda incoming: as_json(
                json.dumps(
                    {
                        "jsonrpc": "2.0",
                        "id": incoming.rpc["id"],
                        "result": {"tools": [], "resultType": "complete"},
                    }
                )
            ),
            page_size=1,
        ),
        "tools/invalid-cursor",
        (RISK, "accepted"),
    ),
    one(
        "cursor-crash",
        "a cursor that was never issued is an internal error",
        when(_has_wrong_cursor, error(-32603, 500), page_size=1),
        "tools/invalid-cursor",
        (RISK, "other-error"),
    ),
)


ERRORS = (
    one(
        "unknown-method-empty",
        "an empty 404 to an unknown method",
        when(asks(METHOD), status(404), sessions=False),
        "errors/unknown-method",
        (FAILED, "no-error"),
    ),
    one(
        "unknown-method-wrong-code",
        "-32602 to an unknown method",
        when(asks(METHOD), error(-32602, 400)),
        "errors/unknown-method",
        (FAILED, "wrong-code"),
    ),
    one(
        "unknown-method-200",
        "-32601 with HTTP 200 to an unknown method, in both eras",
        when(asks(METHOD), error(-32601, 200)),
        "errors/unknown-method",
        (FAILED, "wrong-status"),
    ),
    one(
        "unknown-method-accepted",
        "a result for an unknown method",
        when(asks(METHOD), _result),
        "errors/unknown-method",
        (FAILED, "accepted"),
    ),
    one(
        "unknown-method-502",
        "a gateway stops the unknown method",
        when(asks(METHOD), error(-32603, 502)),
        "errors/unknown-method",
        (NOT_CHECKED, "http-5xx"),
    ),
    one(
        "mismatch-ignored",
        "a header that contradicts the body is ignored",
        when(_is_mismatched, _result),
        "errors/header-mismatch",
        (FAILED, "accepted"),
    ),
    one(
        "mismatch-draft-code",
        "a header that contradicts the body gets the code of a draft",
        when(_is_mismatched, error(-32001, 400)),
        "errors/header-mismatch",
        (FAILED, "wrong-code"),
    ),
    one(
        "version-accepted",
        "a revision of the far future is taken as good",
        when(_is_future, _result),
        "errors/unsupported-version",
        (FAILED, "accepted"),
    ),
    one(
        "version-without-list",
        "the refusal of a revision does not say which are supported",
        when(_is_future, error(-32022, 400)),
        "errors/unsupported-version",
        (FAILED, "no-versions"),
    ),
    Specimen(
        name="refusals-of-server-error",
        deviation="every refusal of the modern era carries the id server-error",
        make=lambda: Mcp(legacy=False, after=as_server_error),
        eras=(Era.MODERN,),
        expect={
            **MODERN_ONLY,
            "errors/unknown-method": (RISK, "id-wrong"),
            "errors/header-mismatch": (RISK, "id-wrong"),
            "errors/unsupported-version": (RISK, "id-wrong"),
        },
    ),
    one(
        "version-lists-the-refused",
        "the refusal of a revision lists that very revision",
        when(_is_future, error(-32022, 400, {"supported": ["2099-01-01"], "requested": "2099-01-01"})),
        "errors/unsupported-version",
        (RISK, "lists-the-refused"),
    ),
)


CALLS = (
    Specimen(
        name="call-refused-well",
        deviation="none: wrong arguments get isError and a text",
        target=CALL,
        expect={"errors/tool-arguments": VERIFIED},
    ),
    one(
        "call-accepted",
        "wrong arguments are taken as good",
        _called(lambda result: {**result, "isError": False}),
        "errors/tool-arguments",
        (FAILED, "accepted"),
        target=CALL,
    ),
    one(
        "call-without-words",
        "isError without a text",
        _called(lambda result: {**result, "content": []}),
        "errors/tool-arguments",
        (RISK, "no-text"),
        target=CALL,
    ),
    one(
        "call-protocol-error",
        "wrong arguments get a protocol error",
        when(asks("tools/call"), error(-32602, 200)),
        "errors/tool-arguments",
        (RISK, "protocol-error"),
        target=CALL,
    ),
    one(
        "call-crash",
        "wrong arguments get an internal error",
        when(asks("tools/call"), error(-32603, 200)),
        "errors/tool-arguments",
        (FAILED, "wrong-error"),
        target=CALL,
    ),
    one(
        "call-of-no-tool",
        "the configured tool is not in the list",
        lambda: Mcp(tools=(tool("read_note"),)),
        "errors/tool-arguments",
        (NOT_CHECKED, "no-such-tool"),
        target=CALL,
    ),
)


REFUSALS = (*CURSORS, *ERRORS, *CALLS)
