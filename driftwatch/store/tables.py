"""The tables. Only this room knows them; the statements work on their ``__table__``.

::

    server ──┬── run                   one small row per probe: counts, never results
             ├── transcript            what was said on the last visit of each depth
             ├── probe_request         what is handed out or waits, until its run is recorded
             ├── subject_state         the present, one row per check and toolset
             ├── standing              the present in four numbers
             ├── state_interval        the past, one row per stretch of time with one value
             ├── incident
             ├── toolset ── toolset_tool ── body     each tool object is stored once per content
             ├── certificate ── tls_notice
             └── event ── event_delivery ── message ── channel

    release ─┬── hook_delivery         who announced it
             └── deploy_outcome        what it did to each of its servers

``silence`` stands by itself. Vocabularies are held by a CHECK, except the kinds of events: there are many,
and each new one would rewrite the largest table.
"""

from datetime import datetime
from typing import ClassVar

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from driftwatch.model import DeployState, DeployVerdict, Depth, EventKind, Json, Level, State, Trigger
from driftwatch.store.columns import BigCount, JsonText, Moment, PackedJson, words
from driftwatch.store.ports import DeliveryOutcome, MessageStatus

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


MESSAGE_WAITS = "status IN ('pending', 'sending')"
DELIVERY_WAITS = "message_id IS NULL AND suppressed_by IS NULL AND dropped_at IS NULL"
DEPLOY_UNDER_WAY = "state IN ('waiting', 'settling')"
DELIVERY_IS_HELD = "suppressed_by IS NOT NULL AND dropped_at IS NULL"
"""Conditions of partial indexes; a statement has to use the same words for SQLite to see it."""


class Row(SQLModel):
    """The base of all tables; rows never leave this package."""

    metadata: ClassVar[sa.MetaData] = metadata


def _where(name: str, *columns: str, condition: str, unique: bool = False) -> sa.Index:
    """A partial index that is the same on every back end."""
    clause = sa.text(condition)
    return sa.Index(name, *columns, unique=unique, sqlite_where=clause, postgresql_where=clause)


def _server(*, primary_key: bool = False, nullable: bool = False) -> int:
    key: int = Field(
        foreign_key="server.id",
        ondelete="CASCADE",
        primary_key=primary_key,
        nullable=nullable,
        sa_type=BigCount,
        sa_column_kwargs={"autoincrement": False},
    )
    return key


class Server(Row, table=True):
    """A configured server. It stays, marked as removed, until its history has aged away."""

    __tablename__ = "server"
    __table_args__ = (
        _where(
            "ix_server_due",
            "next_due_at",
            "confirm_due_at",
            "not_before",
            condition="removed_at IS NULL",
        ),
        {"sqlite_autoincrement": True},
    )

    id: int = Field(primary_key=True, sa_type=BigCount)
    name: str = Field(sa_type=sa.Text, unique=True)
    url: str = Field(sa_type=sa.Text)
    host: str = Field(sa_type=sa.Text)
    credential: str = Field(sa_type=sa.Text)
    revision: str = Field(sa_type=sa.Text)
    tags: Json = Field(sa_type=JsonText)
    added_at: datetime = Field(sa_type=Moment)
    removed_at: datetime | None = Field(sa_type=Moment)
    next_due_at: datetime = Field(sa_type=Moment)
    next_full_at: datetime = Field(sa_type=Moment)
    confirm_due_at: datetime | None = Field(sa_type=Moment)
    confirm_depth: Depth | None = Field(sa_type=words(Depth))
    not_before: datetime | None = Field(sa_type=Moment)
    last_run_at: datetime | None = Field(sa_type=Moment)
    observed_at: datetime | None = Field(sa_type=Moment)
    """When its subjects were last observed, so that an unchanged probe writes this and not every state."""
    unobserved: Json = Field(sa_type=JsonText)
    """The exceptions: subject -> when it was last observed, in microseconds since 1970."""
    leaf_sha256: str | None = Field(sa_type=sa.Text)
    leaf_seen_at: datetime | None = Field(sa_type=Moment)


