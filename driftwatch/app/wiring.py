"""What depends on the configuration, as one value: a reload builds another one and swaps it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from driftwatch import deploys, rollout, transitions
from driftwatch.alerts.route import ChannelRule
from driftwatch.config import Config, Server
from driftwatch.observe import Watched, checks_policy
from driftwatch.probe import Target
from driftwatch.schedule.due import DueTimes, first_due
from driftwatch.store.ports import Schedule, ServerRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """The configuration in force, and everything that is made of it."""

    config: Config
    hosts: Mapping[str, str]
    watched: Mapping[str, Watched]
    due_times: Mapping[str, DueTimes]
    rules: tuple[ChannelRule, ...]
    rollouts: rollout.Settings

    @classmethod
    def of(cls, config: Config, random: Callable[[], float]) -> "Wiring":
        """Raises UsageError for limits that make no sense."""
        plans = {server.name: due_times(config, server, random) for server in config.servers}
        return cls(
            config=config,
            hosts={server.name: server.host for server in config.servers},
            watched={
                server.name: watched(config, server, gap=plans[server.name].overdue_after)
                for server in config.servers
            },
            due_times=plans,
            rules=tuple(ChannelRule.of(channel) for channel in config.channels),
            rollouts=rollouts(config),
        )

    def host_of(self, name: str) -> str:
        """The host of a server; limits count by it."""
        return self.hosts.get(name, name)

    @property
    def addresses(self) -> dict[str, str]:
        """The host of each server, without its port: a network is judged by machines."""
        return {name: host.rpartition(":")[0] for name, host in self.hosts.items()}

    @property
    def full_intervals(self) -> dict[str, timedelta]:
        """How often each server is probed in full."""
        return {server.name: server.full_interval for server in self.config.servers}

    def records(self, now: datetime) -> list[ServerRecord]:
        """Every server as a row."""
        return [server_record(server, now, len(self.config.servers)) for server in self.config.servers]

    def schedule(self, record: ServerRecord, now: datetime) -> Schedule:
        """The next due times of a server."""
        return self.due_times[record.name].after(now, next_full_at=record.next_full_at)


def watched(config: Config, server: Server, *, gap: timedelta = timedelta.max) -> Watched:
    """Everything an observation of one server needs; ``gap`` is what counts as one in the watch."""
    monitor = config.monitor
    return Watched(
        target=Target.of(config, server),
        tags=server.tags,
        revision=server.revision,
        checks=checks_policy(config, server),
        transitions=transitions.Policy(
            confirm=monitor.confirm,
            confirm_delays=monitor.confirm_delays,
            loss_confirm=monitor.loss_confirm,
            reminder=config.alerts.reminder,
            flap_count=monitor.flap.count,
            flap_window=monitor.flap.window,
            flap_settle=monitor.flap.settle,
            gap=gap,
            accept=server.accept,
            tls_days=config.alerts.tls_days,
        ),
    )


def rollouts(config: Config) -> rollout.Settings:
    """How the reads after a release are made."""
    return rollout.Settings(
        rules=deploys.Rules(reads=config.hook.reads, timeout=config.hook.settle_timeout),
        on_unchanged=config.alerts.on_unchanged_deploy,
    )


def due_times(config: Config, server: Server, random: Callable[[], float]) -> DueTimes:
    """When a server is due."""
    monitor = config.monitor
    return DueTimes(
        server.name,
        interval=server.interval,
        full_interval=server.full_interval,
        schedule=str(server.schedule) if server.schedule else None,
        timezone=str(monitor.timezone),
        jitter=monitor.jitter,
        random=random,
    )


def server_record(server: Server, now: datetime, fleet: int) -> ServerRecord:
    """A configured server as a row; ``fleet`` is how many there are, for spreading the first probes."""
    due = first_due(server.name, now, fleet)
    return ServerRecord(
        name=server.name,
        url=server.shown_url,
        host=server.host,
        credential=server.credential_label,
        revision=server.revision,
        next_due_at=due,
        # The first probe is a full one: a baseline of everything.
        next_full_at=due,
        tags=server.tags,
        previous_name=server.previous_name,
    )
