"""Servers that give another answer to some of their requests."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from driftwatch.model import State
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp, refusal
from tests.specimens.specimen import NOT_CHECKED, Specimen

When = Callable[[Incoming], bool]


def when(asked: When, answer: Callable[[Incoming], Answer], **server: Json) -> Callable[[], Mcp]:
    """A server that gives another answer to one request."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return answer(incoming) if asked(incoming) else None

    return lambda: Mcp(**{"before": before, **server})


def always(answer: Answer) -> Callable[[], Mcp]:
    """A server that gives one answer to everything."""
    return lambda: Mcp(before=lambda _, __: answer)


def answers(method: str, answer: Answer) -> Callable[[], Mcp]:
    """A server that gives another answer to one method."""
    return when(asks(method), lambda _: answer)


def asks(method: str) -> When:
    return lambda incoming: incoming.rpc_method == method


def status(code: int) -> Callable[[Incoming], Answer]:
    return lambda _: Answer(status=code)


def error(code: int, status: int, data: Json = None) -> Callable[[Incoming], Answer]:
    return lambda incoming: refusal(incoming.rpc, code, "no", status=status, data=data)


def one(
    name: str,
    deviation: str,
    make: Callable[[], Mcp],
    check: str,
    outcome: tuple[State, str],
    **more: Json,
) -> Specimen:
    expect = {check: outcome, **more.pop("expect", {})}
    return Specimen(name=name, deviation=deviation, make=make, expect=expect, **more)


def shut(
    name: str,
    deviation: str,
    answer: Answer,
    code: str,
    state: State = NOT_CHECKED,
    *,
    also: Mapping[str, tuple[State, str]] = MappingProxyType({}),
    **auth: tuple[State, str],
) -> Specimen:
    """A server of which nothing but the door is seen; ``auth`` is what is said of that, check by check."""
    return Specimen(
        name=name,
        deviation=deviation,
        make=always(answer),
        eras=(),
        expect={
            "transport/endpoint": (state, code),
            **also,
            **{f"auth/{check.replace('_', '-')}": result for check, result in auth.items()},
        },
        blocked=code,
    )