class ProbeRequestRow(Row, table=True):
    """A probe that waits (claimed_by is NULL) or was handed out and has no run yet."""

    __tablename__ = "probe_request"
    __table_args__ = (
        _where(
            "uq_probe_request_waiting",
            "server_id",
            "trigger",
            condition="claimed_by IS NULL",
            unique=True,
        ),
        {"sqlite_with_rowid": False},
    )

    server_id: int = _server(primary_key=True)
    due_at: datetime = Field(sa_type=Moment, primary_key=True)
    trigger: Trigger = Field(sa_type=words(Trigger), primary_key=True)
    depth: Depth = Field(sa_type=words(Depth))
    priority: int = Field(sa_type=sa.Integer)
    release_ref: Json = Field(sa_type=JsonText, nullable=True)
    config_revision: str = Field(sa_type=sa.Text)
    attempt: int = Field(sa_type=sa.Integer)
    claimed_by: str | None = Field(sa_type=sa.Text)
    claimed_until: datetime | None = Field(sa_type=Moment)


class Run(Row, table=True):
    """One probe that was made. Its key is when and why it was due, so that a replay changes nothing."""

    __tablename__ = "run"
    __table_args__ = (sa.Index(None, "server_id", "taken_at"),)

    server_id: int = _server(primary_key=True)
    due_at: datetime = Field(sa_type=Moment, primary_key=True)
    trigger: Trigger = Field(sa_type=words(Trigger), primary_key=True)
    id: str = Field(sa_type=sa.Text, unique=True)
    taken_at: datetime = Field(sa_type=Moment)
    depth: Depth = Field(sa_type=words(Depth))
    duration_ms: int = Field(sa_type=sa.Integer)
    requests: int = Field(sa_type=sa.Integer)
    reachable: bool
    verified: int = Field(sa_type=sa.Integer)
    failed: int = Field(sa_type=sa.Integer)
    observed_risk: int = Field(sa_type=sa.Integer)
    not_checked: int = Field(sa_type=sa.Integer)
    release_ref: Json = Field(sa_type=JsonText, nullable=True)


class TranscriptRow(Row, table=True):
    """What was said on the last visit of each depth; the next one takes its place."""

    __tablename__ = "transcript"

    server_id: int = _server(primary_key=True)
    depth: Depth = Field(sa_type=words(Depth), primary_key=True)
    run: str = Field(sa_type=sa.Text)
    taken_at: datetime = Field(sa_type=Moment)
    content: Json = Field(sa_type=PackedJson, nullable=False)


class SubjectStateRow(Row, table=True):
    """What is remembered about one subject; when it was last observed stands in the server's row."""

    __tablename__ = "subject_state"
    __table_args__: ClassVar = {"sqlite_with_rowid": False}

    server_id: int = _server(primary_key=True)
    subject: str = Field(sa_type=sa.Text, primary_key=True)
    confirmed: str = Field(sa_type=sa.Text)
    confirmed_since: datetime = Field(sa_type=Moment)
    accepted: str | None = Field(sa_type=sa.Text)
    pending: str | None = Field(sa_type=sa.Text)
    pending_count: int = Field(sa_type=sa.Integer)
    pending_since: datetime | None = Field(sa_type=Moment)
    blocked_by: str | None = Field(sa_type=sa.Text)
    blocked_since: datetime | None = Field(sa_type=Moment)
    blocked_code: str | None = Field(sa_type=sa.Text)
    flap_times: Json = Field(sa_type=JsonText)
    flap_values: Json = Field(sa_type=JsonText)
    flapping: bool
    flap_muted: int = Field(sa_type=sa.Integer)
    turns: Json = Field(sa_type=JsonText)
    turning_since: datetime | None = Field(sa_type=Moment)
    stable_count: int = Field(sa_type=sa.Integer)
    incident: str | None = Field(sa_type=sa.Text)
    version: int = Field(sa_type=sa.Integer)
    settings: str = Field(sa_type=sa.Text)
    detail: Json = Field(sa_type=JsonText)


class StandingRow(Row, table=True):
    """A server's states summed up, written with them: a fleet is listed without reading every state."""

    __tablename__ = "standing"
    __table_args__: ClassVar = {"sqlite_with_rowid": False}

    server_id: int = _server(primary_key=True)
    verified: int = Field(sa_type=sa.Integer)
    failed: int = Field(sa_type=sa.Integer)
    observed_risk: int = Field(sa_type=sa.Integer)
    not_checked: int = Field(sa_type=sa.Integer)
    worst: State = Field(sa_type=words(State))
    changed_at: datetime | None = Field(sa_type=Moment)


