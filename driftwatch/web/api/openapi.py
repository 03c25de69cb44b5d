"""The OpenAPI 3.1 document, made from the endpoints' declarations."""

import functools
import re
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from driftwatch import __version__
from driftwatch.model import Json
from driftwatch.web.api.door import PREFIX, document
from driftwatch.web.api.endpoint import Endpoint, Right
from driftwatch.web.problems import MEDIA_TYPE

PATH = "/openapi.json"

DESCRIPTION = """\
What driftwatch remembers of the MCP servers it watches, and what a person may do about it.

Reading takes the read token or the admin token; neither is needed with `public_status`, nor from loopback
while no read token is configured. Every change takes the admin token. Times are UTC. Lists are bounded:
follow `next` until it is null. Errors are problem details (RFC 9457). Texts of watched servers are in the
answers as they came."""

_PROBLEM: dict[str, Json] = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": "The status in words."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, and what to do."},
        "errors": {
            "type": "array",
            "description": "With 422: each parameter or key that cannot be used.",
            "items": {
                "type": "object",
                "required": ["where", "message"],
                "properties": {"where": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}

_SECURITY = {
    "read": {"type": "http", "scheme": "bearer", "description": "[http] read_token or admin_token."},
    "admin": {"type": "http", "scheme": "bearer", "description": "[http] admin_token."},
    "hook": {"type": "http", "scheme": "bearer", "description": "[hook] tokens, for /hooks/deploy."},
}


def route(endpoints: Sequence[Endpoint]) -> Route:
    """``/api/v1/openapi.json``: it says nothing about this installation, so everybody may read it."""

    @functools.cache
    def made() -> bytes:
        return bytes(document(describe(endpoints)).body)

    async def answer(_: Request) -> Response:
        return Response(made(), media_type="application/json")

    return Route(f"{PREFIX}{PATH}", answer)


def describe(endpoints: Sequence[Endpoint]) -> dict[str, Json]:
    """The document."""
    answers = {endpoint.name: TypeAdapter(endpoint.answer) for endpoint in endpoints}
    schemas, shared = TypeAdapter.json_schemas(
        [(name, "serialization", adapter) for name, adapter in answers.items()],
        ref_template="#/components/schemas/{model}",
    )
    paths: dict[str, dict[str, Json]] = {}
    for endpoint in endpoints:
        schema = schemas[endpoint.name, "serialization"]
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, schema)
    return {
        "openapi": "3.1.0",
        "info": {"title": "driftwatch", "version": __version__, "description": DESCRIPTION},
        "servers": [{"url": PREFIX}],
        "paths": paths,
        "components": {
            "schemas": {**shared["$defs"], "Problem": _PROBLEM},
            "securitySchemes": _SECURITY,
        },
    }


def _operation(endpoint: Endpoint, schema: Json) -> dict[str, Json]:
    operation: dict[str, Json] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": endpoint.description,
        "security": [{right: []} for right in [endpoint.right.value, *(["hook"] if endpoint.hook else [])]],
        "parameters": list(_parameters(endpoint)),
        "responses": {
            **{
                str(status.value): {
                    "description": status.phrase,
                    "content": {"application/json": {"schema": schema}},
                }
                for status in (endpoint.status, *endpoint.further)
            },
            **{str(status): _problem(status) for status in _statuses(endpoint)},
        },
    }
    if endpoint.body is not None:
        body = _inlined(endpoint.body.model_json_schema())
        operation["requestBody"] = {
            "required": bool(body.get("required")),
            "content": {"application/json": {"schema": body}},
        }
    return operation


def _parameters(endpoint: Endpoint) -> Iterator[dict[str, Json]]:
    for name in re.findall(r"{(\w+)}", endpoint.path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": endpoint.path_help[name],
            "schema": {"type": "string", "minLength": 1},
        }
    schema = _inlined(endpoint.query.model_json_schema())
    for name, member in schema.get("properties", {}).items():
        yield {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "description": member.pop("description", ""),
            "schema": member,
        }


def _statuses(endpoint: Endpoint) -> Iterator[int]:
    if endpoint.body is not None or endpoint.hook:
        yield 400
    if endpoint.body is not None:
        yield from (408, 413, 415)
    yield from (401, 403)
    if endpoint.path_help or endpoint.right is Right.WRITE:
        yield 404
    yield from (422, 503)


def _problem(status: int) -> dict[str, Json]:
    return {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with what it refers to written out: only vocabularies are shared in parameters."""
    definitions = schema.pop("$defs", {})

    def resolved(value: Json) -> Json:
        if isinstance(value, dict):
            if "$ref" in value:
                return resolved(definitions[value["$ref"].rpartition("/")[2]])
            return {name: resolved(member) for name, member in value.items() if name != "title"}
        return [resolved(member) for member in value] if isinstance(value, list) else value

    inlined: dict[str, Any] = resolved(schema)
    return inlined
