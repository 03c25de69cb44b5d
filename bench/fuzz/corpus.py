"""What is damaged: everything that made-up and real servers said to full probes."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography.hazmat.primitives.serialization import Encoding

from driftwatch.evidence import Evidence, Exchange, to_json
from driftwatch.model import Depth, Json, Trigger
from driftwatch.probe import SystemResolver, Target, TrustStore, probe
from tests.servers.certificates import intermediate, root, self_signed
from tests.specimens import SPECIMENS
from tests.specimens.running import at_home


@dataclass(slots=True)
class Corpus:
    """What real and made-up servers said."""

    evidence: list[Json] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    replies: list[bytes] = field(default_factory=list)
    toolsets: list[tuple[Json, ...]] = field(default_factory=list)
    challenges: list[bytes] = field(default_factory=list)
    certificates: list[bytes] = field(default_factory=list)

    def add(self, seen: Evidence) -> None:
        """Take in what one probe saw."""
        whole = to_json(seen)
        if len(json.dumps(whole)) > 300_000:
            return
        self.evidence.append(whole)
        openings = seen.openings if isinstance(seen.openings, tuple) else ()
        found = [attempt for opening in openings for attempt in opening.attempts]
        for surface in seen.surfaces:
            found += [
                part for name in surface.__slots__ if isinstance(part := getattr(surface, name), Exchange)
            ]
            if isinstance(surface.tools, tuple):
                self.toolsets.append(surface.tools)
        for exchange in found:
            self.exchanges.append(exchange)
            text = exchange.excerpt.encode("utf-8", "replace")
            if exchange.answer is not None:
                self.messages.append(exchange.answer)
                text = json.dumps(exchange.answer).encode()
            self.texts += [text, b"event: message\nid: 1\ndata: " + text + b"\n\n"]
            head = "".join(f"{name}: {value}\r\n" for name, value in exchange.headers if "length" not in name)
            first = f"HTTP/1.1 {exchange.status or 200} OK\r\n{head}".encode("utf-8", "replace")
            self.replies.append(first + b"content-length: %d\r\n\r\n" % len(text) + text)
            chunks = b"%x\r\n" % len(text) + text + b"\r\n0\r\n\r\n"
            self.replies.append(first + b"transfer-encoding: chunked\r\n\r\n" + chunks)
            self.challenges += [
                value.encode() for name, value in exchange.headers if name == "www-authenticate"
            ]


async def gather(servers: list[str]) -> Corpus:
    """Probe every specimen that is quick about it, and the servers."""
    corpus = Corpus(
        challenges=[b'Bearer realm="a, b", scope="x", Basic YWxhZGRpbg==, Digest qop="auth", nonce=1']
    )
    for specimen in SPECIMENS:
        if "limits" in specimen.target or specimen.name.startswith(("tools-5", "list-too")):
            continue
        async with at_home(specimen) as server:
            corpus.add(await server.probe(path=specimen.path, depth=Depth.FULL, **specimen.target))
    for url in servers:
        corpus.add(
            await probe(
                Target(name="server", url=url),
                depth=Depth.FULL,
                trigger=Trigger.MANUAL,
                trust=TrustStore(),
                resolver=SystemResolver(),
                now=lambda: datetime.now(UTC),
            )
        )
    issued = [intermediate().issue("a.test", "192.0.2.1"), root(), intermediate(), self_signed("x", "x.test")]
    corpus.certificates = [one.certificate.public_bytes(Encoding.DER) for one in issued]
    return corpus