class StateInterval(Row, table=True):
    """A stretch of time in which a subject was observed with one value; the open one has no end."""

    __tablename__ = "state_interval"
    __table_args__ = (
        sa.Index(None, "server_id", "subject", "since"),
        _where(
            "uq_state_interval_open",
            "server_id",
            "subject",
            condition="until IS NULL",
            unique=True,
        ),
        _where("ix_state_interval_closed", "until", condition="until IS NOT NULL"),
        {"sqlite_autoincrement": True},
    )

    id: int = Field(primary_key=True, sa_type=BigCount)
    server_id: int = _server()
    subject: str = Field(sa_type=sa.Text)
    value: str = Field(sa_type=sa.Text)
    since: datetime = Field(sa_type=Moment)
    until: datetime | None = Field(sa_type=Moment)
    event: str | None = Field(sa_type=sa.Text)


class IncidentRow(Row, table=True):
    """An incident; a subject has at most one open one."""

    __tablename__ = "incident"
    __table_args__ = (
        _where("uq_incident_open", "server_id", "subject", condition="closed_at IS NULL", unique=True),
    )

    id: str = Field(sa_type=sa.Text, primary_key=True)
    server_id: int = _server()
    subject: str = Field(sa_type=sa.Text)
    opened_at: datetime = Field(sa_type=Moment)
    opening_event: str = Field(sa_type=sa.Text)
    value: str = Field(sa_type=sa.Text)
    acked_at: datetime | None = Field(sa_type=Moment)
    acked_by: Json = Field(sa_type=JsonText, nullable=True)
    next_reminder_at: datetime | None = Field(sa_type=Moment)
    closed_at: datetime | None = Field(sa_type=Moment)
    closing_event: str | None = Field(sa_type=sa.Text)


class Body(Row, table=True):
    """A tool object, or a server's instructions as a JSON string, once per content."""

    __tablename__ = "body"
    __table_args__: ClassVar = {"sqlite_autoincrement": True}

    id: int = Field(primary_key=True, sa_type=BigCount)
    sha256: str = Field(sa_type=sa.Text, unique=True)
    """Hex, of the canonical text."""
    content: Json = Field(sa_type=JsonText, nullable=False)


class Toolset(Row, table=True):
    """One complete tool list that a server showed."""

    __tablename__ = "toolset"
    __table_args__ = (
        sa.UniqueConstraint("server_id", "era", "credential", "pair"),
        {"sqlite_autoincrement": True},
    )

    id: int = Field(primary_key=True, sa_type=BigCount)
    server_id: int = _server()
    era: str = Field(sa_type=sa.Text)
    credential: str = Field(sa_type=sa.Text)
    pair: str = Field(sa_type=sa.Text)
    revision: Json = Field(sa_type=JsonText, nullable=False)
    algorithm: str = Field(sa_type=sa.Text)
    contract: str = Field(sa_type=sa.Text)
    surface: str = Field(sa_type=sa.Text)
    checklist: str | None = Field(sa_type=sa.Text)
    instructions_id: int | None = Field(foreign_key="body.id", sa_type=BigCount)
    further_id: int | None = Field(foreign_key="body.id", sa_type=BigCount)
    """The other lists that are watched, by kind, as one body."""
    first_seen_at: datetime = Field(sa_type=Moment)
    last_confirmed_at: datetime | None = Field(sa_type=Moment)
    """When it last became, or ceased to be, the confirmed one; NULL when it never was."""


class ToolsetTool(Row, table=True):
    """A tool's place in a tool list."""

    __tablename__ = "toolset_tool"
    __table_args__ = (sa.Index(None, "body_id"), {"sqlite_with_rowid": False})

    toolset_id: int = Field(
        foreign_key="toolset.id",
        ondelete="CASCADE",
        primary_key=True,
        sa_type=BigCount,
        sa_column_kwargs={"autoincrement": False},
    )
    position: int = Field(primary_key=True, sa_type=sa.Integer, sa_column_kwargs={"autoincrement": False})
    name: Json = Field(sa_type=JsonText, nullable=False)
    digest: str = Field(sa_type=sa.Text)
    """Of what is meaningful in the tool, by the toolset's algorithm; the body may differ in what is not."""
    body_id: int = Field(foreign_key="body.id", sa_type=BigCount)


