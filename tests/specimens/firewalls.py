"""Servers behind a firewall that has had enough of the probe after requests that were wrong on purpose."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from driftwatch.model import Era, State
from tests.servers.raw import RESET
from tests.specimens.answering import status, when
from tests.specimens.healthy import MODERN_ONLY
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp
from tests.specimens.specimen import NOT_CHECKED, Specimen

SHUT_OUT = (NOT_CHECKED, "shut-out")


@dataclass
class _Firewall:
    """Counts foreign Origins and unknown methods, and answers in the server's place from then on."""

    answer: Answer
    patience: int
    seen: int = 0

    def __call__(self, _: Mcp, incoming: Incoming) -> Answer | None:
        if self.seen == self.patience:
            return self.answer
        self.seen += "origin" in incoming.headers or incoming.rpc_method == "driftwatch/no_such_method"
        return None

    def greet(self, _: int) -> tuple[Json, ...]:
        return (RESET,) if self.seen == self.patience and self.answer.cut else ()


def _behind(answer: Answer, patience: int, **server: Json) -> Callable[[], Mcp]:
    def make() -> Mcp:
        firewall = _Firewall(answer, patience)
        return Mcp(before=firewall, greet=firewall.greet, **server)

    return make


def _unseen(*checks: str) -> dict[str, tuple[State, str]]:
    beside = ("network/addresses", "release/replicas", "tools/invalid-cursor", "errors/tool-arguments")
    return dict.fromkeys((*beside, *checks), SHUT_OUT)


_OF_MODERN = ("errors/header-mismatch", "errors/unsupported-version", "timeouts/stream-buffering")


def _firewalls(kind: str, answer: Answer) -> Iterable[Specimen]:
    yield Specimen(
        name=f"firewall-{kind}",
        deviation=f"{kind} to everything, once a foreign Origin was seen",
        make=_behind(answer, 1),
        expect=_unseen("errors/unknown-method", "transport/get", "session/ended", *_OF_MODERN),
        leaves_sessions=True,
    )
    yield Specimen(
        name=f"firewall-{kind}-modern-only",
        deviation=f"{kind} to everything, once a foreign Origin and an unknown method were seen",
        make=_behind(answer, 2, legacy=False),
        eras=(Era.MODERN,),
        expect={**MODERN_ONLY, **_unseen(*_OF_MODERN)},
    )


FIREWALLS = (
    Specimen(
        name="firewall-late",
        deviation="no connection is taken any more, once everything was asked on the first one",
        make=lambda: Mcp(legacy=False, greet=lambda number: (RESET,) if number > 1 else ()),
        eras=(Era.MODERN,),
        expect={**MODERN_ONLY, "release/replicas": SHUT_OUT},
    ),
    *_firewalls("reset", Answer(cut=True)),
    *_firewalls("403", Answer(status=403)),
    Specimen(
        name="unknown-method-cut",
        deviation="an unknown method is cut off, and everything else is answered",
        make=when(lambda asked: asked.rpc_method == "driftwatch/no_such_method", lambda _: Answer(cut=True)),
        expect={"errors/unknown-method": (NOT_CHECKED, "reset")},
    ),
    Specimen(
        name="get-403",
        deviation="a gateway forbids GET, and nothing else",
        make=when(lambda asked: asked.method == "GET", status(403)),
        expect={"transport/get": (NOT_CHECKED, "forbidden")},
    ),
)
