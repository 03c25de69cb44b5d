"""What each kind of event says, in the words of the person who has to act (pure).

The shapes of ``Event.details`` are documented in ``driftwatch.transitions``; nothing here fails for a detail
that is missing or of another type: a message with a gap is better than none.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from driftwatch.alerts.fold import TOOLSETS, Story
from driftwatch.alerts.wording import (
    calm,
    certificate,
    check,
    deploy,
    era,
    monitor,
    record,
    reminder,
    revision,
    toolset,
)
from driftwatch.alerts.wording.note import Named, Note, Voice
from driftwatch.model import Event, EventKind
from driftwatch.transitions.subjects import check_of, is_check

__all__ = ["Named", "Note", "Voice", "describe"]

_WORDING: Mapping[EventKind, Callable[[Event, Voice], Note]] = MappingProxyType(
    {
        EventKind.ADDED_WITH_PROBLEMS: check.added_with_problems,
        EventKind.CHANGE: check.change,
        EventKind.RECOVERY: check.recovery,
        EventKind.COVERAGE_LOST: check.coverage_lost,
        EventKind.COVERAGE_BACK: check.coverage_back,
        EventKind.TOOLSET_CHANGED: toolset.changed,
        EventKind.TOOLSET_RETURNED: toolset.returned,
        EventKind.ERA_CHANGED: era.changed,
        EventKind.REVISION_CHANGED: revision.changed,
        EventKind.FLAPPING: calm.flapping,
        EventKind.SETTLED: calm.settled,
        EventKind.UNSETTLED: calm.unsettled,
        EventKind.DEPLOYED: deploy.deployed,
        EventKind.REMINDER: reminder.reminder,
        EventKind.TLS_REMINDER: certificate.reminder,
        EventKind.TLS_RENEWED: certificate.renewed,
        EventKind.MONITOR_OFFLINE: monitor.offline,
        EventKind.STORAGE_FAULT: monitor.storage_fault,
        EventKind.DELIVERY_DEAD: monitor.delivery_dead,
        EventKind.CLOCK_STEP: monitor.clock_step,
        EventKind.TEST: monitor.test,
        EventKind.BASELINE: record.baseline,
        EventKind.BLIP: record.blip,
        EventKind.REBASED: record.rebased,
        EventKind.ACCEPTED: record.accepted,
        EventKind.ACKED: record.acked,
        EventKind.SILENCED: record.silenced,
        EventKind.UNSILENCED: record.unsilenced,
        EventKind.SERVER_ADDED: record.server_added,
        EventKind.SERVER_REMOVED: record.server_removed,
        EventKind.SERVER_RENAMED: record.server_renamed,
        EventKind.CONFIG_RELOADED: record.config_reloaded,
        EventKind.MONITOR_GAP: record.monitor_gap,
        EventKind.CONFIG_REJECTED: monitor.config_rejected,
    }
)
"""A kind that is not here is named plainly by ``monitor.other``."""


_BRINGS: Mapping[EventKind, tuple[str, ...]] = MappingProxyType(
    {EventKind.ERA_CHANGED: ("",), **dict.fromkeys(TOOLSETS, ("tool/", "schema/"))}
)
"""The checks, by how their ids begin, that move because of such an event, where nothing is down."""


def describe(story: Story, voice: Voice) -> Note:
    """What one story says."""
    event = story.last
    note = _describe(story, voice)
    return replace(
        note,
        check=check_of(event.subject) if is_check(event.subject) else None,
        brings=_BRINGS.get(event.kind, ()),
    )


def _describe(story: Story, voice: Voice) -> Note:
    if story.undone:
        blip = toolset.blip if story.first.kind in TOOLSETS else check.blip
        return blip(story.first, story.last, voice)
    if story.last.kind is EventKind.SETTLED and is_check(story.last.subject):
        return check.settled(story.last, voice)
    if story.last.kind is EventKind.SETTLED and story.last.details.get("diff"):
        return toolset.settled(story.last, voice)
    return _WORDING.get(story.last.kind, monitor.other)(story.last, voice)
