"""The HTTP server inside the service's own loop."""

import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from driftwatch.errors import ServiceError
from driftwatch.web.protocol import PatientProtocol

STOP_TIMEOUT_S = 2
"""Requests under way get this long at shutdown."""

CONNECTIONS = 500
"""More at the same time get 503; a process usually has 1,024 files, and some are the database's."""

KEEP_ALIVE_S = 15


class HttpServer:
    """Serves an ASGI application on one address until it is told to stop."""

    def __init__(self, host: str, port: int) -> None:
        """Bind at once, so that a taken port is an error before anything else starts.

        Raises ServiceError with what to do about it.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # asyncio turns Nagle's algorithm off only where the protocol is named; with it every answer on a kept
        # connection waits 40 ms for an acknowledgement.
        self._socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
            # Listening from the start: a health check during a migration waits instead of being refused.
            self._socket.listen()
        except OSError as error:
            self._socket.close()
            raise ServiceError(
                f"cannot listen on {host}:{port}: {error.strerror or error}; "
                "stop what uses it or set [http] listen to another address"
            ) from error
        self._server: _Server | None = None
        self._stopping = False

    @property
    def port(self) -> int:
        """The port that was bound, also when the configuration said 0."""
        port: int = self._socket.getsockname()[1]
        return port

    async def run(self, application: ASGIApp) -> None:
        """Serve until stop is called; requests under way are finished within STOP_TIMEOUT_S."""
        config = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            http=PatientProtocol,
            ws="none",
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=KEEP_ALIVE_S,
            backlog=CONNECTIONS,
            timeout_graceful_shutdown=STOP_TIMEOUT_S,
        )
        self._server = _Server(config)
        self._server.should_exit = self._stopping
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Take no more requests and let ``run`` return, also when it is only about to begin."""
        self._stopping = True
        if self._server is not None:
            self._server.should_exit = True


class _Server(uvicorn.Server):
    """uvicorn without its signals: it would re-raise SIGTERM and end the process before the store closes."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
