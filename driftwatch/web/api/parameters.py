"""What may stand in a query or a body; anything else is an error that says what was meant."""

from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, WithJsonSchema

from driftwatch.config.values import Duration
from driftwatch.model import Depth, EventKind, State
from driftwatch.store.ports import MessageStatus
from driftwatch.web.api.cursor import LIMIT as CURSOR_LIMIT

MOST = 200
"""Entries of one page."""

Text = Annotated[str, Field(max_length=1000)]
Names = Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=200)]


class Parameters(BaseModel):
    """A query or a body: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class NoQuery(Parameters):
    """No parameter at all."""


class Page(Parameters):
    """Which part of a list."""

    limit: int = Field(50, ge=1, le=MOST)
    """Entries at most."""
    cursor: Annotated[str, Field(max_length=CURSOR_LIMIT)] | None = None
    """From the next link of the page before."""


class ServersPage(Page):
    """Which servers."""

    state: State | None = None
    """Only servers of which at least one check is in this state."""


class HistoryPage(Page):
    """Which stretches."""

    subject: Text | None = None
    """check:<id>, toolset:<era>:<credential>, eras or revision:<era>."""


class EventsPage(Page):
    """Which events."""

    since: AwareDatetime | None = None
    """None before this time, such as 2026-11-30T00:00:00Z."""
    kind: tuple[EventKind, ...] = ()
    """Only of these kinds; may be given several times."""


class MessagesPage(Page):
    """Which messages."""

    status: MessageStatus | None = None


class DeploysPage(Page):
    """Which releases."""

    server: Text | None = None
    """Only those that went to this server."""


class SilencesQuery(Parameters):
    """Which silences."""

    all: bool = False
    """Also those that are over."""


class DiffQuery(Parameters):
    """Which two tool lists."""

    before: Text = Field("accepted", alias="from")
    """accepted, current, a fingerprint (whole or shortened), or a release (its ref or id)."""
    after: Text = Field("current", alias="to")
    """The same."""


class ToolsetQuery(Parameters):
    """Which tool list."""

    fingerprint: Text = "current"
    """accepted, current, a fingerprint (whole or shortened), or a release (its ref or id)."""


class Signed(Parameters):
    """A body that may say who acts."""

    by: Annotated[str, Field(min_length=1, max_length=200)] = "the admin token"
    """Who does it; kept with the event."""


class ProbeBody(Parameters):
    """How deep to look."""

    depth: Depth = Depth.FULL


class AcceptBody(Signed):
    """What is accepted, and why."""

    fingerprint: Text
    """Of the tool list that you have read: whole, or shortened to 8 digits of each half. Or what
    the subject revision:<era> shows, such as 2025-06-18."""
    reason: Text


class AckBody(Signed):
    """Who knows of it."""


class SilenceBody(Signed):
    """What is not to be told, for how long, and why."""

    servers: Names = ()
    tags: Names = ()
    """Every server with one of these tags, too."""
    checks: Names = ()
    """Only these checks; empty for everything."""
    lasting: Annotated[
        timedelta, Duration("1m", "30d"), WithJsonSchema({"type": "string", "examples": ["2h"]})
    ] = Field(alias="for")
    """How long, such as 30m, 2h or 7d."""
    reason: Text


class UnsilenceQuery(Parameters):
    """Who ends it."""

    by: Annotated[str, Field(min_length=1, max_length=200)] = "the admin token"


class NoBody(Parameters):
    """An empty object, or nothing."""


class FollowQuery(Parameters):
    """How long to wait, and what to refuse."""

    wait: Annotated[str, Field(pattern="^[0-9]{1,3}s?$")] = "0"
    """Seconds, at most 600; the answer comes as soon as the deploy is over."""
    gate: str | None = None
    """failed, drift, breaking, risk, or several with commas: 409 where one is tripped."""
