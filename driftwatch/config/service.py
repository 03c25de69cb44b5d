"""How the service works: its rhythm, its webhook, its pages, its database."""

from datetime import UTC, timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator

from driftwatch.config.quantities import InvalidValueError, Rate
from driftwatch.config.secret_files import (
    Secret,
    SecretPath,
    Token,
    from_file,
    with_files,
)
from driftwatch.config.values import (
    Boolean,
    Duration,
    FilePath,
    Integer,
    Listen,
    ListenText,
    Number,
    RateText,
    Size,
    Table,
    WebUrl,
    Zone,
)


class Flap(Table):
    """When a value counts as flapping."""

    count: Annotated[Integer, Field(ge=2, le=100)] = Field(
        default=4, description="So many confirmed changes within the window are flapping."
    )
    window: Annotated[timedelta, Duration("1m", "7d")] = Field(
        default=timedelta(hours=6), description="The window."
    )
    settle: Annotated[Integer, Field(ge=1, le=1000)] = Field(
        default=12, description="So many equal readings in a row end it."
    )


class Monitor(Table):
    """How servers are watched, unless they say otherwise."""

    interval: Annotated[timedelta, Duration("1s", "31d")] = Field(
        default=timedelta(minutes=15), description="Time between two probes of a server."
    )
    full_interval: Annotated[timedelta, Duration("1s", "90d")] = Field(
        default=timedelta(hours=6),
        description="Time between two full probes, which add the deliberate bad requests.",
    )
    jitter: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.1,
        description="Probes are delayed by up to this share of the interval, so that they spread.",
    )
    confirm: Annotated[Integer, Field(ge=1, le=20)] = Field(
        default=3, description="A change counts once it was read so many times, the first time included."
    )
    confirm_delays: tuple[Annotated[timedelta, Duration("0s", "1d")], ...] = Field(
        default=(timedelta(seconds=15), timedelta(seconds=45)),
        description="When the further readings are made, counted from the first one; readings beyond the "
        "list wait for the next regular probe.",
    )
    loss_confirm: Annotated[timedelta, Duration("0s", "1d")] = Field(
        default=timedelta(minutes=5),
        description="A change that only loses tools counts once it has lasted this long.",
    )
    flap: Flap = Field(default_factory=Flap, description="When a value counts as flapping.")
    timeout: Annotated[timedelta, Duration("100ms", "10m")] = Field(
        default=timedelta(seconds=20), description="Longest wait for one answer."
    )
    deadline: Annotated[timedelta, Duration("1s", "1h")] = Field(
        default=timedelta(minutes=1),
        description="Longest time for a whole probe; a longer timeout is cut at it.",
    )
    concurrency: Annotated[Integer, Field(ge=1, le=1000)] = Field(
        default=8, description="Probes at the same time."
    )
    per_host: Annotated[Integer, Field(ge=1, le=100)] = Field(
        default=2, description="Probes at the same time to one host and port."
    )
    max_body: Annotated[int, Size("1KiB", "1GiB")] = Field(
        default=4 * 2**20, description="Longest answer that is read."
    )
    max_pages: Annotated[Integer, Field(ge=1, le=10_000)] = Field(
        default=100, description="Most pages of one list that are read."
    )
    max_tools: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        default=5000, description="Most entries of one list that are read."
    )
    canary_url: WebUrl | None = Field(
        default=None,
        description="An address that is always up: while it is out of reach too, driftwatch's own network is "
        "at fault and nothing is concluded.",
    )
    timezone: Zone = Field(default=UTC, description="Time zone of schedules and of times in messages.")

    @field_validator("confirm_delays")
    @classmethod
    def _in_order(cls, value: tuple[timedelta, ...]) -> tuple[timedelta, ...]:
        if list(value) != sorted(value):
            raise InvalidValueError("delays are counted from the first reading: write them in rising order")
        return value


