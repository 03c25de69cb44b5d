"""What is noted while one exchange goes on, and the Exchange that it becomes."""

from dataclasses import dataclass, field, replace

from driftwatch.evidence import CREDENTIAL_ECHO, URL_ECHO, Exchange, Fault, Remark
from driftwatch.probe.wire import echo, headers
from driftwatch.probe.wire.body import Body
from driftwatch.probe.wire.credential import Redactor
from driftwatch.probe.wire.tcp import SocketStream

EXCERPT = 2000
"""Characters of the body that are recorded."""


@dataclass(slots=True, kw_only=True)
class Recording:
    """One exchange while it goes on."""

    label: str
    http_method: str
    url: str
    rpc_method: str | None
    began: float
    """Of the event loop's clock."""
    sent: headers.Recorded = ()
    step: str = "resolve"
    """resolve or connect, as long as there is no stream that knows better."""
    stream: SocketStream | None = None
    status: int | None = None
    received: headers.Recorded = ()
    values: dict[str, str] = field(default_factory=dict)
    """The first value of each header that was received, by its lower-case name."""
    body: Body | None = None
    fault: Fault | None = None
    remarks: list[Remark] = field(default_factory=list)

    @property
    def media_type(self) -> str | None:
        """The media type of the reply, as ``headers.media_type`` says."""
        return headers.media_type(self.values.get("content-type"))

    @property
    def phase(self) -> str:
        """Where it is: resolve, connect, tls, headers or body."""
        return self.step if self.stream is None else self.stream.phase

    def late(self, code: str, seconds: float) -> Fault:
        """The fault of an exchange whose time ran out after so many seconds."""
        size = 0 if self.stream is None else self.stream.received
        said = {
            "resolve": "the name did not resolve",
            "connect": "no connection was accepted",
            "tls": "the TLS handshake did not end",
            "headers": f"the header block did not end ({size:,} bytes came)" if size else "no answer came",
            "body": f"the answer did not end ({0 if self.body is None else self.body.size:,} bytes came)",
        }[self.phase]
        return Fault(code=code, phase=self.phase, message=f"{said} within {seconds:.3g} s")

    def exchange(self, redactor: Redactor, now: float) -> Exchange:
        """The finished exchange, free of secrets. ``now`` is of the event loop's clock."""
        body, stream = self.body, self.stream
        first_byte = stream.first_byte_at if stream is not None and self.status is not None else None
        received, fault, remarks = self.received, self.fault, self.remarks
        excerpt, answer, size = "", None, 0
        if body is not None:
            excerpt, answer, size = body.head.decode("utf-8", "replace"), body.answer, body.size
            remarks = [*remarks, *body.remarks]
        if redactor:
            remarks = [*remarks, *echo.in_head(received, redactor)]
            if not {CREDENTIAL_ECHO, URL_ECHO} & {remark.code for remark in remarks}:
                remarks = [*remarks, *echo.in_body(excerpt, redactor)]
            excerpt = redactor.text(excerpt)
            remarks = [replace(remark, message=redactor.quotation(remark.message)) for remark in remarks]
            if fault is not None:
                fault = replace(fault, message=redactor.quotation(fault.message))
        return Exchange(
            label=self.label,
            http_method=self.http_method,
            url=self.url,
            rpc_method=self.rpc_method,
            request_headers=self.sent,
            status=self.status,
            headers=headers.recorded(received, redactor),
            excerpt=excerpt[:EXCERPT],
            size=size,
            answer=answer,
            fault=fault,
            remarks=tuple(remarks),
            address=None if stream is None else stream.address,
            first_byte_s=None if first_byte is None else first_byte - self.began,
            duration_s=now - self.began,
        )
