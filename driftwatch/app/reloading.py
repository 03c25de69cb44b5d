"""The configuration file read again while the service runs: all of it comes into force, or nothing."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from driftwatch.alerts.route import plan
from driftwatch.app.importing import import_servers
from driftwatch.app.outside import Outside
from driftwatch.app.wiring import Wiring
from driftwatch.app.works import Works
from driftwatch.config import Config, content_digest
from driftwatch.errors import ConfigError, Problem, StoreError, UsageError
from driftwatch.model import Event, EventKind, Json, Level
from driftwatch.store.ports import Imported, Store, Tx
from driftwatch.web.context import Reloaded

log = logging.getLogger("driftwatch.service")

LOOK_EVERY_TICKS = 10
"""The file is looked at so many times less often than what is due: every ten seconds."""


class Reloader:
    """Looks at the content of the configuration's files, and puts what is new in force."""

    def __init__(
        self, works: Works, store: Store, outside: Outside, load: Callable[[], Config] | None, digest: str
    ) -> None:
        """``load`` reads and validates the file; ``digest`` is that of the content in force."""
        self._works = works
        self._store = store
        self._outside = outside
        self._load = load
        self._digest = self._seen = digest
        self._one_at_a_time = asyncio.Lock()
        self._problems: tuple[str, ...] = ()
        self.loaded_at = outside.clock.now()
        """When the configuration in force was loaded."""

    @property
    def in_order(self) -> bool:
        """False while the file, as it was last read, cannot be used."""
        return not self._problems

    async def look(self) -> None:
        """Reload when the content of a file is another one; the file's times do not matter.

        It must be the same at two looks: a file that is just being written may be a valid half.
        """
        files = self._works.wiring.config.files
        if self._load is None or not files:
            return
        before, self._seen = self._seen, await asyncio.to_thread(content_digest, files)
        # What is wrong may be a secret's file that is not there yet: a refused file is tried again.
        if before == self._seen and (self._problems or self._seen != self._digest):
            await self.reload()

    async def reload(self) -> Reloaded:
        """Read the file, validate all of it, and put it in force; or say why everything stays as it is."""
        if self._load is None:
            return Reloaded(problems=("there is no configuration file to read again",))
        async with self._one_at_a_time:
            old = self._works.wiring
            # Taken before the file is read: what is written meanwhile is seen at the next look.
            digest = await asyncio.to_thread(content_digest, old.config.files)
            try:
                wiring, restart = await asyncio.to_thread(self._read, self._load, old.config)
            except ConfigError as error:
                return await self._reject(tuple(map(str, error.problems)), digest)
            except UsageError as error:
                return await self._reject((str(error),), digest)
            return await self._put_in_force(old, wiring, restart, digest)

    def _read(self, load: Callable[[], Config], old: Config) -> tuple[Wiring, tuple[str, ...]]:
        """In a thread, because a thousand servers take most of a second."""
        config, restart = _kept(old, load())
        _refuse_emptied(old, config)
        self._outside.learn(config.secrets())
        return Wiring.of(config, self._outside.random), restart

    async def _put_in_force(
        self, old: Wiring, wiring: Wiring, restart: tuple[str, ...], digest: str
    ) -> Reloaded:
        works, now = self._works, self._outside.clock.now()
        if wiring.config.files != old.config.files:
            digest = await asyncio.to_thread(content_digest, wiring.config.files)
        is_new = digest != self._digest or not self.in_order

        def write(tx: Tx) -> Imported:
            imported = import_servers(tx, wiring, now)
            if is_new:
                tx.record_event(_reloaded(imported, restart, now), ())
            return imported

        # Whoever is handed out from the commit on has to be known by then, and who was before, until then.
        works.watch(wiring, due_times={**old.due_times, **wiring.due_times})
        try:
            imported = await self._store.transact(write)
        except StoreError as error:
            works.watch(old, due_times=old.due_times)
            log.warning("the configuration cannot be put in force", extra={"fields": {"error": str(error)}})
            return Reloaded(problems=(f"the database cannot be used: {error}",))
        works.rewire(wiring)
        for sentence in wiring.config.warnings:
            if sentence not in old.config.warnings:
                log.warning(sentence)
        self._digest, self._problems, self.loaded_at = digest, (), now
        fields = {**_details(imported, restart), "servers": len(wiring.config.servers)}
        log.info("reloaded", extra={"fields": fields})
        return Reloaded(
            added=(*imported.added, *imported.returned),
            removed=imported.removed,
            renamed=imported.renamed,
            changed=imported.changed,
            restart=restart,
        )

    async def _reject(self, problems: tuple[str, ...], digest: str) -> Reloaded:
        """Keep what is in force; say so once for the same problems."""
        if problems != self._problems:
            log.warning("the configuration was rejected", extra={"fields": {"problems": problems}})
            wiring, now = self._works.wiring, self._outside.clock.now()
            event = _rejected(problems, now)
            deliveries = plan([event], wiring.rules, (), now=now, group_wait=wiring.config.alerts.group_wait)
            try:
                await self._store.transact(lambda tx: tx.record_event(event, deliveries))
            except StoreError as error:
                log.warning("an event was not recorded", extra={"fields": {"error": str(error)}})
            self._works.wake()
        self._digest, self._problems = digest, problems
        return Reloaded(problems=problems)


def _kept(old: Config, new: Config) -> tuple[Config, tuple[str, ...]]:
    """The new configuration with what only a restart can change as it was, and the names of those keys."""
    tables: dict[str, object] = {}
    restart: list[str] = []
    for name, keys in (("http", ("listen",)), ("storage", ("path", "backup_dir"))):
        before, after = getattr(old, name), getattr(new, name)
        moved = [key for key in keys if getattr(before, key) != getattr(after, key)]
        restart += [f"{name}.{key}" for key in moved]
        tables[name] = after.model_copy(update={key: getattr(before, key) for key in moved})
    return (new.model_copy(update=tables), tuple(restart)) if restart else (new, ())


def _refuse_emptied(old: Config, new: Config) -> None:
    """An emptied file, and one that was cut off between two tables, is valid TOML and hardly meant.

    Raises ConfigError when no server, or no channel, is left of those that are in force.
    """
    tables = (("[[server]]", old.servers, new.servers), ("[[alert]]", old.channels, new.channels))
    problems = [
        Problem(
            str(new.files[0]),
            None,
            "",
            f"no {header} is left: the running configuration stays; restart driftwatch if that is meant",
        )
        for header, before, after in tables
        if before and not after
    ]
    if problems:
        raise ConfigError(problems)


def _details(imported: Imported, restart: tuple[str, ...]) -> dict[str, Json]:
    return {
        "added": [*imported.added, *imported.returned],
        "removed": list(imported.removed),
        "renamed": [list(pair) for pair in imported.renamed],
        "changed": list(imported.changed),
        "restart": list(restart),
    }


def _reloaded(imported: Imported, restart: tuple[str, ...], now: datetime) -> Event:
    return Event.without_run(
        EventKind.CONFIG_RELOADED,
        now,
        details=_details(imported, restart),
    )


def _rejected(problems: tuple[str, ...], now: datetime) -> Event:
    return Event.without_run(
        EventKind.CONFIG_REJECTED,
        now,
        level=Level.WARNING,
        alerts=True,
        details={"problems": list(problems)},
    )


def look_every(tick: timedelta) -> timedelta:
    """How often the file is looked at."""
    return LOOK_EVERY_TICKS * tick
