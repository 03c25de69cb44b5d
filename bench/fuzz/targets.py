"""What is fed with damaged inputs, and what is expected of it."""

import asyncio
import copy
import random
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, cast

from driftwatch import checks, toolset
from driftwatch.checks import json_schema
from driftwatch.checks.view import Tool
from driftwatch.errors import EvidenceError
from driftwatch.evidence import Fault, from_json
from driftwatch.judging import judge
from driftwatch.model import Depth, Json
from driftwatch.probe import Limits, SystemResolver, Target, TrustStore
from driftwatch.probe.conversation import outcome
from driftwatch.probe.conversation.dialogue import Dialogue
from driftwatch.probe.credentials import challenge
from driftwatch.probe.steps.sequence import Seen, take
from driftwatch.probe.wire import certificates, connect, tls
from driftwatch.probe.wire.address import Address
from driftwatch.probe.wire.exchange import Wire
from driftwatch.probe.wire.message import NotJsonError, answer, decode
from driftwatch.probe.wire.place import place
from driftwatch.probe.wire.request import Read, Reply, Request
from driftwatch.probe.wire.sse import SseReader
from driftwatch.probe.wire.stream import Stream
from driftwatch.toolset import Toolset

from .corpus import Corpus
from .damage import LARGEST, bent, damaged, places

TRUST = TrustStore().get()
NOW = datetime(2026, 11, 30, tzinfo=UTC)
RESOLVER = SystemResolver(threads=1)
SAID = {"answer", "tools", "second_read", "server_info", "capabilities", "instructions", "settings"}
"""Members of evidence that hold whatever a server said."""


class Shown:
    """A handshake that shows these certificates."""

    def __init__(self, ders: list[bytes]) -> None:
        self.ders = ders

    def get_unverified_chain(self) -> list[bytes]:
        """As Python 3.13 has it."""
        return self.ders

    def version(self) -> str:
        """Of TLS."""
        return "TLSv1.3"


class Hearsay:
    """A wire that answers everything with something that was once said to something else."""

    url = "https://a.test/mcp"

    def __init__(self, rng: random.Random, corpus: Corpus) -> None:
        self.rng, self.corpus, self.requests = rng, corpus, 0

    async def send(self, request: Request, *, fresh: bool = False, budget: int | None = None) -> Reply:
        """Something, whatever was asked."""
        del fresh, budget
        self.requests += 1
        if self.requests > 2000:
            raise RuntimeError("a dialogue without end")
        rng = self.rng
        said = rng.choice(self.corpus.exchanges)
        answered = bent(rng, said.answer, self.corpus.messages) if rng.random() < 0.5 else said.answer
        exchange = replace(
            said,
            label=request.label,
            http_method=request.http_method,
            rpc_method=request.rpc_method,
            request_headers=request.headers,
            status=rng.choice((said.status, said.status, said.status, 200, 200, 404, 503, None)),
            answer=answered if isinstance(answered, dict) else None,
            fault=said.fault if rng.random() < 0.9 else Fault(code="timeout", phase="body", message="late"),
        )
        session = rng.choice((None, None, "a", "b", f"s{self.requests}", "\u00e9 "))
        location = rng.choice((None, None, "/mcp/", "//x", "http://[::1/", "https://x.test:99999/"))
        return Reply(exchange=exchange, session=session, retry_after_s=None, location=location)

    @asynccontextmanager
    async def stream(self, request: Request, *, budget: int | None = None) -> AsyncIterator[Stream]:
        """A stream that says nothing."""
        del budget
        reply = await self.send(request)
        nothing = cast("Any", None)
        yield Stream(reply, _Quiet, None, patience=nothing, redactor=nothing, max_events=9)  # type: ignore[arg-type]


class _Quiet:
    """What a stream without a body needs of a recording."""

    fault = Fault(code="timeout", phase="body", message="nothing came")


