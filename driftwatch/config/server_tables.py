"""The tables inside ``[[server]]``."""

import difflib
import re
from datetime import date, timedelta
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from driftwatch.config.quantities import InvalidValueError
from driftwatch.config.secret_files import Secret, SecretPath, required_from_file
from driftwatch.config.values import (
    Arguments,
    Boolean,
    Duration,
    FilePath,
    Integer,
    Kind,
    Table,
    WebUrl,
    is_in_clear,
)


def _revision(value: object) -> object:
    if isinstance(value, date):  # TOML dates need no quotes
        return value.isoformat()[:10]
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise InvalidValueError('not a protocol revision: write its date, such as "2025-06-18"')
    return value


Revision: TypeAlias = Annotated[str, BeforeValidator(_revision), Kind("protocol revision")]


def _check_id(value: str, info: ValidationInfo) -> str:
    known = (info.context or {}).get("known_checks")
    if known is not None and value not in known:
        near = difflib.get_close_matches(value, known, n=1)
        raise InvalidValueError(
            f'no such check, did you mean "{near[0]}"?' if near else 'no such check: see "driftwatch checks"'
        )
    return value


CheckId: TypeAlias = Annotated[str, AfterValidator(_check_id), Kind("check id")]


class OAuth(Table):
    """Client credentials, fetched and renewed without a person."""

    client_id: Annotated[str, Field(min_length=1)] = Field(
        description="The client's id.", examples=["driftwatch"]
    )
    client_secret_file: SecretPath | None = Field(
        default=None,
        description="File with the client's secret; read again for every token.",
    )
    client_secret: Secret = Field(default=None, validate_default=True, description="The client's secret.")
    token_url: WebUrl | None = Field(
        default=None,
        description="The token endpoint, over https. Without it the server's own metadata name it, and the "
        "client's secret goes where they say.",
    )
    scope: str | None = Field(default=None, description="The scopes to ask for, separated by blanks.")
    resource: WebUrl | None = Field(
        default=None, description="The resource indicator (RFC 8707); without it the server's URL."
    )

    _read_file = field_validator("client_secret", mode="before")(required_from_file)

    @field_validator("token_url")
    @classmethod
    def _no_secret_in_clear(cls, value: str | None) -> str | None:
        if value is not None and is_in_clear(value):
            raise InvalidValueError("the client's secret goes there: use https")
        return value


class Checks(Table):
    """Which checks a server is spared."""

    off: tuple[CheckId, ...] = Field(
        default=(), description="Ids of checks that are switched off; they are reported as not checked."
    )


class ClientLimits(Table):
    """What one client takes, where it differs from driftwatch's own table."""

    description: Annotated[Integer, Field(ge=1)] | None = Field(
        default=None, description="Longest tool description it reads, in characters."
    )
    name: Annotated[Integer, Field(ge=1)] | None = Field(
        default=None, description="Longest tool name it takes, in characters."
    )
    oldest: Revision | None = Field(default=None, description="Oldest protocol revision it speaks.")
    newest: Revision | None = Field(default=None, description="Newest protocol revision it speaks.")

    @field_validator("newest")
    @classmethod
    def _in_order(cls, value: str | None, info: ValidationInfo) -> str | None:
        oldest = info.data.get("oldest")
        if value and oldest and value < oldest:
            raise InvalidValueError("the newest revision is older than the oldest one: exchange them")
        return value

    @property
    def figures(self) -> dict[str, str | int]:
        """Only what is given."""
        given = {
            "description_limit": self.description,
            "name_limit": self.name,
            "oldest": self.oldest,
            "newest": self.newest,
        }
        return {figure: value for figure, value in given.items() if value is not None}


class ToolCall(Table):
    """A tool that may be called with wrong arguments, to see how it refuses them."""

    name: Annotated[str, Field(min_length=1)] = Field(description="The tool's name.", examples=["get_order"])
    arguments: Arguments = Field(
        default_factory=dict, description="Arguments that are wrong on purpose; they are sent as they stand."
    )


class SlowTool(ToolCall):
    """A tool that may be called because it takes long."""

    arguments: Arguments = Field(default_factory=dict, description="Arguments that make it take long.")
    max: Annotated[timedelta, Duration("1s", "30m")] = Field(
        default=timedelta(minutes=1), description="How long the tool may take."
    )


class RateLimit(Table):
    """A burst of requests, to see whether the server slows down politely."""

    enabled: Boolean = Field(default=False, description="Your consent to send the burst.")
    burst: Annotated[Integer, Field(ge=2, le=1000)] = Field(default=30, description="How many requests.")
    on: Literal["deploy", "interval", "manual"] = Field(
        default="deploy",
        description="When: `deploy` after a deploy or when asked, `interval` at every full probe, `manual` "
        "only when asked.",
    )


class Logs(Table):
    """The server's own log files, to see whether credentials end up in them."""

    files: tuple[FilePath, ...] = Field(default=(), description="Files or patterns (`*`, `?`).")