class CertificateRow(Row, table=True):
    """A leaf certificate that a server showed."""

    __tablename__ = "certificate"
    __table_args__: ClassVar = {"sqlite_with_rowid": False}

    server_id: int = _server(primary_key=True)
    leaf_sha256: str = Field(sa_type=sa.Text, primary_key=True)
    not_before: datetime = Field(sa_type=Moment)
    not_after: datetime = Field(sa_type=Moment)
    issuer: Json = Field(sa_type=JsonText, nullable=False)
    subject_alt_names: Json = Field(sa_type=JsonText)
    version: str | None = Field(sa_type=sa.Text)
    chain_length: int = Field(sa_type=sa.Integer)
    serial: str = Field(sa_type=sa.Text)
    first_seen_at: datetime = Field(sa_type=Moment)
    last_seen_at: datetime = Field(sa_type=Moment)
    """Of the one that is shown now, the server's row knows better."""


class TlsNotice(Row, table=True):
    """A threshold of a certificate's lifetime that was spoken about, or passed together with a closer one.

    ``transitions.certificates`` has marks that stand in the place of a threshold.
    """

    __tablename__ = "tls_notice"
    __table_args__ = (
        sa.ForeignKeyConstraint(
            ["server_id", "leaf_sha256"],
            ["certificate.server_id", "certificate.leaf_sha256"],
            ondelete="CASCADE",
        ),
        {"sqlite_with_rowid": False},
    )

    server_id: int = Field(sa_type=BigCount, primary_key=True, sa_column_kwargs={"autoincrement": False})
    leaf_sha256: str = Field(sa_type=sa.Text, primary_key=True)
    threshold_days: int = Field(
        primary_key=True, sa_type=sa.Integer, sa_column_kwargs={"autoincrement": False}
    )
    at: datetime = Field(sa_type=Moment)
    event: str | None = Field(sa_type=sa.Text)


class EventRow(Row, table=True):
    """Something that happened; the fields of model.Event."""

    __tablename__ = "event"
    __table_args__ = (sa.Index(None, "at", "id"), sa.Index(None, "server_id", "at", "id"))

    id: str = Field(sa_type=sa.Text, primary_key=True)
    server_id: int | None = _server(nullable=True)
    kind: EventKind = Field(sa_type=sa.Text)
    level: Level = Field(sa_type=words(Level))
    alerts: bool
    at: datetime = Field(sa_type=Moment)
    run: str | None = Field(sa_type=sa.Text)
    subject: str | None = Field(sa_type=sa.Text)
    before: str | None = Field(sa_type=sa.Text)
    after: str | None = Field(sa_type=sa.Text)
    since: datetime | None = Field(sa_type=Moment)
    details: Json = Field(sa_type=JsonText)


class Channel(Row, table=True):
    """A channel's lease; whoever holds the lease is the only one to send there."""

    __tablename__ = "channel"

    name: str = Field(sa_type=sa.Text, primary_key=True)
    claimed_by: str | None = Field(sa_type=sa.Text)
    claimed_until: datetime | None = Field(sa_type=Moment)


class Message(Row, table=True):
    """A message as it was written, and what became of it."""

    __tablename__ = "message"
    __table_args__ = (
        _where(
            "ix_message_waiting",
            "channel",
            "created_at",
            "id",
            condition=MESSAGE_WAITS,
        ),
        sa.Index(None, "created_at", "id"),
    )

    id: str = Field(sa_type=sa.Text, primary_key=True)
    channel: str = Field(sa_type=sa.Text)
    title: Json = Field(sa_type=JsonText, nullable=False)
    body: Json = Field(sa_type=JsonText, nullable=False)
    html: Json = Field(sa_type=JsonText, nullable=True)
    level: Level = Field(sa_type=words(Level))
    created_at: datetime = Field(sa_type=Moment)
    events: Json = Field(sa_type=JsonText)
    status: MessageStatus = Field(sa_type=words(MessageStatus))
    attempts: int = Field(sa_type=sa.Integer)
    attempt_started_at: datetime | None = Field(sa_type=Moment)
    next_attempt_at: datetime | None = Field(sa_type=Moment)
    claimed_by: str | None = Field(sa_type=sa.Text)
    claimed_until: datetime | None = Field(sa_type=Moment)
    possible_repeat: bool
    last_outcome: DeliveryOutcome | None = Field(sa_type=words(DeliveryOutcome))
    last_error: Json = Field(sa_type=JsonText, nullable=True)
    sent_at: datetime | None = Field(sa_type=Moment)


