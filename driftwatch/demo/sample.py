"""A small MCP server that does everything right, in both eras, until its second release renames a tool.

It exists so that ``driftwatch demo`` needs no network, and as the healthy server of the tests. It has no
state: a release is a list of tools, and deploying one swaps the list.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from driftwatch.model import Json

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
MAX_BODY = 1_000_000

_META = "io.modelcontextprotocol/"
_TYPES = {"string": str, "integer": int}
_INSTRUCTIONS = "A bookshop. Search for books, then order them by their id."


def _tool(name: str, description: str, properties: dict[str, Json], required: list[str]) -> dict[str, Json]:
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "annotations": {"readOnlyHint": name != "create_order", "openWorldHint": False},
    }


_SEARCH = _tool(
    "search_books",
    "Find books by words in their title or by author.",
    {
        "query": {"type": "string", "description": "Words of the title or the author's name."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
    },
    ["query"],
)
_BOOK = {"type": "string", "description": "A book's id, from a search."}
_ORDER = {"type": "string", "description": "An order's id, from create_order."}
_QUANTITY = {"type": "integer", "minimum": 1, "maximum": 20}
_NOTE = {"type": "string", "description": "A line for the packing slip."}

RELEASES: Mapping[str, tuple[dict[str, Json], ...]] = MappingProxyType(
    {
        "v1": (
            _SEARCH,
            _tool(
                "create_order",
                "Order one book.",
                {"book": _BOOK, "quantity": _QUANTITY, "note": _NOTE},
                ["book", "quantity"],
            ),
            _tool("order_status", "Tell where an order is.", {"order": _ORDER}, ["order"]),
        ),
        # A rename and a dropped parameter: nothing fails on the server, and every agent that knew v1 does.
        "v2": (
            _SEARCH,
            _tool(
                "create_order",
                "Order one book.",
                {"book": _BOOK, "quantity": _QUANTITY},
                ["book", "quantity"],
            ),
            _tool("get_order_status", "Tell where an order is.", {"order": _ORDER}, ["order"]),
        ),
    }
)


class SampleServer:
    """A dual-era Streamable HTTP server at ``/mcp``."""

    def __init__(self, release: str = "v1", *, modern: bool = True, legacy: bool = True) -> None:
        """Serve the tools of a release by its name in RELEASES, in both eras or in one."""
        self._speaks_modern = modern
        self._speaks_legacy = legacy
        self.tools: tuple[dict[str, Json], ...] = ()
        self.release = ""
        self.deploy(release)
        self.application = Starlette(
            routes=[Route("/mcp", self._answer, methods=["POST", "GET", "DELETE"])],
        )

    def deploy(self, release: str) -> None:
        """Swap the tools. Raises KeyError for a release that does not exist."""
        self.tools = RELEASES[release]
        self.release = release

    async def _answer(self, request: Request) -> Response:
        if "origin" in request.headers:
            return _error(None, -32600, "Origin not allowed", 403)
        if request.method != "POST":
            return Response(status_code=405, headers={"Allow": "POST"})
        accept = request.headers.get("accept", "")
        if not ("application/json" in accept and "text/event-stream" in accept):
            return _error(None, -32600, "Accept must name application/json and text/event-stream", 406)
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                return _error(None, -32600, "The request is too large", 413)
        try:
            message = json.loads(body)
        except ValueError:
            return _error(None, -32700, "Parse error", 400)
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return _error(None, -32600, "Invalid request", 400)
        older = request.headers.get("mcp-protocol-version", "") in {"", *LEGACY}
        if older or not self._speaks_modern:
            if not self._speaks_legacy:
                data = {"supported": [MODERN], "requested": _params(message).get("protocolVersion")}
                return _error(message, -32022, "Unsupported protocol version", 400, data)
            return self._legacy(message)
        return self._modern(message, request.headers)

    def _legacy(self, message: dict[str, Any]) -> Response:
        match message["method"]:
            case "initialize":
                wanted = _params(message).get("protocolVersion")
                result: dict[str, Json] = {
                    "protocolVersion": wanted if wanted in LEGACY else LEGACY[0],
                    "capabilities": {"tools": {}},
                    "serverInfo": self._server_info(),
                    "instructions": _INSTRUCTIONS,
                }
                return _result(message, result)
            case method if method.startswith("notifications/"):
                return Response(status_code=202)
            case "ping":
                return _result(message, {})
            case "tools/list":
                if "cursor" in _params(message):
                    return _error(message, -32602, "Unknown cursor", 200)
                return _result(message, {"tools": self.tools})
            case "tools/call":
                return self._call(message, {})
            case _:
                return _error(message, -32601, "Method not found", 200)

    def _modern(self, message: dict[str, Any], headers: Mapping[str, str]) -> Response:
        method, meta = message["method"], _params(message).get("_meta")
        if not isinstance(meta, dict) or f"{_META}protocolVersion" not in meta:
            return _error(message, -32602, f"_meta must carry {_META}protocolVersion", 400)
        version = meta[f"{_META}protocolVersion"]
        if headers.get("mcp-method") != method or headers.get("mcp-protocol-version") != version:
            return _error(message, -32020, "The headers do not match the body", 400)
        if version != MODERN:
            data = {"supported": [MODERN], "requested": version}
            return _error(message, -32022, "Unsupported protocol version", 400, data)
        cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        match method:
            case "server/discover":
                result = {
                    **cached,
                    "supportedVersions": [MODERN],
                    "capabilities": {"tools": {}},
                    "instructions": _INSTRUCTIONS,
                    "_meta": {f"{_META}serverInfo": self._server_info()},
                }
                return _result(message, result)
            case "tools/list":
                if "cursor" in _params(message):
                    return _error(message, -32602, "Unknown cursor", 400)
                return _result(message, {**cached, "tools": self.tools})
            case "tools/call":
                if headers.get("mcp-name") != _params(message).get("name"):
                    return _error(message, -32020, "The headers do not match the body", 400)
                return self._call(message, {"resultType": "complete"})
            case _:
                return _error(message, -32601, "Method not found", 404)

    def _call(self, message: dict[str, Any], frame: dict[str, Json]) -> Response:
        """Nothing is behind the tools; but wrong arguments are refused as they should be."""
        params = _params(message)
        schema = next(
            (tool["inputSchema"] for tool in self.tools if tool["name"] == params.get("name")), None
        )
        if schema is None:
            return _error(message, -32602, "Unknown tool", 400 if frame else 200)
        wrong = _wrong(schema, params.get("arguments"))
        content = [{"type": "text", "text": "; ".join(wrong) or "Done."}]
        return _result(message, {**frame, "content": content, "isError": bool(wrong)})

    def _server_info(self) -> dict[str, Json]:
        return {"name": "sample-bookshop", "version": self.release}


def _params(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _wrong(schema: dict[str, Json], arguments: Json) -> list[str]:
    """What is wrong with the arguments of a call, each in words that a model can act on."""
    given = arguments if isinstance(arguments, dict) else {}
    types = {name: definition["type"] for name, definition in schema["properties"].items()}
    missing = [f"{name} is missing" for name in schema["required"] if name not in given]
    known = [(name, value) for name, value in given.items() if name in types]
    return missing + [
        f"{name} must be of type {types[name]}"
        for name, value in known
        if not isinstance(value, _TYPES[types[name]])
    ]


def _result(message: dict[str, Any], result: Json) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": message.get("id"), "result": result})


def _error(message: dict[str, Any] | None, code: int, text: str, status: int, data: Json = None) -> Response:
    error = {"code": code, "message": text} | ({} if data is None else {"data": data})
    return JSONResponse({"jsonrpc": "2.0", "id": (message or {}).get("id"), "error": error}, status)
