"""The world around the service: what tests and the demo replace by their own."""

import asyncio
import functools
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from driftwatch import logs
from driftwatch.alerts.deliver import AppriseSender
from driftwatch.alerts.outbox import Sender
from driftwatch.clock import Clock, SystemClock
from driftwatch.config import Config
from driftwatch.guard import Canary
from driftwatch.probe import Pause, Resolver, SystemResolver, TrustStore, canary
from driftwatch.schedule.ticker import TICK
from driftwatch.store.sqlite import SqliteStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Everything through which the service touches the world; tests and the demo pass their own."""

    clock: Clock
    resolver: Resolver
    sender: Sender
    random: Callable[[], float] = random.random
    tick: timedelta = TICK
    pause: Pause = asyncio.sleep
    """Waits before a probe's retry inside a run."""
    learn: Callable[[Iterable[str]], None] = lambda _: None
    """Takes the secrets of a configuration before it is used: no log and no error shows them."""

    def canary(self, url: str | None) -> Canary | None:
        """What asks the address that is always up, if one is configured."""
        if url is None:
            return None
        return functools.partial(
            canary.answers, url, trust=TrustStore(), resolver=self.resolver, now=self.clock.now
        )

    @classmethod
    def real(cls, config: Config) -> "Outside":
        """The machine's clock, resolver and Apprise."""
        sender = AppriseSender(secrets=config.secrets())

        def learn(secrets: Iterable[str]) -> None:
            known = tuple(secrets)
            sender.learn(known)
            logs.learn(known)

        return cls(clock=SystemClock(), resolver=SystemResolver(), sender=sender, learn=learn)


def open_store(config: Config, clock: Clock) -> SqliteStore:
    """The database for writing. Raises StoreError when it cannot be used."""
    return SqliteStore(config.storage.path, backup_dir=config.storage.backup_dir, clock=clock.now)
