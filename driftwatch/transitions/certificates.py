"""The end of a certificate: a reminder for each threshold, and the renewal after one. Pure.

Everything is bound to the leaf and never forgotten, so that a CDN which shows the old and the new one in turn
is told once. A renewal counts when the old leaf has not been shown for a while; one that is still shown when
it is about to end is called to mind. The state of ``tls/expiry`` moves with these messages and says nothing
of its own; what a handshake makes of an expired certificate is told by ``tls/chain``, and then there is no
reminder beside it.
"""

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

from driftwatch.model import Certificate, Event, EventKind, Level, Report, Result, State
from driftwatch.transitions.causes import Causes
from driftwatch.transitions.check_states import observe_check, shadow
from driftwatch.transitions.ledger import Ledger
from driftwatch.transitions.memory import Memory, Policy, TlsNotice
from driftwatch.transitions.subjects import check_subject
from driftwatch.transitions.values import CHAIN, EXPIRY, value_of

EXPIRED = 0
"""The threshold of a certificate that has ended."""

SEEN = -1
"""The mark of a leaf whose coming is in the history as a renewal."""

RENEWED = -2
"""The mark of a leaf whose coming was told as a renewal."""

COMING = -3
"""The mark of a leaf that answers a reminder and is told as a renewal when the old one is out of sight."""

LEFT = -4
"""The mark of a leaf that was called to mind because it was shown beside a newer one."""

OUT_OF_SIGHT = timedelta(hours=1)
"""For so long only the new leaf must be shown until a renewal counts,"""

OUT_OF_SIGHT_AGAIN = timedelta(days=1)
"""and for so long after the old one was called to mind."""

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
    since: datetime | None = None,
) -> Noted:
    """The reminder that is due for a leaf: the closest threshold that it has crossed, once.

    Looser ones that were crossed with it are noted as superseded. Once a newer certificate has come, only
    what is urgent is told, and if that was told before, once more: an instance was left with the old one.
    ``expiry_is_told`` leaves the end itself to somebody else; ``since`` this time no other leaf was shown.
    """
    reached = crossed(leaf, policy, now)
    if not reached:
        return None, ()
    known = {notice.threshold_days for notice in notices if notice.leaf_sha256 == leaf.leaf_sha256}
    fresh = [days for days in reached if days not in known]
    closest = min(reached)
    newer = _newer(leaf, notices)
    urgent = closest <= URGENT_DAYS
    if not fresh and urgent and _is_left(leaf, notices, newer, policy=policy, now=now):
        fresh = [LEFT]
    if not fresh:
        return None, ()
    mark = LEFT if fresh == [LEFT] else closest
    event = None
    if mark in fresh and (urgent or not newer) and not (closest == EXPIRED and expiry_is_told):
        event = Event(
            id=_id(server, leaf, mark),
            server=server,
            kind=EventKind.TLS_REMINDER,
            level=Level.ERROR if urgent else Level.WARNING,
            alerts=True,
            at=now,
            run=run,
            subject=check_subject(EXPIRY),
            details={
                "threshold_days": closest,
                "superseded": [days for days in fresh if days != mark],
                "not_after": leaf.not_after.isoformat(),
                "not_before": leaf.not_before.isoformat(),
                "leaf_sha256": leaf.leaf_sha256,
                "issuer": leaf.issuer,
                "subject_alt_names": list(leaf.subject_alt_names),
                "newer_not_after": max(item.not_after for item in newer).isoformat() if newer else None,
                "newer_is_gone": since is not None and now - since >= OUT_OF_SIGHT_AGAIN,
            },
        )
    return event, tuple(_notice(leaf, days, now, event if days == mark else None) for days in fresh)


def renew(
    server: str,
    before: Certificate | None,
    leaf: Certificate,
    notices: Collection[TlsNotice],
    *,
    now: datetime,
    run: str | None,
) -> Noted:
    """Another leaf with a later end has come: history, unless a reminder waits for it."""
    if before is None or leaf.leaf_sha256 == before.leaf_sha256 or leaf.not_after <= before.not_after:
        return None, ()
    known = {item.threshold_days for item in notices if item.leaf_sha256 == leaf.leaf_sha256}
    if known & {COMING, RENEWED}:
        return None, ()
    if _reminded(leaf, notices):
        return None, (_notice(leaf, COMING, now, None),)
    if SEEN in known:
        return None, ()
    event = _renewal(server, _notice(before, SEEN, now, None), leaf, SEEN, now=now, run=run)
    return event, (_notice(leaf, SEEN, now, None),)


def conclude(
    server: str,
    leaf: Certificate,
    notices: Collection[TlsNotice],
    *,
    since: datetime,
    now: datetime,
    run: str | None,
) -> Noted:
    """The renewal after a reminder, told once, when only this leaf has been shown ``since`` long enough.

    A reminder is answered by the first later certificate that is told, however long the two take turns.
    """
    reminded = _reminded(leaf, notices)
    if not reminded or not _has(notices, leaf, COMING) or is_awaited(leaf, notices, since=since, now=now):
        return None, ()
    before = max(reminded, key=lambda item: item.not_after)
    event = _renewal(server, before, leaf, RENEWED, now=now, run=run)
    return event, (_notice(leaf, RENEWED, now, event),)


