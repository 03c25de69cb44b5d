"""What was told against what had to be told, and whether the service stayed as small as it was."""

import json
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.soak.drive import STOP_S, Arrival, Record, Sample
from bench.soak.plan import Plan
from bench.watched import rows

REPEAT = "(possible repeat of "
GROWN_SHARE = 0.05
"""What memory may gain over the second half: less than the noise of one garbage collection."""
WARM_S = 600
"""A process that was watched for less is still filling its caches; its memory is shown and not judged."""
GROWN_COUNT = 5
"""What files and threads may gain, between the medians of two quarters of the second half."""
PROBE_BYTES = 250
"""What an unchanged probe may add to the database."""
CHANGE_BYTES = 16 * 1024
"""What an event may that is told: itself, the messages, up to fifty states that it moves, a tool list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event that alerts, and the message about it on each channel."""

    id: str
    server: str | None
    word: str
    messages: dict[str, str]
    unsettled: tuple[str, ...]
    """Channels that it did not leave for, or that will never hear it."""


def told(database: Path) -> list[Told]:
    """Every event that alerts."""
    query = (
        "SELECT event.id, server.name, kind, subject, after, details FROM event"
        " LEFT JOIN server ON server.id = server_id WHERE alerts ORDER BY at, event.id"
    )
    ways: dict[str, list[tuple[str, str | None, Any, Any]]] = defaultdict(list)
    for event, *way in rows(
        database, "SELECT event_id, channel, message_id, suppressed_by, dropped_at FROM event_delivery"
    ):
        channel, message, suppressed, dropped = way
        ways[event].append((channel, message, suppressed, dropped))
    return [
        Told(
            id=event,
            server=server,
            word=_word(kind, subject, after, json.loads(details)),
            messages={channel: message for channel, message, _, _ in ways[event] if message},
            unsettled=tuple(
                channel for channel, message, off, gone in ways[event] if not message or off or gone
            ),
        )
        for event, server, kind, subject, after, details in rows(database, query)
    ]


def _word(kind: str, subject: str | None, after: str | None, details: dict[str, Any]) -> str:
    if kind in {"toolset_changed", "toolset_returned"}:
        release = details.get("release")
        return f"toolset {after}" + (f" {release['relation']} {release['ref']}" if release else "")
    return f"{kind} {subject}" if subject else kind


def right_words(plan: Plan, events: Sequence[Told]) -> Iterator[str]:
    """Each change is one event, and there is no other."""
    heard: dict[int, Counter[str]] = defaultdict(Counter)
    monitor: Counter[str] = Counter()
    for event in events:
        if event.server is None:
            monitor[event.word] += 1
        else:
            heard[int(event.server.rpartition("s")[2])][event.word] += 1
    for server in sorted(heard.keys() | plan.expected.keys()):
        wanted = Counter(plan.expected.get(server, ()))
        for word in sorted((wanted - heard[server]).elements()):
            yield f"s{server}: not told: {word}"
        for word in sorted((heard[server] - wanted).elements()):
            yield f"s{server}: told without a reason: {word}"
    for word, number in (monitor - Counter({"config_rejected": plan.rejected})).items():
        yield f"about itself, without a reason: {word} ({number})"
    for word, number in (Counter({"config_rejected": plan.rejected}) - monitor).items():
        yield f"about itself, not told: {word} ({number})"


def arrived_once(
    events: Sequence[Told], arrivals: Sequence[Arrival], channels: Sequence[str]
) -> Iterator[str]:
    """Each event is in one message for each channel; what arrives again says so."""
    attempts: dict[tuple[str, str], list[Arrival]] = defaultdict(list)
    for arrival in arrivals:
        attempts[arrival.channel, arrival.message].append(arrival)
    known = {(channel, message) for event in events for channel, message in event.messages.items()}
    for channel, message in attempts.keys() - known:
        yield f"{channel}: a message about nothing: {message}"
    for event in events:
        if set(event.messages) != set(channels) or event.unsettled:
            yield f"{event.server}: {event.word} has no message on each channel: {event.messages}"
        for channel, message in event.messages.items():
            if not any(attempt.answered for attempt in attempts[channel, message]):
                yield f"{channel}: {event.server}: {event.word} never arrived"
    for (channel, message), tried in attempts.items():
        perhaps = False
        for attempt in tried:
            if perhaps and REPEAT not in attempt.text:
                yield f"{channel}: {message} again, and does not say that it may be a repeat"
            perhaps = perhaps or not attempt.refused


def names_servers(events: Sequence[Told], arrivals: Sequence[Arrival]) -> Iterator[str]:
    """A message with room for everything names every server that it is about."""
    texts = {arrival.message: arrival.text for arrival in arrivals}
    for event in events:
        for message in event.messages.values():
            text = texts.get(message, "")
            whole = not re.search(r"\+\d+ (more|details?)|…", text)
            if event.server and whole and not re.search(rf"\b{re.escape(event.server)}\b", text):
                yield f"{event.server}: {event.word} is not in the text of {message}"


def stayed_small(samples: Sequence[Sample], database: Path) -> Iterator[str]:
    """Memory, files, threads and the database over the second half."""
    lasted = samples[-1].at - samples[0].at
    gained = slope(samples) * lasted
    if lasted >= WARM_S and gained > GROWN_SHARE * statistics.mean(each.memory_kb for each in samples):
        yield f"memory grew by {gained / 1024:.1f} MB in the second half"
    quarter = len(samples) // 4
    for name in ("files", "threads"):
        first, last = (
            statistics.median(getattr(sample, name) for sample in part)
            for part in (samples[:quarter], samples[-quarter:])
        )
        if last - first > GROWN_COUNT:
            yield f"{name} grew from {first:.0f} to {last:.0f}"
    added, probes, changes = growth(samples, database)
    if added > PROBE_BYTES * probes + CHANGE_BYTES * changes:
        yield f"the database grew by {added} bytes with {probes} probes and {changes} changes"


def slope(samples: Sequence[Sample]) -> float:
    """Kilobytes of memory a second, by least squares."""
    return statistics.linear_regression(
        [sample.at for sample in samples], [sample.memory_kb for sample in samples]
    ).slope


def growth(samples: Sequence[Sample], database: Path) -> tuple[int, int, int]:
    """Bytes by which the database grew, and the probes and told events that it grew by."""
    ends = [round(sample.at * 1_000_000) for sample in (samples[0], samples[-1])]
    (counts,) = rows(
        database,
        "SELECT (SELECT count(*) FROM run WHERE taken_at BETWEEN ?1 AND ?2),"
        " (SELECT count(*) FROM event WHERE alerts AND at BETWEEN ?1 AND ?2)",
        *ends,
    )
    return samples[-1].database - samples[0].database, int(counts[0]), int(counts[1])


def no_errors(log: Path) -> Iterator[str]:
    """Nothing in the log is an error."""
    for line in log.read_text(encoding="utf-8").splitlines():
        if not line.startswith("{"):
            yield f"in the log: {line[:200]}"
            continue
        entry = json.loads(line)
        if entry["level"] in {"error", "critical"} or "trace" in entry:
            yield f"in the log: {line[:600]}"


def ended_well(record: Record) -> Iterator[str]:
    """SIGTERM ends the service in time with 0; every deploy was taken."""
    for code, seconds in record.stops:
        if code != 0 or seconds > STOP_S:
            yield f"SIGTERM: exit code {code} after {seconds:.1f} s"
    for ref, status in record.announced:
        if status != 202:
            yield f"the deploy {ref} was answered with {status}"
