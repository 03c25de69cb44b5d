"""The end of a certificate: a reminder for each threshold, and the renewal after one. Pure.

Everything is bound to the leaf and never forgotten, so that a CDN which shows the old and the new one in turn
is told once. The state of ``tls/expiry`` moves with these messages and says nothing of its own; what a
handshake makes of an expired certificate is told by ``tls/chain``, and then there is no reminder beside it.
"""

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

from driftwatch.model import Certificate, Event, EventKind, Level, Result, State
from driftwatch.transitions.causes import Causes
from driftwatch.transitions.check_states import observe_check, shadow
from driftwatch.transitions.ledger import Ledger
from driftwatch.transitions.memory import Policy, TlsNotice
from driftwatch.transitions.values import CHAIN, EXPIRY, check_subject, value_of

EXPIRED = 0
"""The threshold of a certificate that has ended."""

SEEN = -1
"""The mark of a leaf whose coming is in the history as a renewal."""

RENEWED = -2
"""The mark of a leaf whose coming was told as a renewal."""

URGENT_DAYS = 3
"""From here on a reminder is an error."""

_DAY = timedelta(days=1)
_NAMESPACE = uuid.UUID("0c7b3f0e-55c9-5f2c-8f0a-0b1d6a2c7e44")
"""Of the ids of events about a leaf. They are persisted: it never changes."""

Noted = tuple[Event | None, tuple[TlsNotice, ...]]
"""What is told, if anything, and what is noted for ever."""


def crossed(leaf: Certificate, policy: Policy, now: datetime) -> list[int]:
    """The thresholds that a leaf has crossed, EXPIRED among them."""
    lifetime, left = leaf.not_after - leaf.not_before, leaf.days_left(now)
    counting = [days for days in policy.tls_days if days * _DAY < lifetime * policy.tls_share]
    reached = [days for days in counting if left <= days]
    return [*reached, EXPIRED] if now >= leaf.not_after else reached


def remind(
    server: str,
    leaf: Certificate,
    notices: Collection[TlsNotice],
    *,
    policy: Policy,
    now: datetime,
    run: str | None = None,
    expiry_is_told: bool = False,
) -> Noted:
    """The reminder that is due for a leaf: the closest threshold that it has crossed, once.

    Looser ones that were crossed with it are noted as superseded. While a newer certificate was announced
    already, only what is urgent is told. ``expiry_is_told`` leaves the end itself to somebody else.
    """
    reached = crossed(leaf, policy, now)
    known = {notice.threshold_days for notice in notices if notice.leaf_sha256 == leaf.leaf_sha256}
    fresh = [days for days in reached if days not in known]
    if not fresh:
        return None, ()
    closest = min(reached)
    newer = max(
        (item.not_after for item in notices if item.threshold_days == RENEWED), default=leaf.not_after
    )
    rolled_out = newer > leaf.not_after
    urgent = closest <= URGENT_DAYS
    event = None
    if closest in fresh and (urgent or not rolled_out) and not (closest == EXPIRED and expiry_is_told):
        event = Event(
            id=_id(server, leaf, closest),
            server=server,
            kind=EventKind.TLS_REMINDER,
            level=Level.ERROR if urgent else Level.WARNING,
            alerts=True,
            at=now,
            run=run,
            subject=check_subject(EXPIRY),
            details={
                "threshold_days": closest,
                "superseded": [days for days in fresh if days != closest],
                "not_after": leaf.not_after.isoformat(),
                "not_before": leaf.not_before.isoformat(),
                "leaf_sha256": leaf.leaf_sha256,
                "issuer": leaf.issuer,
                "subject_alt_names": list(leaf.subject_alt_names),
                "newer_not_after": newer.isoformat() if rolled_out else None,
            },
        )
    return event, tuple(
        _notice(leaf, days, now, event if event and days == closest else None) for days in fresh
    )