class Hook(Table):
    """The deploy webhook; without a token or secret it answers 403."""

    token_files: tuple[SecretPath, ...] = Field(default=(), description="Files with one bearer token each.")
    tokens: tuple[Token, ...] = Field(
        default=(), validate_default=True, description="Bearer tokens; several for rotation."
    )
    secret_files: tuple[SecretPath, ...] = Field(
        default=(), description="Files with one signing secret each."
    )
    secrets: tuple[Secret, ...] = Field(
        default=(),
        validate_default=True,
        description="Signing secrets, for GitHub's `X-Hub-Signature-256`, Standard Webhooks and Vercel.",
    )
    delay: Annotated[timedelta, Duration("0s", "1h")] = Field(
        default=timedelta(seconds=10), description="Wait after a deploy was announced."
    )
    debounce: Annotated[timedelta, Duration("0s", "10m")] = Field(
        default=timedelta(seconds=5),
        description="Announcements for the same servers within this time are one.",
    )
    reads: Annotated[Integer, Field(ge=1, le=20)] = Field(
        default=3, description="Equal readings, each on a new connection, that settle a deploy."
    )
    settle_timeout: Annotated[timedelta, Duration("1s", "1h")] = Field(
        default=timedelta(minutes=5),
        description="A deploy that has not settled by then is reported as unsettled.",
    )
    rate: RateText = Field(
        default=Rate(10, timedelta(minutes=1)),
        description="Announcements that are taken from one token (s, min, h).",
    )

    _read_files = field_validator("tokens", "secrets", mode="before")(with_files)


class Http(Table):
    """The service's own pages and API; without a read token, pages are readable from loopback only."""

    listen: ListenText = Field(default=Listen("127.0.0.1", 8080), description="Address and port.")
    read_token_file: SecretPath | None = Field(default=None, description="File with the token for reading.")
    read_token: Token | None = Field(default=None, validate_default=True, description="Token for reading.")
    admin_token_file: SecretPath | None = Field(default=None, description="File with the token for writing.")
    admin_token: Token | None = Field(
        default=None,
        validate_default=True,
        description="Token for writing; without one, every write answers 403.",
    )
    public_status: Boolean = Field(default=False, description="Whether everybody may read the status pages.")
    metrics: Literal["full", "counts"] = Field(
        default="full",
        description="What `/metrics` shows: a series for every check of every server, or counts for each "
        "server only.",
    )
    metrics_token_file: SecretPath | None = Field(
        default=None, description="File with the token for `/metrics`."
    )
    metrics_token: Token | None = Field(
        default=None,
        validate_default=True,
        description="Token for `/metrics`; without one it is read like a page.",
    )

    _read_file = field_validator("read_token", "admin_token", "metrics_token", mode="before")(from_file)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on."""
        return self.listen.host, self.listen.port


class Storage(Table):
    """The database."""

    path: FilePath = Field(
        default=Path("driftwatch.db"), validate_default=True, description="The SQLite file."
    )
    keep: Annotated[timedelta, Duration("1d", "3650d")] = Field(
        default=timedelta(days=90), description="How long history is kept."
    )
    max_size: Annotated[int, Size("16MiB", "1TiB")] = Field(
        default=512 * 2**20, description="Above this size the oldest history goes first."
    )
    backup_dir: FilePath | None = Field(
        default=None, description="Folder for backups; without it beside the database."
    )
    backups: Annotated[Integer, Field(ge=0, le=1000)] = Field(
        default=7, description="How many backups are kept."
    )


class Heartbeat(Table):
    """A sign of life to a service that misses it, such as healthchecks.io."""

    url_file: SecretPath | None = Field(default=None, description="File with the URL.")
    url: Secret | None = Field(
        default=None, validate_default=True, description="Address that is fetched while all is well."
    )
    every: Annotated[timedelta, Duration("10s", "1d")] = Field(
        default=timedelta(minutes=1), description="How often."
    )

    _read_file = field_validator("url", mode="before")(from_file)

    @field_validator("url")
    @classmethod
    def _is_web(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(("http://", "https://")):
            raise InvalidValueError('not a web address: it begins with "https://" or "http://"')
        return value
