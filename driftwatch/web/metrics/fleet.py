"""What is told of each watched server. The text of one that was not probed since is kept and used again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from driftwatch.model import Event, EventKind, State
from driftwatch.store.ports import Reader, ServerOverview
from driftwatch.transitions.subjects import surface_of
from driftwatch.web.metrics.exposition import Family, seconds

PAGE = 200
"""Servers that are read together."""
LATE = timedelta(minutes=1)
"""Events are dated before they are committed; one this much older than the last look may be new."""
RUNS = 100
"""Earlier probes among which the last successful one of a server that is down is looked for."""

CHECK_STATE = Family(
    "driftwatch_check_state", "The state of a check now: the series whose state label says it is 1."
)
CHECKS = Family("driftwatch_checks", "Checks of a server by their state now.")
INCIDENTS = Family("driftwatch_open_incidents", "Open incidents of a server.")
TOOLSET = Family(
    "driftwatch_toolset_info", "The fingerprint of a server's toolset, and whether it is the accepted one."
)
TOOLSET_SINCE = Family(
    "driftwatch_toolset_changed_timestamp_seconds", "Since when a server's toolset is the present one."
)
CERTIFICATE = Family(
    "driftwatch_certificate_not_after_timestamp_seconds", "When the certificate of a server ends."
)
REACHABLE = Family(
    "driftwatch_probe_reachable",
    "Whether the last probe of a server got an HTTP answer over an acceptable connection.",
)
DURATION = Family("driftwatch_probe_duration_seconds", "How long the last probe of a server took.")
LAST = Family("driftwatch_probe_last_timestamp_seconds", "When a server was last probed.")
LAST_SUCCESS = Family(
    "driftwatch_probe_last_success_timestamp_seconds", "When a server was last probed and reachable."
)

FAMILIES = (
    CHECK_STATE,
    CHECKS,
    INCIDENTS,
    TOOLSET,
    TOOLSET_SINCE,
    CERTIFICATE,
    REACHABLE,
    DURATION,
    LAST,
    LAST_SUCCESS,
)
COUNTS_LEAVE_OUT = frozenset({CHECK_STATE, TOOLSET, TOOLSET_SINCE})
"""What the counts mode does without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """The text of one server."""

    probed_at: datetime | None
    succeeded_at: datetime | None
    samples: Mapping[Family, bytes]


@dataclass(slots=True)
class FleetMetrics:
    """The samples of every configured server; ``update`` reads what changed since the last time."""

    _told: dict[str, _Told] = field(default_factory=dict)
    _full: bool = True
    _looked_at: datetime | None = None
    _heard: frozenset[str] = frozenset()
    events: dict[EventKind, int] = field(default_factory=lambda: dict.fromkeys(EventKind, 0))
    """Events by kind since the first look."""

    def update(self, reader: Reader, now: datetime, *, full: bool) -> None:
        """Read anew what was probed, or had an event, since the last look; ``full`` has every check."""
        if full is not self._full:
            self._told.clear()
            self._full = full
        probed = reader.last_probed()
        eventful = {event.server for event in self._new_events(reader, now)}
        stale = sorted(
            name
            for name, at in probed.items()
            if name not in self._told or name in eventful or self._told[name].probed_at != at
        )
        if not stale and probed.keys() == self._told.keys():
            return
        earlier = {name: told for name, told in self._told.items() if name in probed}
        self._told = {name: earlier.get(name) or _NOTHING for name in sorted(probed)}
        for start in range(0, len(stale), PAGE):
            page = stale[start : start + PAGE]
            states = reader.states_now(page) if full else {}
            for server in reader.overview(limit=PAGE, names=page):
                name = server.record.name
                before, present = earlier.get(name), states.get(name, {})
                self._told[name] = self._tell(reader, server, present, before, probed[name])

    def families(self) -> Iterator[tuple[Family, list[bytes]]]:
        """Every family with the samples of all servers, by name."""
        for family in FAMILIES:
            yield family, [told.samples[family] for told in self._told.values() if family in told.samples]

    def __len__(self) -> int:
        return len(self._told)

    def _new_events(self, reader: Reader, now: datetime) -> list[Event]:
        since = (self._looked_at or now) - LATE
        found: list[Event] = []
        while page := reader.events(
            since=since, before=(found[-1].at, found[-1].id) if found else None, limit=500
        ):
            found += page
        # At the first look, what is already there was before the service's time.
        new = [event for event in found if event.id not in self._heard] if self._looked_at else []
        for event in new:
            self.events[event.kind] += 1
        self._heard = frozenset(event.id for event in found)
        self._looked_at = now
        return new

    def _tell(
        self,
        reader: Reader,
        server: ServerOverview,
        states: Mapping[str, State],
        earlier: _Told | None,
        probed_at: datetime | None,
    ) -> _Told:
        name, run = server.record.name, server.last_run
        succeeded_at = earlier.succeeded_at if earlier else None
        if run is not None and run.reachable:
            succeeded_at = run.taken_at
        elif run is not None and succeeded_at is None:
            runs = reader.runs(name, limit=RUNS)
            succeeded_at = next((one.taken_at for one in runs if one.reachable), None)
        samples: dict[Family, list[bytes]] = {}
        for family, value, labels in _samples(server, states, succeeded_at):
            if self._full or family not in COUNTS_LEAVE_OUT:
                samples.setdefault(family, []).append(family.sample(value, {"server": name, **labels}))
        return _Told(
            probed_at=probed_at,
            succeeded_at=succeeded_at,
            samples={family: b"".join(lines) for family, lines in samples.items()},
        )


_NOTHING = _Told(probed_at=None, succeeded_at=None, samples={})

Sample = tuple[Family, float, dict[str, str]]


def _samples(
    server: ServerOverview, states: Mapping[str, State], succeeded_at: datetime | None
) -> Iterator[Sample]:
    for check, state in states.items():
        yield CHECK_STATE, 1, {"check": check, "state": state.value}
    for state, number in server.counts.items():
        yield CHECKS, number, {"state": state.value}
    yield INCIDENTS, len(server.incidents), {}
    for toolset in server.toolsets:
        era, credential = surface_of(toolset.subject)
        labels = {"era": era, "credential": credential}
        accepted = toolset.accepted in (None, toolset.confirmed)
        yield TOOLSET, 1, {**labels, "fingerprint": toolset.confirmed, "accepted": str(accepted).lower()}
        yield TOOLSET_SINCE, seconds(toolset.confirmed_since), labels
    if server.certificate is not None:
        yield CERTIFICATE, seconds(server.certificate.not_after), {}
    if server.last_run is not None:
        yield REACHABLE, int(server.last_run.reachable), {}
        yield DURATION, server.last_run.duration_s, {}
        yield LAST, seconds(server.last_run.taken_at), {}
    if succeeded_at is not None:
        yield LAST_SUCCESS, seconds(succeeded_at), {}
