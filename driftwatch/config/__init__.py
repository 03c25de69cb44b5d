"""config.toml -> validated ``Config``; everything wrong at once, as ``file:line: key: problem, what to do``.

``load`` is the way in (``load_beside`` for commands that only look): ``toml_lines`` (where keys stand),
``interpolation`` (``${VAR}``, ``${file:PATH}``),
``schema`` (every key: ``server`` and ``server_tables`` for ``[[server]]``, ``alerting`` and ``service`` for
the other tables, ``values`` and ``secret_files`` for the kinds of values), ``rules`` (between tables),
``problems`` (faults in people's words). ``shown`` is the way back: the configuration in force without its
secrets. ``reference`` writes docs/configure.md.

No message of this room contains a value of the file: a secret may stand in the wrong place.
"""

from driftwatch.config.alerting import Alerts, Channel, Pace, Window
from driftwatch.config.cron import Cron
from driftwatch.config.files import content_digest, read_secret
from driftwatch.config.load import adhoc, load, load_beside, load_windows
from driftwatch.config.quantities import (
    InvalidValueError,
    Rate,
    format_duration,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
)
from driftwatch.config.schema import Config
from driftwatch.config.secret_files import SecretFile
from driftwatch.config.server import Server
from driftwatch.config.server_tables import ClientLimits, OAuth, RateLimit, SlowTool, ToolCall
from driftwatch.config.service import (
    Flap,
    Heartbeat,
    Hook,
    Http,
    Monitor,
    Storage,
)
from driftwatch.config.values import Listen

__all__ = [
    "Alerts",
    "Channel",
    "ClientLimits",
    "Config",
    "Cron",
    "Flap",
    "Heartbeat",
    "Hook",
    "Http",
    "InvalidValueError",
    "Listen",
    "Monitor",
    "OAuth",
    "Pace",
    "Rate",
    "RateLimit",
    "SecretFile",
    "Server",
    "SlowTool",
    "Storage",
    "ToolCall",
    "Window",
    "adhoc",
    "content_digest",
    "format_duration",
    "format_size",
    "load",
    "load_beside",
    "load_windows",
    "parse_duration",
    "parse_rate",
    "parse_size",
    "read_secret",
]
