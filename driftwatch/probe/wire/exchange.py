"""One bounded exchange with a server: what is asked, and what came back as data.

Nothing in here raises for a fault of the server: a refused connection, a bad certificate, a body without end
or nonsense instead of HTTP is a Fault of the Exchange. Only cancellation, our own misuse and this machine's
own trouble (no file descriptors left) are exceptions.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from types import TracebackType
from typing import Self

from driftwatch.evidence import Missing, Remark, Tls
from driftwatch.probe.wire import connect, headers
from driftwatch.probe.wire.body import Body
from driftwatch.probe.wire.connect import AddressFault, Resolver
from driftwatch.probe.wire.connection import Connection
from driftwatch.probe.wire.credential import QUERY, SESSION, URL, Credential, Redactor
from driftwatch.probe.wire.encoding import Inflater, codings, inflater
from driftwatch.probe.wire.fault import Broken, within
from driftwatch.probe.wire.place import Place, place
from driftwatch.probe.wire.proxy import Proxy
from driftwatch.probe.wire.recording import Recording
from driftwatch.probe.wire.request import Limits, Read, Reply, Request
from driftwatch.probe.wire.sse import EVENT_STREAM, SseEvent
from driftwatch.probe.wire.stream import Patience, Stream
from driftwatch.probe.wire.tcp import READ_SIZE, SocketStream
from driftwatch.probe.wire.tls import Trust, explain, refused_later, together

__all__ = ["Credential", "Limits", "Read", "Reply", "Request", "SseEvent", "Stream", "Wire"]

_NO_CONNECTION = Missing("no connection was made", "no-connection", "transport/endpoint")
_NO_TLS = Missing("the endpoint is plain HTTP, there is no certificate", "plain-http")


class Wire:
    """The exchanges of one probe: connections kept alive, one deadline, one budget and one credential.

    Use as an async context manager: entering starts the deadline, leaving closes every connection. Exchanges
    follow one another; only a stream may be open beside them. Raises ValueError for a URL that is not an
    absolute http or https one.
    """

    def __init__(
        self,
        *,
        url: str,
        tls: Trust,
        resolver: Resolver,
        clock: Callable[[], datetime],
        limits: Limits | None = None,
        credential: Credential | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        endpoint = place(url)
        if endpoint is None:
            raise ValueError("the endpoint needs an absolute http or https URL")
        self.url = url
        """Where a request without a URL of its own goes."""
        self.requests = 0
        """How many requests were sent."""
        self.tls: Tls | Missing = _NO_CONNECTION if endpoint.scheme == "https" else _NO_TLS
        """The certificate facts of the endpoint's connections, as ``tls.together`` says."""
        self._endpoint = endpoint
        self._trust = tls
        self._resolver = resolver
        self._now = clock
        self._limits = limits or Limits()
        self._credential: Credential | None = None
        self._proxy = proxy
        self._address_faults: list[AddressFault] = []
        self._other_faults: list[AddressFault] = []
        self._kept: dict[tuple[str, str, int], Connection] = {}
        self._keeps = True
        """False once a kept connection was closed under a request: each further one gets a new connection."""
        self._redactor = Redactor()
        self._time = asyncio.get_running_loop().time
        self._deadline = self._time() + self._limits.deadline_s
        for name, value in endpoint.secrets:
            self._redactor.learn_named(name, value, URL)
        for secret in () if proxy is None else proxy.secrets:
            self._redactor.learn(secret, "proxy")
        if credential is not None:
            self.use(credential)

    def use(self, credential: Credential) -> None:
        """Apply this credential from now on. What was used before stays secret."""
        self._credential = credential
        for name, value in credential.headers:
            self._redactor.learn_named(name, value, credential.label)
        for value in credential.unsent:
            self._redactor.learn(value, credential.label)

    async def __aenter__(self) -> Self:
        self._deadline = self._time() + self._limits.deadline_s
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._kept:
            self._kept.popitem()[1].close()

    async def send(self, request: Request, *, fresh: bool = False, budget: int | None = None) -> Reply:
        """Send one request and read its reply as far as ``request.read`` says.

        ``fresh`` opens a new connection for it. It is not sent once ``budget`` requests were. Never raises
        for a fault of the server.
        """
        recording, connection = self._record(request), None
        try:
            with self._patience(recording, request.timeout_s) as patience:
                self._admit(recording.began, budget)
                connection = await self._ask(request, recording, patience.ends, fresh=fresh)
                if await self._read(request, recording, connection) and self._keeps:
                    # Of connections that were used side by side one is kept.
                    key = connection.place.key
                    self._kept[key], connection = connection, self._kept.get(key)
        finally:
            if connection is not None:
                connection.close()
        return self._reply(recording)

    def stream(self, request: Request, *, budget: int | None = None) -> AbstractAsyncContextManager[Stream]:
        """Open a GET and hand out its SSE events one by one, on a connection of its own."""
        return self._stream(request, budget)

    @asynccontextmanager
    async def _stream(self, request: Request, budget: int | None) -> AsyncIterator[Stream]:
        recording, connection = self._record(request), None
        body: Body | None = None
        try:
            with self._patience(recording) as patience:
                self._admit(recording.began, budget)
                connection = await self._ask(request, recording, patience.ends, fresh=True)
                if recording.status == HTTPStatus.OK and recording.media_type == EVENT_STREAM:
                    body = self._body(recording, connection)
                else:
                    await self._read(replace(request, read=Read.BODY), recording, connection)
            yield Stream(
                self._reply(recording),
                recording,
                body,
                patience=self._patience,
                redactor=self._redactor,
                max_events=self._limits.max_events,
            )
        finally:
            if connection is not None:
                connection.close()

    async def _ask(self, request: Request, recording: Recording, ends: float, *, fresh: bool) -> Connection:
        """Send a request over a kept or a new connection, and read the header block of its reply."""
        target = self._endpoint if request.url is None else place(request.url)
        if target is None:
            raise Broken("address", "resolve", "not an absolute http or https URL")
        own = target.key == self._endpoint.key
        content = request.content
        fields, recording.sent = headers.outgoing(
            authority=target.authority,
            accept=request.accept,
            content=content,
            headers=request.headers,
            credential=self._credential if own and request.credential else None,
            redactor=self._redactor,
        )
        kept = await self._reuse(target, ends, fresh=fresh)
        while True:
            connection = await within(ends, self._connect(target, recording)) if kept is None else kept
            recording.stream = connection.stream
            connection.stream.ends = ends
            self.requests += 1
            try:
                response = await connection.ask(
                    request.http_method,
                    target,
                    fields,
                    b"" if content is None else content[0],
                    self._limits.max_headers,
                )
            except BaseException as error:
                refused = self._refused_handshake(error, connection)
                connection.close()
                if refused is not None:
                    raise refused from None
                # The server may close a kept connection just when the next request leaves. To send it again
                # is harmless for everything but a call of a tool.
                unheard = isinstance(error, Broken) and not connection.stream.received
                if kept is None or not unheard or request.rpc_method == "tools/call":
                    raise
                kept, self._keeps = None, False
                self._admit(self._time())
                continue
            if self._proxy is not None and (refusal := self._proxy.refusal(response.status, target)):
                connection.close()
                raise refusal
            recording.status = response.status
            recording.received = headers.incoming(response.headers, response.headers_size)
            recording.values = headers.firsts(recording.received)
            recording.remarks += [Remark(code="refused-by-some", message=doubt) for doubt in response.doubts]
            for session in headers.sessions(recording.received):
                self._redactor.learn(session, SESSION)
            return connection

    async def _reuse(self, target: Place, ends: float, *, fresh: bool) -> Connection | None:
        """The kept connection to an origin, if there is one that may carry another request."""
        kept = self._kept.pop(target.key, None)
        if kept is None:
            return None
        kept.stream.ends = ends
        try:
            usable = not fresh and await kept.settle()
        except BaseException:
            kept.close()
            raise
        if not usable:
            kept.close()
            return None
        return kept

    def _admit(self, now: float, budget: int | None = None) -> None:
        if now >= self._deadline:
            seconds = self._limits.deadline_s
            raise Broken("deadline", "send", f"not sent: the {seconds:g} s of this probe are over")
        if self.requests >= self._limits.max_requests:
            raise Broken("budget", "send", f"not sent: {self.requests} requests is the limit of one probe")
        if budget is not None and self.requests >= budget:
            raise Broken("budget", "send", "not sent: the request budget of this probe is spent")

    async def _connect(self, target: Place, recording: Recording) -> Connection:
        own, patience_s = (
            target.host == self._endpoint.host,
            min(self._limits.timeout_s, self._deadline - self._time()),
        )
        recording.step = "resolve"
        if self._proxy is not None:
            return await self._connect_through(self._proxy, target, recording, patience_s)
        found = await connect.addresses(self._resolver, target.host, target.port)
        recording.step = "connect"
        recording.stream = stream = await connect.dial(
            found,
            named_by_server=not own,
            patience_s=patience_s,
            faults=self._address_faults if own else self._other_faults,
        )
        try:
            certificate = await self._start_tls(stream, target) if target.scheme == "https" else None
        except BaseException:
            stream.close()
            raise
        return Connection(stream, target, certificate)

    async def _connect_through(
        self, proxy: Proxy, target: Place, recording: Recording, patience_s: float
    ) -> Connection:
        refused = connect.refused_unseen(target.host, own=target.host == self._endpoint.host)
        if refused is not None:
            raise Broken("address", "connect", f"not connected: {refused}")
        recording.step = "connect"
        recording.stream = stream = await proxy.reach(self._resolver, patience_s=patience_s)
        if target.scheme == "http":
            return Connection(stream, target, forwarder=proxy)
        try:
            await proxy.tunnel(stream, target)
            return Connection(stream, target, await self._start_tls(stream, target))
        except BaseException:
            stream.close()
            raise

    async def _start_tls(self, stream: SocketStream, target: Place) -> Tls:
        # Not before TLS is spoken: it brings cryptography along, a tenth of what a single probe costs.
        from driftwatch.probe.wire import certificates  # noqa: PLC0415

        error: ssl.SSLError | None = None
        try:
            await stream.start_tls(self._trust.context, target.host)
        except ssl.SSLError as failed:
            error = failed
        except ValueError as invalid:  # a name that TLS cannot carry
            raise Broken("dns", "tls", f"{target.host[:80]} is no host name: {invalid}") from None
        assert stream.tls is not None  # noqa: S101 - after start_tls, whatever became of it
        found = certificates.facts(
            stream.tls, error=error, host=target.host, trust=self._trust, now=self._now
        )
        self._note_certificate(found, target)
        if error is not None:
            code = "certificate" if isinstance(error, ssl.SSLCertVerificationError) else "tls"
            raise Broken(code, "tls", explain(found, error))
        return found

    def _note_certificate(self, found: Tls, target: Place) -> None:
        if target.key == self._endpoint.key:
            self.tls = together(self.tls, found)

    def _refused_handshake(self, error: BaseException, connection: Connection) -> Broken | None:
        """With TLS 1.3 a server says only after the handshake that it misses a client certificate."""
        cause, shown = error.__cause__, connection.certificate
        if shown is None or not isinstance(cause, ssl.SSLError):
            return None
        found = refused_later(shown, cause)
        if found is None:
            return None
        self._note_certificate(found, connection.place)
        return Broken("tls", "tls", explain(found, cause))

    async def _read(self, request: Request, recording: Recording, connection: Connection) -> bool:
        """Read a reply as far as the request says; whether the connection may carry another request."""
        status, media_type = recording.status or 0, recording.media_type
        if request.read is Read.HEADERS or (media_type == EVENT_STREAM and not request.awaits):
            return connection.ended
        body = self._body(recording, connection, ends=connection.stream.ends)
        if request.read is Read.BODY:
            await body.read_object()
        else:
            await body.read_answer(None if request.rpc is None else request.rpc.get("id"), media_type)
        surplus = body.complete and connection.surplus
        if surplus:
            message = "more came after the end of the reply, against its own length"
            recording.remarks.append(Remark(code="wrong-length", message=message))
            body.blame_length(recording.values.get("content-length"))
        if body.complete and connection.cut:
            what = "the answer may be cut: the reply has no length, and TLS ended without a goodbye"
            raise Broken("reset", "body", what)
        if {"content-length", "transfer-encoding"} <= recording.values.keys():
            what = "Content-Length and Transfer-Encoding in one reply: not every client reads that (RFC 9112)"
            recording.remarks.append(Remark(code="wrong-length", message=what))
        if body.size and media_type is None:
            recording.remarks.append(Remark(code="no-content-type", message="the body has no Content-Type"))
        if request.awaits and status < HTTPStatus.MULTIPLE_CHOICES:
            recording.fault = body.fault
        return not surplus

    def _body(self, recording: Recording, connection: Connection, *, ends: float | None = None) -> Body:
        limits = self._limits
        encoding = recording.values.get("content-encoding")
        undo: Inflater | None = None
        if codings(encoding) and recording.values.get("content-length") != "0":
            undo = inflater(encoding, limits.max_body)
            message = f"the body is encoded ({encoding}) although only identity was asked for"
            recording.remarks.append(Remark(code="unrequested-encoding", message=message[:200]))
        connection.expect_body(2 * limits.max_body + READ_SIZE)
        recording.body = Body(
            connection.chunk,
            inflater=undo,
            redactor=self._redactor,
            max_bytes=limits.max_body,
            max_events=limits.max_events,
            max_depth=limits.max_depth,
            ends=ends,
        )
        return recording.body

    def _record(self, request: Request) -> Recording:
        target = self._endpoint if request.url is None else place(request.url)
        for name, value in () if target is None else target.secrets:
            self._redactor.learn_named(name, value, QUERY)
        return Recording(
            label=request.label,
            http_method=request.http_method,
            url="" if target is None else self._redactor.text(target.shown),
            rpc_method=request.rpc_method,
            began=self._time(),
        )

    def _reply(self, recording: Recording) -> Reply:
        values, fault = recording.values, recording.fault
        if self.tls is _NO_CONNECTION and fault is not None:
            self.tls = Missing(self._redactor.quotation(fault.message), fault.code, "transport/endpoint")
        return Reply(
            exchange=recording.exchange(self._redactor, self._time()),
            session=headers.session(recording.received),
            retry_after_s=headers.retry_after_s(values.get("retry-after"), self._now),
            location=values.get("location"),
        )

    def _patience(self, recording: Recording, timeout_s: float | None = None) -> Patience:
        limit = min(timeout_s or self._limits.timeout_s, self._limits.timeout_s)
        return Patience(recording, self._time(), limit, self._deadline)
