"""What is remembered of a server: states, incidents, certificates, and all of it together."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import RowMapping

from driftwatch.model import Certificate, Depth, State
from driftwatch.store.columns import from_micros, to_micros
from driftwatch.store.mapping.values import Values
from driftwatch.transitions import Incident, Memory, Standing, SubjectState, TlsNotice

_STORED_FIELDS = tuple(name for name in SubjectState.__slots__ if name != "last_observed_at")


def subject_state(row: RowMapping, observed_at: datetime) -> SubjectState:
    """A remembered state; ``observed_at`` is when its subject was last observed, changed or not."""
    values = {name: row[name] for name in _STORED_FIELDS}
    values["last_observed_at"] = observed_at
    values["flap_times"] = tuple(map(from_micros, row["flap_times"]))
    values["flap_values"] = tuple(row["flap_values"])
    return SubjectState(**values)


def subject_state_values(server_id: int, state: SubjectState) -> Values:
    """A state as a row."""
    values = {name: getattr(state, name) for name in _STORED_FIELDS}
    values["flap_times"] = list(map(to_micros, state.flap_times))
    values["turns"] = dict(state.turns)
    values["detail"] = dict(state.detail)
    return {"server_id": server_id, **values}


def standing(row: RowMapping) -> Standing:
    """A server's standing; all zero for a server without a run, where the join found nothing."""
    return Standing(
        counts={state: row[state.value] or 0 for state in State},
        worst=row["worst"] or State.NOT_CHECKED,
        changed_at=row["changed_at"],
    )


def standing_values(server_id: int, value: Standing) -> Values:
    """A standing as a row."""
    counts = {state.value: number for state, number in value.counts.items()}
    return {"server_id": server_id, "worst": value.worst, "changed_at": value.changed_at, **counts}


def incident(row: RowMapping) -> Incident:
    """An incident's row."""
    return Incident(**{name: row[name] for name in Incident.__slots__})


def incident_values(server_id: int, value: Incident) -> Values:
    """An incident as a row."""
    return {"server_id": server_id, **{name: getattr(value, name) for name in Incident.__slots__}}


def certificate(row: RowMapping) -> Certificate | None:
    """The certificate that was joined to a server's row, if there was one."""
    if row["leaf_sha256"] is None or row["not_after"] is None:
        return None
    return Certificate(
        not_before=row["valid_from"],
        not_after=row["not_after"],
        issuer=row["issuer"],
        subject_alt_names=tuple(row["subject_alt_names"]),
        version=row["version"],
        chain_length=row["chain_length"],
        leaf_sha256=row["leaf_sha256"],
        serial=row["serial"],
    )


def certificate_values(server_id: int, value: Certificate, seen_at: datetime) -> Values:
    """A certificate as a row that is new or seen again."""
    values = asdict(value)
    values["subject_alt_names"] = list(value.subject_alt_names)
    return {"server_id": server_id, **values, "first_seen_at": seen_at, "last_seen_at": seen_at}


def tls_notice(row: RowMapping) -> TlsNotice:
    """A notice; the row also has what is told of its certificate."""
    values = {name: row[name] for name in TlsNotice.__slots__}
    return TlsNotice(**{**values, "subject_alt_names": tuple(row["subject_alt_names"])})


def tls_notice_values(server_id: int, notice: TlsNotice) -> Values:
    """A notice as a row."""
    values = asdict(notice)
    for name in ("not_after", "issuer", "subject_alt_names"):
        del values[name]
    return {"server_id": server_id, **values}


def memory(
    server: RowMapping,
    states: Iterable[RowMapping],
    incidents: Iterable[RowMapping],
    toolsets: Iterable[RowMapping],
    *,
    notices: Iterable[RowMapping] = (),
    reprobes: Iterable[RowMapping] = (),
) -> Memory:
    """Everything that is remembered about one server, put together from its rows.

    A state is written only when it changes: when each was last observed stands in the server's row.
    """
    unobserved = server["unobserved"]
    remembered = {}
    for row in states:
        subject = row["subject"]
        observed_at = from_micros(unobserved[subject]) if subject in unobserved else server["observed_at"]
        remembered[subject] = subject_state(row, observed_at)
    seen: dict[str, datetime] = {}
    for row in toolsets:
        pair, confirmed_at = row["pair"], row["last_confirmed_at"]
        seen[pair] = max(confirmed_at, seen.get(pair, confirmed_at))
    return Memory(
        server=server["name"],
        states=remembered,
        incidents={row["subject"]: incident(row) for row in incidents},
        certificate=certificate(server),
        certificate_since=server["leaf_since"],
        notices=tuple(map(tls_notice, notices)),
        last_run_at=server["last_run_at"],
        reprobes=tuple(row["taken_at"] for row in reprobes),
        full_reprobe_at=server["confirm_due_at"] if server["confirm_depth"] == Depth.FULL else None,
        seen_fingerprints=seen,
    )


def unobserved_values(states: Iterable[SubjectState], observed_at: datetime | None) -> dict[str, int]:
    """The subjects that were observed at another time than the server's others, and when."""
    return {
        state.subject: to_micros(state.last_observed_at)
        for state in states
        if state.last_observed_at != observed_at
    }
