"""Releases that were announced."""

from typing_extensions import TypedDict

from driftwatch import model
from driftwatch.views.shape import Moment, described, iso


@described
class Release(TypedDict):
    """One deploy, as it was announced; all texts are its sender's."""

    id: str
    ref: str
    """A tag, a version, a branch."""
    received_at: Moment
    servers: list[str]
    previous_ref: str | None
    commit: str | None
    link: str | None
    actor: str | None
    environment: str | None
    expect_change: bool


def release(item: model.Release) -> Release:
    """One release."""
    return {
        "id": item.id,
        "ref": item.ref,
        "received_at": iso(item.received_at),
        "servers": list(item.servers),
        "previous_ref": item.previous_ref,
        "commit": item.commit,
        "link": item.link,
        "actor": item.actor,
        "environment": item.environment,
        "expect_change": item.expect_change,
    }
