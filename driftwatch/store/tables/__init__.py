"""The tables. Only this room knows them; the statements work on their ``__table__``.

::

    server ──┬── run                   one small row per probe: counts, never results
             ├── transcript            what was said in the last probe of each depth
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

from driftwatch.store.tables import deploys, outbox, servers, states, toolsets
from driftwatch.store.tables.base import (
    DELIVERY_IS_HELD,
    DEPLOY_UNDER_WAY,
    MESSAGE_WAITS,
    also_for_postgresql,
    metadata,
)

__all__ = [
    "DELIVERY_IS_HELD",
    "DEPLOY_UNDER_WAY",
    "MESSAGE_WAITS",
    "also_for_postgresql",
    "deploys",
    "metadata",
    "outbox",
    "servers",
    "states",
    "toolsets",
]
