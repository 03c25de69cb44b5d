"""Tool lists: one as it was read, and two compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from driftwatch import toolset, transitions
from driftwatch.errors import UnknownError, UsageError, no_server
from driftwatch.model import Json
from driftwatch.store import ports
from driftwatch.store.ports import Reader
from driftwatch.transitions.subjects import TOOLSET, is_toolset, named_together, surface_of
from driftwatch.views.shape import Moment, described, iso

STRETCHES_LOOKED_AT = 100
"""How many of a surface's newest lists are searched for the one that a comparison ends with."""


@described
class Toolset(TypedDict):
    """One complete tool list, as it was read."""

    server: str
    fingerprint: str
    """dw1:<contract>.<surface>."""
    contract: str
    """Hex SHA-256 over names and input schemas, in driftwatch's canonical form."""
    surface: str
    """Hex SHA-256 over everything else that a model reads."""
    checklist: str | None
    """What the launch checklist's jq line prints for these tools; null where jq versions disagree."""
    revision: str
    """The protocol revision over which it was read."""
    first_seen_at: Moment
    instructions: str | None
    tools: list[Json]
    """The tool objects of the server, in its order, with the members in alphabetical order."""
    further: dict[str, list[Json]]
    """What else of it is watched, such as prompts."""


SurfaceDiff = TypedDict(
    "SurfaceDiff",
    {
        "subject": str,
        "from": Annotated[str, Field(description="A fingerprint.")],
        "to": str,
        "diff": Annotated[
            dict[str, Json],
            Field(
                description="level, breaking, summary, and changes: each with kind, tool, class, message, "
                "pointer, before, after."
            ),
        ],
    },
)


@described
class Diff(TypedDict):
    """What is different in a server's tool lists."""

    server: str
    surfaces: list[SurfaceDiff]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two tool lists of one surface."""

    subject: str
    before: ports.StoredToolset
    after: ports.StoredToolset
    diff: toolset.Diff


def compare(reader: Reader, server: str, before: str, after: str) -> list[Compared]:
    """What changed on each surface of a server.

    Each side is ``accepted``, ``current``, a fingerprint as messages show it, or a release (its ref or id):
    the list that was confirmed when that deploy had settled. Raises UnknownError for any other.
    """
    found = []
    for state in _toolset_states(reader, server):
        old, new = (_named(reader, server, state, side) for side in (before, after))
        difference = between(reader, server, state.subject, old, new)
        found.append(Compared(subject=state.subject, before=old, after=new, diff=difference))
    if not found:
        raise UnknownError(f"{server}: no complete tool list was read yet")
    return found


def eras_together(compared: Sequence[Compared]) -> list[Compared]:
    """The same difference in several eras once, with a subject that names them all."""
    together: list[tuple[set[str], Compared]] = []
    for each in compared:
        era, credential = surface_of(each.subject)
        what = credential, each.before.pair, each.after.pair, each.diff
        for eras, known in together:
            if what == (surface_of(known.subject)[1], known.before.pair, known.after.pair, known.diff):
                eras.add(era)
                break
        else:
            together.append(({era}, each))
    return [replace(each, subject=_of_eras(each.subject, eras)) for eras, each in together]


def _of_eras(subject: str, eras: set[str]) -> str:
    _, credential = surface_of(subject)
    return f"{TOOLSET}{named_together(eras)}:{credential}"


def between(
    reader: Reader, server: str, subject: str, before: ports.StoredToolset, after: ports.StoredToolset
) -> toolset.Diff:
    """How two remembered lists of a surface differ; what was there before the later one began returned."""
    old, new = before.content, after.content
    names = toolset.names_only_in(new, old)
    if not names:
        return toolset.diff(old, new)
    stretches = reader.intervals(server, subject, limit=STRETCHES_LOOKED_AT)
    began = next((each.since for each in stretches if each.value == after.pair), None)
    return toolset.diff(old, new, reader.last_known(server, subject, names, began))


def remembered_toolset(reader: Reader, server: str, named: str) -> ports.StoredToolset:
    """The tool list that ``named`` means, as for compare, on the surfaces that all agree on it.

    Raises UnknownError where there is none, UsageError where the surfaces differ.
    """
    found = {
        stored.pair: stored
        for stored in (_named(reader, server, state, named) for state in _toolset_states(reader, server))
    }
    if not found:
        raise UnknownError(f"{server}: no complete tool list was read yet")
    if len(found) > 1:
        raise UsageError(f"{server}: its surfaces differ, name one fingerprint: {', '.join(sorted(found))}")
    return next(iter(found.values()))


def diff(server: str, compared: list[Compared]) -> Diff:
    """What compare found."""
    surfaces: list[SurfaceDiff] = [
        {
            "subject": each.subject,
            "from": each.before.pair,
            "to": each.after.pair,
            "diff": each.diff.to_json(),
        }
        for each in compared
    ]
    return {"server": server, "surfaces": surfaces}


def export(server: str, item: ports.StoredToolset) -> Toolset:
    """One tool list, whole."""
    return {
        "server": server,
        "fingerprint": item.pair,
        "contract": item.fingerprint.contract,
        "surface": item.fingerprint.surface,
        "checklist": item.fingerprint.checklist,
        "revision": item.revision,
        "first_seen_at": iso(item.first_seen_at),
        "instructions": item.instructions,
        "tools": list(item.tools),
        "further": {name: list(entries) for name, entries in item.further},
    }


def _toolset_states(reader: Reader, server: str) -> list[transitions.SubjectState]:
    memory = reader.memory(server)
    if memory is None:
        raise no_server(server, (record.name for record in reader.servers()))
    return [state for subject, state in sorted(memory.states.items()) if is_toolset(subject)]


def _named(reader: Reader, server: str, state: transitions.SubjectState, wanted: str) -> ports.StoredToolset:
    known = {"accepted": state.accepted or state.confirmed, "current": state.confirmed}
    for pair in (known[wanted],) if wanted in known else _meant(reader, server, state, wanted):
        stored = reader.toolset(server, pair)
        if stored is not None:
            return stored
    raise UnknownError(
        f"{server}: no tool list with the fingerprint or release {wanted!r} is remembered; there are "
        f"accepted, current, and what `driftwatch history {server}` names"
    )


def _meant(reader: Reader, server: str, state: transitions.SubjectState, wanted: str) -> Iterator[str]:
    """The fingerprints that a whole or shortened one, or a release, may mean; at most one of each."""
    yield wanted
    memory = reader.memory(server)
    pairs = {*(memory.seen_fingerprints if memory else ()), state.accepted or ""}
    named = [pair for pair in pairs if transitions.names_pair(wanted, pair)]
    if len(named) == 1:
        yield named[0]
    release = reader.release(wanted) or next(iter(reader.releases(server, limit=1, ref=wanted)), None)
    if release is not None:
        outcomes = {outcome.server: outcome for outcome in reader.deploy(release.id)}
        outcome = outcomes.get(server)
        settled_at = (outcome and outcome.finished_at) or release.received_at
        pair = reader.confirmed_at(server, state.subject, settled_at)
        if pair is not None:
            yield pair
