"""The tables under their short names, and the parameters that statements share."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from driftwatch.store import tables
from driftwatch.store.columns import Moment

_of = tables.metadata.tables

servers = _of["server"]
requests = _of["probe_request"]
runs = _of["run"]
transcripts = _of["transcript"]
states = _of["subject_state"]
standings = _of["standing"]
intervals = _of["state_interval"]
incidents = _of["incident"]
bodies = _of["body"]
toolsets = _of["toolset"]
toolset_tools = _of["toolset_tool"]
certificates = _of["certificate"]
tls_notices = _of["tls_notice"]
events = _of["event"]
deliveries = _of["event_delivery"]
messages = _of["message"]
channels = _of["channel"]
silences = _of["silence"]
releases = _of["release"]
hooks = _of["hook_delivery"]
outcomes = _of["deploy_outcome"]

NOW = bindparam("now", type_=Moment)
AT = bindparam("at", type_=Moment)
WHICH_SERVER: sa.BindParameter[Any] = bindparam("server")
HORIZON = bindparam("horizon", type_=Moment)


def below(time: sa.Column[Any], id_: sa.Column[Any], keyset: tuple[Any, Any]) -> sa.ColumnElement[bool]:
    """What comes after the keyset in an order by time, then id, newest first."""
    at, key = keyset
    return sa.or_(time < at, sa.and_(time == at, id_ < key))