class EventDelivery(Row, table=True):
    """That an event goes to a channel. It ends in a message, suppressed, or dropped.

    What is suppressed waits for the end of its silence: then it is no longer suppressed, or dropped as well.
    """

    __tablename__ = "event_delivery"
    __table_args__ = (
        _where(
            "ix_event_delivery_waiting",
            "channel",
            "not_before",
            condition=DELIVERY_WAITS,
        ),
        _where("ix_event_delivery_held", "event_id", condition=DELIVERY_IS_HELD),
        sa.Index(None, "message_id"),
        {"sqlite_with_rowid": False},
    )

    event_id: str = Field(foreign_key="event.id", ondelete="CASCADE", sa_type=sa.Text, primary_key=True)
    channel: str = Field(sa_type=sa.Text, primary_key=True)
    not_before: datetime = Field(sa_type=Moment)
    message_id: str | None = Field(foreign_key="message.id", sa_type=sa.Text)
    suppressed_by: str | None = Field(sa_type=sa.Text)
    dropped_at: datetime | None = Field(sa_type=Moment)


class Silence(Row, table=True):
    """A time in which what matches is stored as suppressed; it always ends."""

    __tablename__ = "silence"

    id: str = Field(sa_type=sa.Text, primary_key=True)
    matcher: Json = Field(sa_type=JsonText)
    starts_at: datetime = Field(sa_type=Moment)
    ends_at: datetime = Field(sa_type=Moment)
    reason: Json = Field(sa_type=JsonText, nullable=False)
    created_by: Json = Field(sa_type=JsonText, nullable=True)
    lifted_at: datetime | None = Field(sa_type=Moment)


class Release(Row, table=True):
    """A deploy that a webhook named."""

    __tablename__ = "release"
    __table_args__ = (sa.Index(None, "received_at"),)

    id: str = Field(sa_type=sa.Text, primary_key=True)
    ref: Json = Field(sa_type=JsonText, nullable=False)
    previous_ref: Json = Field(sa_type=JsonText, nullable=True)
    commit: Json = Field(sa_type=JsonText, nullable=True)
    link: Json = Field(sa_type=JsonText, nullable=True)
    actor: Json = Field(sa_type=JsonText, nullable=True)
    environment: Json = Field(sa_type=JsonText, nullable=True)
    expect_change: bool
    servers: Json = Field(sa_type=JsonText)
    received_at: datetime = Field(sa_type=Moment)


class HookDelivery(Row, table=True):
    """A webhook call by its sender's id, so that a repeated call gets the first answer."""

    __tablename__ = "hook_delivery"
    __table_args__ = (sa.Index(None, "received_at"),)

    id: str = Field(sa_type=sa.Text, primary_key=True)
    body_sha256: str = Field(sa_type=sa.Text)
    received_at: datetime = Field(sa_type=Moment)
    release_id: str | None = Field(foreign_key="release.id", ondelete="SET NULL", sa_type=sa.Text)


class DeployOutcome(Row, table=True):
    """What became of a release on one server; its ``run_release`` is the one whose run looks after it."""

    __tablename__ = "deploy_outcome"
    __table_args__ = (
        _where("ix_deploy_outcome_under_way", "server_id", condition=DEPLOY_UNDER_WAY),
        sa.Index(None, "server_id", "release_id"),
        sa.Index(None, "run_release"),
        {"sqlite_with_rowid": False},
    )

    release_id: str = Field(
        foreign_key="release.id", ondelete="CASCADE", sa_type=sa.Text, primary_key=True, nullable=False
    )
    server_id: int = _server(primary_key=True)
    run_release: str = Field(sa_type=sa.Text)
    """A newer announcement takes those along that still wait: one run answers all of them."""
    state: DeployState = Field(sa_type=words(DeployState))
    due_at: datetime = Field(sa_type=Moment)
    """No read before this counts."""
    progress: Json = Field(sa_type=JsonText, nullable=True)
    reads: int = Field(sa_type=sa.Integer)
    verdict: DeployVerdict | None = Field(sa_type=words(DeployVerdict))
    counts: Json = Field(sa_type=JsonText)
    changed: bool
    breaking: bool
    summary: Json = Field(sa_type=JsonText, nullable=False)
    level: Level | None = Field(sa_type=words(Level))
    finished_at: datetime | None = Field(sa_type=Moment)
    run: str | None = Field(sa_type=sa.Text)
    events: Json = Field(sa_type=JsonText)