class Targets:
    """What is fed. Each method takes one input from the random numbers that it is given."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def json(self, rng: random.Random) -> None:
        """Strict JSON, and the message in it that answers."""
        raw = damaged(rng, rng.choice(self.corpus.texts), self.corpus.texts)
        self.read_json(raw, sole=rng.random() < 0.5)

    def read_json(self, raw: bytes, *, sole: bool) -> None:
        """Nothing but NotJsonError is raised."""
        with suppress(NotJsonError):
            value = decode(raw, max_depth=200).value
            answer(value, 1, sole=sole)

    def sse(self, rng: random.Random) -> None:
        """Event streams: however they are cut, the events are the same."""
        self.read_events(damaged(rng, rng.choice(self.corpus.texts), self.corpus.texts), rng)

    def read_events(self, raw: bytes, rng: random.Random) -> None:
        """Every way to cut a stream gives the same events."""

        def events(cuts: list[int]) -> list[Any]:
            reader, out = SseReader(), []
            for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
                out += reader.feed(raw[start:end])
            return [*out, reader.end()]

        cuts = sorted(rng.randint(0, len(raw)) for _ in range(rng.choice((1, 2, 9))))
        if events([]) != events(cuts):
            raise AssertionError(f"other events when cut at {cuts}")

    def challenge(self, rng: random.Random) -> None:
        """WWW-Authenticate."""
        raw = damaged(rng, rng.choice(self.corpus.challenges), self.corpus.challenges)
        self.read_challenge(raw.decode("latin-1"))

    def read_challenge(self, text: str) -> None:
        """Nothing is raised."""
        challenge.parse([text, text[::-1]])

    def address(self, rng: random.Random) -> None:
        """URLs that a server names."""
        urls = [
            b"https://a.test/mcp?x=1#y",
            b"http://user:pw@[::1]:8080/mcp",
            b"/mcp/",
            b"//b.test",
            b"https://a:99/",
        ]
        text = damaged(rng, rng.choice(urls), urls).decode("latin-1")
        place(text)
        outcome.same_origin("https://a.test/mcp", text)

    def certificate(self, rng: random.Random) -> None:
        """Certificates of a handshake that failed."""
        ders = [rng.choice(self.corpus.certificates) for _ in range(rng.randint(1, 3))]
        ders = [damaged(rng, der, self.corpus.certificates) if rng.random() < 0.7 else der for der in ders]
        error = ssl.SSLCertVerificationError(1, "verify failed")
        error.verify_code, error.verify_message = (
            rng.choice((9, 10, 18, 19, 20, 21, 62, 99)),
            "it is not accepted",
        )
        host = rng.choice(("a.test", "192.0.2.1", "x" * 300, "\u00e9", "..", "*"))
        found = certificates.facts(
            cast("Any", Shown(ders)), error=error, host=host, trust=TRUST, now=lambda: NOW
        )
        tls.explain(found, error)

    def schema(self, rng: random.Random) -> None:
        """Walking one schema, and its canonical form."""
        tools = rng.choice(self.corpus.toolsets) or ({},)
        schema = bent(rng, cast("Any", rng.choice(tools)).get("inputSchema"), self.corpus.messages)
        self.walk(schema)

    def walk(self, schema: Json) -> None:
        """Everything that is ever worked out from one schema."""
        list(json_schema.places(schema))
        json_schema.depth(schema)
        tool = Tool.each(({"name": "x", "inputSchema": schema},))[0]
        assert tool.places is not None
        assert tool.parameters is not None
        assert tool.texts is not None
        toolset.fingerprint(Toolset(({"name": "x", "inputSchema": schema},)))

    def diff(self, rng: random.Random) -> None:
        """The difference of two lists, there and back through JSON."""
        tools = list(rng.choice(self.corpus.toolsets))
        self.compare(tools, bent(rng, tools, cast("list[Json]", self.corpus.toolsets)))

    def compare(self, old: list[Json], new: Json) -> None:
        """The diff has a summary that survives being stored."""
        found = toolset.diff(Toolset(tuple(old)), Toolset(tuple(new) if isinstance(new, list) else (new,)))
        assert toolset.Diff.from_json(found.to_json()).summary == found.summary

    def judgement(self, rng: random.Random) -> None:
        """Every check on damaged evidence: no crash, and nothing that is called a bug."""
        with suppress(EvidenceError):
            evidence = from_json(self._evidence(rng))
            report = judge(evidence, checks.Policy()).report
            bugs = [result.reason for result in report.results if result.code == "bug"]
            if bugs:
                raise AssertionError(bugs[0])

    def _evidence(self, rng: random.Random) -> Json:
        """Mostly damaged where anything may stand, so that it is still evidence; else anywhere."""
        whole = rng.choice(self.corpus.evidence)
        if rng.random() < 0.2:
            return bent(rng, whole, self.corpus.messages)
        whole = copy.deepcopy(whole)
        free = [(holder, key) for holder, key in places(whole) if key in SAID and isinstance(holder, dict)]
        for holder, key in rng.sample(free, min(len(free), rng.choice((1, 1, 3)))):
            holder[key] = bent(rng, holder[key], self.corpus.messages)
        return whole

    async def dialogue(self, rng: random.Random) -> None:
        """A whole probe in which nothing that is answered fits the question."""
        limits = Limits(max_pages=9)
        wire, target = Hearsay(rng, self.corpus), Target(name="x", url=Hearsay.url, limits=limits)
        talk = Dialogue(wire, url=target.url, limits=limits, pause=lambda _: asyncio.sleep(0))
        seen = Seen()
        await take(talk, seen, target, rng.choice(tuple(Depth)))
        outcome.conclude(seen.openings)

    async def wire(self, rng: random.Random) -> None:
        """The bytes of a whole reply, over a socket."""
        await self.exchange(
            damaged(rng, rng.choice(self.corpus.replies), self.corpus.replies), rng.choice(tuple(Read))
        )

    async def exchange(self, raw: bytes, read: Read = Read.ANSWER) -> None:
        """One exchange whose reply is there from the start, and ends."""
        here, there = socket.socketpair()
        here.setblocking(False)  # noqa: FBT003
        there.sendall(raw[:LARGEST])
        there.shutdown(socket.SHUT_WR)

        async def dial(*_: Any, **__: Any) -> connect.SocketStream:
            return connect.SocketStream(here, Address(ip_address("127.0.0.1"), 80))

        genuine, connect.dial = connect.dial, cast("Any", dial)
        try:
            wire = Wire(
                url="http://127.0.0.1/mcp", tls=TRUST, resolver=SystemResolver(threads=1), clock=lambda: NOW
            )
            async with wire:
                request = Request(label="x", rpc={"jsonrpc": "2.0", "id": 1, "method": "x"}, read=read)
                reply = await wire.send(request)
            outcome.blocked(reply.exchange)
            assert reply.exchange.duration_s < 15
        finally:
            connect.dial = genuine
            here.close()
            there.close()
