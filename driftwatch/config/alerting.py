"""``[[alert]]`` and ``[alerts]``: who is told, what, and when."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo, field_validator

from driftwatch.config.masking import mask_secret
from driftwatch.config.quantities import InvalidValueError
from driftwatch.config.secret_files import UNREAD, Secret, SecretPath, required_from_file
from driftwatch.config.values import (
    Boolean,
    CronText,
    Duration,
    Integer,
    Kind,
    Name,
    Names,
    Number,
    Table,
    Zone,
)
from driftwatch.model import Level


class Pace(Table):
    """How fast a channel may be written to."""

    per_second: Annotated[Number, Field(ge=0.01, le=100)] = Field(
        default=1.0, description="Messages in a second."
    )
    per_hour: Annotated[Integer, Field(ge=1, le=100_000)] = Field(
        default=20, description="Messages in an hour; more are merged into one, none is dropped."
    )


class Channel(Table):
    """One place where alerts go."""

    name: Name = Field(description="What status, logs and commands call it; unique.", examples=["ops"])
    url_file: SecretPath | None = Field(default=None, description="File with the URL.")
    url: Secret = Field(
        default=None, validate_default=True, description="One Apprise URL; all of it is secret."
    )
    tags: Names = Field(
        default=(), description="Only servers with one of these tags; without them every server."
    )
    min_severity: Level = Field(
        default=Level.INFO, description="The least severity that is told: info, warning, error."
    )
    pace: Pace = Field(default_factory=Pace, description="How fast it may be written to.")

    _read_file = field_validator("url", mode="before")(required_from_file)

    @field_validator("url")
    @classmethod
    def _is_url(cls, value: SecretStr, info: ValidationInfo) -> SecretStr:
        url = value.get_secret_value()
        if url == UNREAD:
            return value
        if "://" not in url:
            raise InvalidValueError(
                'not an Apprise URL: it begins with a scheme, such as "slack://" or "mailtos://"'
            )
        refuse = (info.context or {}).get("refuse_channel")
        if refuse is not None and (reason := refuse(url)):
            raise InvalidValueError(reason)
        return value

    @property
    def scheme(self) -> str:
        """The kind of channel, such as ``slack``."""
        return self.url.get_secret_value().partition("://")[0].lower()

    @property
    def shown_url(self) -> str:
        """The URL as people may see it: its scheme and nothing else."""
        return mask_secret(self.url.get_secret_value())


def _moment(value: object) -> datetime | time:
    if isinstance(value, datetime | time):
        return value
    if isinstance(value, str) and ":" in value:
        for read in (time.fromisoformat, datetime.fromisoformat):
            try:
                return read(value)
            except ValueError:
                continue
    hint = "a day has no time" if isinstance(value, date) else "not a time"
    raise InvalidValueError(f'{hint}: write "22:30" for every day, or "2026-12-24 22:30" for once')


Moment: TypeAlias = Annotated[datetime | time, BeforeValidator(_moment), Kind("time, or day and time")]


class Window(Table):
    """A maintenance window: what happens in it is recorded and told only if it is still so afterwards."""

    servers: Names = Field(default=(), description="Servers by name; without servers and tags, all.")
    tags: Names = Field(default=(), description="Servers by tag.")
    timezone: Zone = Field(
        default=UTC, description="IANA time zone of the times below; that of `[monitor]` if unset."
    )
    cron: CronText | None = Field(default=None, description="When it begins, as a cron line.")
    duration: Annotated[timedelta, Duration("1m", "7d")] = Field(
        default=timedelta(hours=1), description="How long a window with `cron` lasts."
    )
    start: Moment | None = Field(
        default=None,
        alias="from",
        description='In place of `cron`: "22:30" every day, or "2026-12-24 22:30" once.',
    )
    end: Moment | None = Field(
        default=None, alias="to", validate_default=True, description="The end of a window with `from`."
    )

    @field_validator("duration", "start")
    @classmethod
    def _one_form(cls, value: Any, info: ValidationInfo) -> Any:
        if info.field_name == "start" and info.data.get("cron") is not None:
            raise InvalidValueError("from and cron are both given: keep one")
        if info.field_name == "duration" and info.data.get("cron", value) is None:
            raise InvalidValueError("a duration belongs to cron: give cron, or from and to instead")
        return value

    @field_validator("start", "end")
    @classmethod
    def _in_zone(cls, value: datetime | time | None, info: ValidationInfo) -> datetime | time | None:
        if isinstance(value, time) and value.tzinfo is not None:
            raise InvalidValueError("a time of every day follows the window's timezone: leave its offset out")
        if isinstance(value, datetime) and value.tzinfo is None:
            return value.replace(tzinfo=info.data.get("timezone", UTC))
        return value

    @field_validator("end")
    @classmethod
    def _closes(cls, value: datetime | time | None, info: ValidationInfo) -> datetime | time | None:
        if "start" not in info.data or "cron" not in info.data:
            return value  # reported already
        start = info.data["start"]
        if value is None:
            if start is not None:
                raise InvalidValueError("missing: a window with from needs to")
            if info.data["cron"] is None:
                raise InvalidValueError("missing: give cron, or from and to")
        elif start is None:
            raise InvalidValueError("to without from: give both, or cron")
        elif isinstance(start, datetime) != isinstance(value, datetime):
            raise InvalidValueError("from and to are not alike: give both with a day, or both without")
        elif start == value or (
            isinstance(start, datetime) and isinstance(value, datetime) and value < start
        ):
            raise InvalidValueError("to does not come after from: correct one of them")
        return value


def _falling(value: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(set(value), reverse=True))


class Alerts(Table):
    """What is told, and when."""

    group_wait: Annotated[timedelta, Duration("0s", "1h")] = Field(
        default=timedelta(seconds=30), description="How long events wait for others to share a message with."
    )
    reminder: Annotated[timedelta, Duration("5m", "365d")] = Field(
        default=timedelta(hours=24), description="How often an open error is called to mind."
    )
    tls_days: Annotated[tuple[Annotated[Integer, Field(ge=1, le=3650)], ...], AfterValidator(_falling)] = (
        Field(
            default=(30, 14, 7, 3, 1),
            description="So many days before a certificate ends there is a reminder, where that is under "
            "30 % of its lifetime.",
        )
    )
    on_unchanged_deploy: Boolean = Field(
        default=False, description="Whether a deploy that changes nothing is told too."
    )
    windows: tuple[Window, ...] = Field(default=(), alias="window", description="Maintenance windows.")
