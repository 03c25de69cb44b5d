"""What is told of the service itself."""

import os
import platform
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from driftwatch import __version__
from driftwatch.model import Trigger
from driftwatch.store.ports import Backlog, DeliveryOutcome
from driftwatch.web.metrics.exposition import Family, Kind, seconds
from driftwatch.web.vitals import Vitals

BUILD = Family("driftwatch_build_info", "The version that runs.")
SERVERS = Family("driftwatch_servers", "Configured servers.")
OVERDUE = Family("driftwatch_servers_overdue", "Servers whose probe has been due for more than a minute.")
QUEUE = Family("driftwatch_queue_depth", "Probes that wait or run.")
PROBES = Family("driftwatch_probes_total", "Probes that were made, by why and how they ended.", Kind.COUNTER)
EVENTS = Family("driftwatch_events_total", "Events that were recorded, by kind.", Kind.COUNTER)
PENDING = Family("driftwatch_outbox_pending_messages", "Messages of a channel that are not delivered yet.")
OLDEST = Family(
    "driftwatch_outbox_oldest_message_timestamp_seconds", "When the oldest undelivered message was written."
)
DELIVERIES = Family("driftwatch_deliveries_total", "Attempts to deliver, by what came of them.", Kind.COUNTER)
CONFIG_OK = Family(
    "driftwatch_config_last_reload_successful",
    "Whether the configuration file as last read is in force.",
)
CONFIG_AT = Family(
    "driftwatch_config_last_reload_success_timestamp_seconds", "When the configuration in force was loaded."
)
HEARTBEAT = Family(
    "driftwatch_heartbeat_last_success_timestamp_seconds", "When the outgoing heartbeat was last taken."
)
TICK_AGE = Family("driftwatch_tick_age_seconds", "How long ago the scheduler last looked for due probes.")
STORING = Family("driftwatch_database_writable", "Whether the database takes what is to be written.")
SIZE = Family("driftwatch_database_size_bytes", "What the database takes on disk.")
STEPS = Family("driftwatch_clock_steps_total", "How often the wall clock was stepped.", Kind.COUNTER)
STARTED = Family("process_start_time_seconds", "When the process started.")
CPU = Family("process_cpu_seconds_total", "Processor time that the process has used.", Kind.COUNTER)
MEMORY = Family("process_resident_memory_bytes", "Memory that the process holds.")

FAMILIES = (
    *(BUILD, SERVERS, OVERDUE, QUEUE, PROBES, EVENTS, PENDING, OLDEST, DELIVERIES, CONFIG_OK, CONFIG_AT),
    *(HEARTBEAT, TICK_AGE, STORING, SIZE, STEPS, STARTED, CPU, MEMORY),
)

OUTCOMES = ("reachable", "unreachable", "unstored")


def families(
    vitals: Vitals,
    *,
    servers: int,
    overdue: int,
    channels: Sequence[str],
    backlog: Sequence[Backlog],
    database_bytes: int,
) -> Iterator[tuple[Family, list[bytes]]]:
    """The families about the service; a counter that has counted nothing yet is 0, not absent."""

    def one(family: Family, value: float) -> tuple[Family, list[bytes]]:
        return family, [family.sample(value)]

    yield BUILD, [BUILD.sample(1, {"version": __version__, "python": platform.python_version()})]
    yield one(SERVERS, servers)
    yield one(OVERDUE, overdue)
    yield one(QUEUE, vitals.queue_depth)
    yield (
        PROBES,
        [
            PROBES.sample(vitals.probes.get((why, how), 0), {"trigger": why, "outcome": how})
            for why in Trigger
            for how in OUTCOMES
        ],
    )
    waiting = {item.channel: item for item in backlog}
    yield (
        PENDING,
        [
            PENDING.sample(waiting[name].messages if name in waiting else 0, {"channel": name})
            for name in channels
        ],
    )
    yield (
        OLDEST,
        [
            OLDEST.sample(seconds(waiting[name].oldest_at), {"channel": name})
            for name in channels
            if name in waiting
        ],
    )
    yield (
        DELIVERIES,
        [
            DELIVERIES.sample(vitals.deliveries.get((name, how), 0), {"channel": name, "outcome": how})
            for name in channels
            for how in DeliveryOutcome
        ],
    )
    yield one(CONFIG_OK, int(vitals.config_ok))
    yield one(CONFIG_AT, seconds(vitals.config_loaded_at))
    yield HEARTBEAT, [HEARTBEAT.sample(seconds(vitals.heartbeat_at))] if vitals.heartbeat_at else []
    yield one(TICK_AGE, round(vitals.tick_age_s, 3))
    yield one(STORING, int(vitals.storing))
    yield one(SIZE, database_bytes)
    yield one(STEPS, vitals.clock_steps)
    yield one(STARTED, seconds(vitals.started_at))
    yield one(CPU, round(time.process_time(), 3))
    memory = resident_bytes()
    yield MEMORY, [] if memory is None else [MEMORY.sample(memory)]


def resident_bytes() -> int | None:
    """The process's resident memory; None where the system does not say it in /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
