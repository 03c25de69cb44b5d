"""The whole of config.toml, validated."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from driftwatch.config.alerting import Alerts, Channel
from driftwatch.config.cautions import cautions
from driftwatch.config.files import PLACES
from driftwatch.config.server import Server
from driftwatch.config.service import Heartbeat, Hook, Http, Monitor, Storage
from driftwatch.config.shown import as_toml, secret_values, shown
from driftwatch.config.toml_lines import KeyPath
from driftwatch.config.values import Table
from driftwatch.model import Json


class Config(Table):
    """The configuration in force: validated, defaults and secrets filled in, paths absolute."""

    monitor: Monitor
    servers: tuple[Server, ...] = Field(alias="server")
    channels: tuple[Channel, ...] = Field(alias="alert")
    alerts: Alerts
    hook: Hook
    http: Http
    storage: Storage
    heartbeat: Heartbeat

    _secrets: tuple[str, ...] = PrivateAttr(default=())
    """Those that interpolation brought into keys which are not secret by themselves."""
    _files: tuple[Path, ...] = PrivateAttr(default=())

    @model_validator(mode="before")
    @classmethod
    def _every_table(cls, document: Any) -> Any:
        # An absent table is validated like an empty one: paths among its defaults start at the file's folder.
        if not isinstance(document, dict):
            return document
        empty: dict[str, Json] = {
            name: {} for name in ("monitor", "alerts", "hook", "http", "storage", "heartbeat")
        }
        return {**empty, "server": [], "alert": [], **document}

    @field_validator("servers", mode="before")
    @classmethod
    def _inherit_from_monitor(cls, value: Any, info: ValidationInfo) -> Any:
        monitor: Monitor | None = info.data.get("monitor")
        if monitor is None or not isinstance(value, list):
            return value
        if info.context is not None:
            info.context["bounds"] = (monitor.max_body, monitor.max_pages, monitor.max_tools)
        waits = {"timeout": monitor.timeout, "deadline": monitor.deadline}
        rhythm = {"interval": monitor.interval, "full_interval": monitor.full_interval}
        return [
            {**waits, **({} if "schedule" in server else rhythm), **server}
            if isinstance(server, dict)
            else server
            for server in value
        ]

    @field_validator("alerts", mode="before")
    @classmethod
    def _zone_of_monitor(cls, value: Any, info: ValidationInfo) -> Any:
        monitor: Monitor | None = info.data.get("monitor")
        match value:
            case {"window": list(windows), **rest} if monitor is not None:
                zone = {"timezone": monitor.timezone}
                return {
                    **rest,
                    "window": [{**zone, **each} if isinstance(each, dict) else each for each in windows],
                }
            case _:
                return value

    def model_post_init(self, context: Any, /) -> None:
        """Keep where servers and channels stand, and what interpolation brought in."""
        context = context or {}
        self._secrets = context.get("secrets", ())
        self._files = tuple(dict.fromkeys(context.get("files", ())))
        lines: Mapping[KeyPath, int] = context.get("lines", {})
        for table, entries in (("server", self.servers), ("alert", self.channels)):
            for number, entry in enumerate(entries):
                places = ((table, number, "url"), (table, number, "url_file"), (table, number))
                entry.standing_at(next((lines[place] for place in places if place in lines), None))

    def server(self, name: str) -> Server:
        """One server by its name. Raises KeyError."""
        for server in self.servers:
            if server.name == name:
                return server
        raise KeyError(name)

    @property
    def files(self) -> tuple[Path, ...]:
        """The configuration file and every file with a secret that it names; empty without a file."""
        return self._files

    @property
    def option(self) -> str:
        """What commands need to find it: `` -c FILE``; empty where it lies in a place that they look in."""
        if not self._files or self._files[0] in {Path(place).absolute() for place in PLACES}:
            return ""
        return f" -c {quote(str(self._files[0]))}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is allowed but hardly meant, a sentence each."""
        return tuple(cautions(self.servers, self.channels, self.http, self.hook))

    def secrets(self) -> tuple[str, ...]:
        """Every loaded secret of at least four characters, the longest first, for redaction.

        Header values and query values that are ordinary words, small numbers or dates are left out, unless
        their name says that they are secret: hiding ``prod`` everywhere would hide ``api-prod`` too.
        """
        return secret_values(self, self._secrets)

    def to_json(self) -> dict[str, Json]:
        """The configuration in force, every default included and every secret ``***``."""
        return shown(self, self._secrets)

    def redacted(self) -> str:
        """The same as ``to_json`` in TOML; a key that is not set stands there as a comment."""
        return as_toml(self.to_json())
