"""A healthy MCP server of any era, every part of which can be made to misbehave."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tests.servers.raw import Script
from tests.specimens.http import Answer, Incoming

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
META = "io.modelcontextprotocol"
SERVER_INFO = {"name": "specimen", "version": "1.0.0"}

Json: TypeAlias = Any


def tool(name: str = "add_note", **changes: Json) -> dict[str, Json]:
    """A tool that no check has anything against."""
    healthy: dict[str, Json] = {
        "name": name,
        "description": f"Does what {name} says.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "What to write down."}},
            "required": ["text"],
        },
    }
    return {key: value for key, value in {**healthy, **changes}.items() if value is not ...}


TOOLS = (tool("add_note"), tool("read_note"), tool("drop_note"))


@dataclass
class Mcp:
    """One server. Its fields are the ways in which servers differ; the defaults are a dual-era one."""

    modern: bool = True
    legacy: bool = True
    http_sse: bool = False
    revisions: tuple[str, ...] = LEGACY
    """What initialize knows, newest first."""
    supported: tuple[str, ...] = (MODERN,)
    """What discover lists."""
    sessions: bool = True
    replies: str = "json"
    """``json`` or ``sse``: how a POST is answered."""
    tools: tuple[Json, ...] = TOOLS
    page_size: int | None = None
    capabilities: Json = field(default_factory=lambda: {"tools": {}})
    instructions: str | None = None
    greet: Callable[[int], Script] = lambda _: ()
    """What the n-th connection is met with instead of being served."""
    before: Callable[["Mcp", Incoming], Answer | None] | None = None
    """Answers instead of the server, unless it returns None."""
    after: Callable[[Incoming, Answer], Answer] | None = None
    """Changes what the server answers."""
    result: Callable[[str, Json, Json], Json] | None = None
    """Changes a result: method, params, result."""
    pages: Callable[[Json], Json] | None = None
    """Instead of the paged list: cursor (None for the first page) to result."""
    open_sessions: set[str] = field(default_factory=set)
    issued: int = 0
    ended: int = 0
    streams: dict[str, asyncio.Queue[bytes]] = field(default_factory=dict)
    cursors: set[str] = field(default_factory=set)
    """Issued so far."""
    accept: str = ""
    """Of the request that is being answered."""

    async def respond(self, incoming: Incoming) -> Answer:
        self.accept = incoming.headers.get("accept", "")
        early = self.before(self, incoming) if self.before else None
        answer = early or self._respond(incoming)
        return self.after(incoming, answer) if self.after else answer

    def _respond(self, incoming: Incoming) -> Answer:
        if "origin" in incoming.headers:
            return Answer(status=403)
        if self.http_sse:
            return self._http_sse(incoming)
        if incoming.method == "DELETE":
            return self._delete(incoming)
        if incoming.method != "POST":
            return Answer(status=405, headers=(("Allow", "POST"),))
        message = incoming.rpc
        meta = message.get("params", {}).get("_meta", {})
        if f"{META}/protocolVersion" in meta and self.modern:
            return self._modern(incoming, message)
        if not self.legacy:
            return refusal(message, -32022, "initialize is gone", data={"supported": list(self.supported)})
        return self._legacy(incoming, message)

    def _modern(self, incoming: Incoming, message: Json) -> Answer:
        headers, params, method = incoming.headers, message["params"], message["method"]
        version = params["_meta"][f"{META}/protocolVersion"]
        if headers.get("mcp-method") != method or headers.get("mcp-protocol-version") != version:
            return refusal(message, -32020, "header mismatch")
        if version not in self.supported:
            data = {"supported": list(self.supported), "requested": version}
            return refusal(message, -32022, "unsupported protocol version", data=data)
        if method == "tools/list" and not self._issued(params.get("cursor")):
            return refusal(message, -32602, "invalid cursor")
        if method == "server/discover":
            result = {
                "resultType": "complete",
                "supportedVersions": list(self.supported),
                "capabilities": self.capabilities,
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {f"{META}/serverInfo": SERVER_INFO},
                **({"instructions": self.instructions} if self.instructions else {}),
            }
        elif method == "tools/list":
            result = {**self.page(params), "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        elif method == "tools/call":
            if headers.get("mcp-name") != params["name"]:
                return refusal(message, -32020, "header mismatch")
            result = {**self._call(params), "resultType": "complete"}
        else:
            return refusal(message, -32601, "method not found", status=404)
        return self.reply(message, self._changed(method, params, result))

    def _legacy(self, incoming: Incoming, message: Json) -> Answer:
        method, params = message.get("method"), message.get("params", {})
        if method == "initialize":
            return self._initialize(message)
        session = incoming.headers.get("mcp-session-id")
        if self.sessions and session is None:
            return refusal(message, -32600, "Bad Request: Missing session ID")
        if self.sessions and session not in self.open_sessions:
            return refusal(message, -32600, "Session not found", status=404)
        if incoming.headers.get("mcp-protocol-version", self.revisions[0]) not in self.revisions:
            return refusal(message, -32600, "Bad Request: Unsupported protocol version")
        if "id" not in message:
            return Answer(status=202)
        if method == "tools/list" and not self._issued(params.get("cursor")):
            return refusal(message, -32602, "invalid cursor", status=200)
        if method == "tools/list":
            return self.reply(message, self._changed(method, params, self.page(params)))
        if method == "tools/call":
            return self.reply(message, self._changed(method, params, self._call(params)))
        return refusal(message, -32601, "method not found", status=200)

    def _initialize(self, message: Json) -> Answer:
        params = message["params"]
        asked = params["protocolVersion"]
        result = {
            "protocolVersion": asked if asked in self.revisions else self.revisions[0],
            "capabilities": self.capabilities,
            "serverInfo": SERVER_INFO,
            **({"instructions": self.instructions} if self.instructions else {}),
        }
        answer = self.reply(message, self._changed("initialize", params, result))
        if not self.sessions:
            return answer
        self.issued += 1
        session = f"s3cret-session-{self.issued}"
        self.open_sessions.add(session)
        return answer.with_header("Mcp-Session-Id", session)

    def _delete(self, incoming: Incoming) -> Answer:
        session = incoming.headers.get("mcp-session-id")
        if not self.sessions:
            return Answer(status=405, headers=(("Allow", "POST"),))
        if session not in self.open_sessions:
            return Answer(status=404)
        self.open_sessions.discard(session)
        self.ended += 1
        return Answer(status=200)

    def _http_sse(self, incoming: Incoming) -> Answer:
        parts = urlsplit(incoming.path)
        if incoming.method == "GET" and parts.path == "/mcp":
            self.issued += 1
            name = f"s{self.issued}"
            self.streams[name] = asyncio.Queue()
            return Answer(
                headers=(("Content-Type", "text/event-stream"),),
                body=f"event: endpoint\ndata: /messages?session={name}\n\n".encode(),
                later=self._queued(name),
            )
        if incoming.method != "POST" or parts.path != "/messages":
            return Answer(status=405, headers=(("Allow", "GET"),))
        (name,) = parse_qs(parts.query).get("session", [""])
        if name not in self.streams:
            return Answer(status=404)
        message = incoming.rpc
        if "id" in message:
            method, params = message["method"], message.get("params", {})
            if method == "initialize":
                content = json.loads(self._initialize_without_session(message).body)
            elif method == "tools/list":
                content = _message(message, result=self._changed(method, params, self.page(params)))
            else:
                content = _message(message, error={"code": -32601, "message": "method not found"})
            self.streams[name].put_nowait(f"event: message\ndata: {json.dumps(content)}\n\n".encode())
        return Answer(status=202, body=b"Accepted")  # without a type, as the SDKs send it

    def _initialize_without_session(self, message: Json) -> Answer:
        self.sessions, self.replies = False, "json"
        return self._initialize(message)

    async def _queued(self, name: str) -> AsyncIterator[bytes]:
        try:
            while True:
                yield await self.streams[name].get()
        finally:
            self.ended += 1
            del self.streams[name]

    def _call(self, params: Json) -> Json:
        """Every tool is there to be called wrongly."""
        text = f"{params['name']}: text is missing"
        return {"content": [{"type": "text", "text": text}], "isError": True}

    def _issued(self, cursor: Json) -> bool:
        """Whether a cursor is one of ours; where none was ever issued any is taken, as servers do."""
        return cursor is None or not self.cursors or cursor in self.cursors

    def page(self, params: Json) -> Json:
        """One page of the list."""
        page = self._page(params.get("cursor"))
        following = page.get("nextCursor")
        if isinstance(following, str):
            self.cursors.add(following)
        return page

    def _page(self, cursor: Json) -> Json:
        if self.pages is not None:
            return self.pages(cursor)
        if self.page_size is None:
            return {"tools": list(self.tools)}
        start = int(cursor or 0)
        end = start + self.page_size
        page: dict[str, Json] = {"tools": list(self.tools[start:end])}
        return {**page, "nextCursor": str(end)} if end < len(self.tools) else page

    def _changed(self, method: str, params: Json, result: Json) -> Json:
        return self.result(method, params, result) if self.result else result

    def reply(self, message: Json, result: Json) -> Answer:
        """A result as the server frames its replies."""
        content = json.dumps(_message(message, result=result))
        streams = self.replies == "sse" and "text/event-stream" in self.accept
        return as_sse(content) if streams else as_json(content)


def _message(request: Json, **content: Json) -> Json:
    return {"jsonrpc": "2.0", "id": request.get("id"), **content}


def as_json(content: str, *, status: int = 200) -> Answer:
    return Answer(status=status, headers=(("Content-Type", "application/json"),), body=content.encode())


def as_sse(content: str) -> Answer:
    body = f"event: message\ndata: {content}\n\n".encode()
    return Answer(headers=(("Content-Type", "text/event-stream"),), body=body)


def refusal(message: Json, code: int, text: str, *, status: int = 400, data: Json = None) -> Answer:
    """A JSON-RPC error."""
    error = {"code": code, "message": text, **({} if data is None else {"data": data})}
    return as_json(json.dumps(_message(message, error=error)), status=status)


def page_html(title: str, *, status: int) -> Answer:
    """A web page where an MCP answer belongs."""
    body = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{title}</body></html>"
    return Answer(status=status, headers=(("Content-Type", "text/html; charset=utf-8"),), body=body.encode())
