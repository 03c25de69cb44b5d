"""The stylesheet and the icon, from memory, under addresses that change with their content."""

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_FILES = {
    path.name: path.read_bytes()
    for path in sorted((Path(__file__).parent / "assets").iterdir())
    if path.suffix in _TYPES
}
_TAGS = {name: hashlib.sha256(content).hexdigest()[:16] for name, content in _FILES.items()}


def address(name: str) -> str:
    """Where a file is served; the tag makes a browser ask again after an upgrade."""
    return f"/assets/{name}?v={_TAGS[name]}"


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    content = _FILES.get(name)
    if content is None:
        return Response(status_code=404)
    tag = f'"{_TAGS[name]}"'
    headers = {
        "etag": tag,
        "cache-control": "public, max-age=31536000, immutable" if request.query_params else "no-cache",
        "x-content-type-options": "nosniff",
        # An image that is opened by itself is a document of its own.
        "content-security-policy": "default-src 'none'",
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_TYPES[Path(name).suffix])


def routes() -> list[Route]:
    """They tell nothing about anybody's servers: a login page has them without a token."""
    return [Route("/assets/{name}", _file)]