def renew(
    server: str,
    before: Certificate | None,
    leaf: Certificate,
    notices: Collection[TlsNotice],
    *,
    now: datetime,
    run: str | None,
) -> Noted:
    """The renewal that another leaf with a later end is: told once where a reminder was, else history.

    A reminder is answered by the first later certificate that is announced, however long the two take turns.
    """
    if before is None or leaf.leaf_sha256 == before.leaf_sha256 or leaf.not_after <= before.not_after:
        return None, ()
    told = [item.not_after for item in notices if item.threshold_days == RENEWED]
    asked = any(
        item.event
        and item.threshold_days >= EXPIRED
        and item.not_after < leaf.not_after
        and not any(later > item.not_after for later in told)
        for item in notices
    )
    mark = RENEWED if asked else SEEN
    if any((item.leaf_sha256, item.threshold_days) == (leaf.leaf_sha256, mark) for item in notices):
        return None, ()
    names = set(before.subject_alt_names), set(leaf.subject_alt_names)
    event = Event(
        id=_id(server, leaf, mark),
        server=server,
        kind=EventKind.TLS_RENEWED,
        level=Level.INFO,
        alerts=asked,
        at=now,
        run=run,
        details={
            "not_after": leaf.not_after.isoformat(),
            "previous_not_after": before.not_after.isoformat(),
            "leaf_sha256": leaf.leaf_sha256,
            "previous_leaf_sha256": before.leaf_sha256,
            "issuer": leaf.issuer,
            "previous_issuer": before.issuer,
            "names_added": sorted(names[1] - names[0]),
            "names_lost": sorted(names[0] - names[1]),
        },
    )
    return event, (_notice(leaf, mark, now, event if asked else None),)


def observe_certificate(ledger: Ledger, *, dates: bool) -> None:
    """Let the certificate of a report count."""
    leaf, server = ledger.report.certificate, ledger.report.server
    if leaf is None:
        return
    event, notices = renew(
        server, ledger.memory.certificate, leaf, ledger.notices(), now=ledger.now, run=ledger.run
    )
    ledger.noted(notices, event)
    if dates:
        fails = any(
            result.check == CHAIN and result.state is State.FAILED and result.code == "expired"
            for result in ledger.report.results
        )
        event, notices = remind(
            server,
            leaf,
            ledger.notices(),
            policy=ledger.policy,
            now=ledger.now,
            run=ledger.run,
            expiry_is_told=fails,
        )
        ledger.noted(notices, event)


def follows_certificate(ledger: Ledger, result: Result) -> bool:
    """Whether a result only repeats what the reminders say."""
    return (
        result.check == EXPIRY
        and result.state is not State.NOT_CHECKED
        and ledger.report.certificate is not None
        and ledger.incident(check_subject(EXPIRY)) is None
    )


def follow_certificate(ledger: Ledger, causes: Causes, *, dates: bool) -> None:
    """Let ``tls/expiry`` move with the certificate without a word; not at all while dates mean nothing."""
    for result in ledger.report.results:
        if not follows_certificate(ledger, result) or causes.root(result):
            continue
        state = ledger.state(check_subject(EXPIRY))
        if state is None or state.accepted is None or value_of(result) == state.confirmed:
            observe_check(ledger, result, causes)
        else:
            shadow(ledger, state, result, ledger.at, _event_about(ledger), hold=not dates)


def _event_about(ledger: Ledger) -> str | None:
    return next((notice.event for notice in reversed(ledger.new_notices) if notice.event), None)


def _notice(leaf: Certificate, days: int, now: datetime, event: Event | None) -> TlsNotice:
    return TlsNotice(
        leaf_sha256=leaf.leaf_sha256,
        threshold_days=days,
        at=now,
        not_after=leaf.not_after,
        event=event.id if event else None,
    )


def _id(server: str, leaf: Certificate, days: int) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{server}\n{leaf.leaf_sha256}\n{days}"))