def is_awaited(leaf: Certificate, notices: Collection[TlsNotice], *, since: datetime, now: datetime) -> bool:
    """Whether an older leaf that a reminder was about, and that has not ended, may be shown again."""
    if not _has(notices, leaf, COMING):
        return False
    older = {
        item.threshold_days
        for item in notices
        if item.event and item.threshold_days != RENEWED and now < item.not_after < leaf.not_after
    }
    return bool(older) and now - since < (OUT_OF_SIGHT_AGAIN if LEFT in older else OUT_OF_SIGHT)


def _reminded(leaf: Certificate, notices: Collection[TlsNotice]) -> list[TlsNotice]:
    """The reminders about older leaves that no renewal has answered."""
    told = [item.not_after for item in notices if item.threshold_days == RENEWED]
    return [
        item
        for item in notices
        if item.event
        and item.threshold_days >= EXPIRED
        and item.not_after < leaf.not_after
        and not any(later > item.not_after for later in told)
    ]


def _newer(leaf: Certificate, notices: Collection[TlsNotice]) -> list[TlsNotice]:
    """The marks of later leaves that answer a reminder."""
    marks = (COMING, RENEWED)
    return [item for item in notices if item.threshold_days in marks and item.not_after > leaf.not_after]


def _is_left(
    leaf: Certificate,
    notices: Collection[TlsNotice],
    newer: Collection[TlsNotice],
    *,
    policy: Policy,
    now: datetime,
) -> bool:
    """Whether a leaf outlasts the coming of a newer one, and nothing urgent was said of it since."""
    if not newer or _has(notices, leaf, LEFT):
        return False
    came = min(item.at for item in newer)
    said = any(
        item.leaf_sha256 == leaf.leaf_sha256
        and item.event
        and EXPIRED <= item.threshold_days <= URGENT_DAYS
        and item.at > came
        for item in notices
    )
    return not said and now - came >= policy.unsettled


def _has(notices: Collection[TlsNotice], leaf: Certificate, mark: int) -> bool:
    return any((item.leaf_sha256, item.threshold_days) == (leaf.leaf_sha256, mark) for item in notices)


def _renewal(
    server: str, before: TlsNotice, leaf: Certificate, mark: int, *, now: datetime, run: str | None
) -> Event:
    names = set(before.subject_alt_names), set(leaf.subject_alt_names)
    return Event(
        id=_id(server, leaf, mark),
        server=server,
        kind=EventKind.TLS_RENEWED,
        level=Level.INFO,
        alerts=mark == RENEWED,
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
        since = shown_since(ledger.memory, ledger.report)
        event, notices = conclude(server, leaf, ledger.notices(), since=since, now=ledger.now, run=ledger.run)
        ledger.noted(notices, event)
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
            since=since,
        )
        ledger.noted(notices, event)


def shown_since(memory: Memory, report: Report) -> datetime:
    """Since when the server has shown the leaf of this report and no other."""
    known, leaf = memory.certificate, report.certificate
    if known is None or leaf is None or known.leaf_sha256 != leaf.leaf_sha256:
        return report.taken_at
    return memory.certificate_since or report.taken_at


def follows_certificate(ledger: Ledger, result: Result) -> bool:
    """Whether a result only repeats what the reminders say."""
    return (
        result.check == EXPIRY
        and result.state is not State.NOT_CHECKED
        and ledger.report.certificate is not None
        and ledger.incident(check_subject(EXPIRY)) is None
    )


def follow_certificate(ledger: Ledger, causes: Causes, *, dates: bool) -> None:
    """Let ``tls/expiry`` move with the certificate without a word.

    Not at all while dates mean nothing, nor while a renewal does not count yet.
    """
    leaf = ledger.report.certificate
    since = shown_since(ledger.memory, ledger.report)
    hold = not dates or (leaf is not None and is_awaited(leaf, ledger.notices(), since=since, now=ledger.now))
    for result in ledger.report.results:
        if not follows_certificate(ledger, result) or causes.root(result):
            continue
        state = ledger.state(check_subject(EXPIRY))
        if state is None or state.accepted is None or value_of(result) == state.confirmed:
            observe_check(ledger, result, causes)
        else:
            shadow(ledger, state, result, ledger.at, _event_about(ledger), hold=hold)


def _event_about(ledger: Ledger) -> str | None:
    return next((notice.event for notice in reversed(ledger.new_notices) if notice.event), None)


def _notice(leaf: Certificate, days: int, now: datetime, event: Event | None) -> TlsNotice:
    return TlsNotice(
        leaf_sha256=leaf.leaf_sha256,
        threshold_days=days,
        at=now,
        not_after=leaf.not_after,
        issuer=leaf.issuer,
        subject_alt_names=leaf.subject_alt_names,
        event=event.id if event else None,
    )


def _id(server: str, leaf: Certificate, days: int) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{server}\n{leaf.leaf_sha256}\n{days}"))
