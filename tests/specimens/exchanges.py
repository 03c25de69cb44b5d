"""Exchanges for tests of what is judged without a socket."""

from driftwatch.evidence import Exchange, Fault
from driftwatch.model import Json


def exchange(
    status: int | None = 200,
    *,
    answer: Json = None,
    excerpt: str = "",
    fault: Fault | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    size: int = 0,
    url: str = "http://127.0.0.1/mcp",
    rpc_method: str = "initialize",
) -> Exchange:
    """An exchange of which only some parts matter."""
    return Exchange(
        label=rpc_method.removeprefix("server/"),
        http_method="POST",
        url=url,
        rpc_method=rpc_method,
        request_headers=(),
        status=status,
        headers=headers,
        excerpt=excerpt,
        size=size or len(excerpt),
        answer=answer,
        fault=fault,
        remarks=(),
        address=None,
        first_byte_s=None,
        duration_s=0.0,
    )


def result(value: Json, status: int = 200, *, size: int = 0) -> Exchange:
    """An answer with a result."""
    return exchange(status, answer={"jsonrpc": "2.0", "id": 1, "result": value}, size=size)


def error(code: Json, message: Json = "refused", status: int = 400, **data: Json) -> Exchange:
    """An answer with a JSON-RPC error."""
    detail = {"code": code, "message": message, **data}
    return exchange(status, answer={"jsonrpc": "2.0", "id": 1, "error": detail})
