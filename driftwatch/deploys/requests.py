"""The first probes after a release was announced. Pure."""

from datetime import timedelta

from driftwatch.model import Depth, ProbeRequest, Release, Trigger

PRIORITY = 2
"""Somebody waits for a deploy: it goes before what is on the interval."""


def probes(release: Release, *, delay: timedelta) -> tuple[ProbeRequest, ...]:
    """One full probe for each server of a release, ``delay`` after it was announced."""
    return tuple(
        ProbeRequest(
            server=server,
            due_at=release.received_at + delay,
            trigger=Trigger.DEPLOY,
            depth=Depth.FULL,
            priority=PRIORITY,
            release_ref=release.id,
        )
        for server in release.servers
    )
