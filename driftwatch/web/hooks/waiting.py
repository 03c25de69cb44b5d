"""Callers that wait for the end of a release: not too many, not for ever, and nothing depends on them."""

import asyncio
from collections.abc import Callable, Sequence

from starlette.requests import Request

from driftwatch.deploys import DeployOutcome
from driftwatch.model import Release
from driftwatch.store.ports import Store
from driftwatch.web.hooks import verdict
from driftwatch.web.hooks.queries import Query

PLACES = 64
"""Callers that can wait at the same time."""

FIRST_LOOK_S, LONGEST_PAUSE_S = 0.1, 1.0
"""Between two looks into the database; the pause grows from the one to the other."""


class Waiting:
    """The callers that wait now."""

    def __init__(self, stopping: Callable[[], bool]) -> None:
        """``stopping`` ends all waiting, so that the service can end."""
        self._stopping = stopping
        self._callers = 0

    @property
    def full(self) -> bool:
        """Whether nobody more can wait."""
        return self._callers >= PLACES

    async def outcomes(
        self, request: Request, store: Store, release: Release, query: Query
    ) -> Sequence[DeployOutcome]:
        """What is known of the release now; with a wait, once it is decided or nobody waits any longer."""
        known = await store.query(lambda reader: reader.deploy(release.id))
        if not query.wait_s or self.full:
            return known
        ends, pause = asyncio.get_running_loop().time() + query.wait_s, FIRST_LOOK_S
        self._callers += 1
        try:
            while verdict.status(known, query.gates) == 202:  # noqa: PLR2004
                left = ends - asyncio.get_running_loop().time()
                if left <= 0 or self._stopping() or await request.is_disconnected():
                    break
                await asyncio.sleep(min(pause, left))
                pause = min(pause * 1.5, LONGEST_PAUSE_S)
                known = await store.query(lambda reader: reader.deploy(release.id))
        finally:
            self._callers -= 1
        return known
