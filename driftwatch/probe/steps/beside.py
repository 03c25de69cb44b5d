"""What a full probe does beside the conversation, on connections of its own."""

import asyncio
import secrets
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from driftwatch.evidence import Addresses, Burst, Evidence, LogSearch, Missing, Replicas, SlowCall
from driftwatch.probe.conversation.dialogue import PACE_S
from driftwatch.probe.steps import addresses, burst, log_files, replicas, slow_tool
from driftwatch.probe.steps.further import Door
from driftwatch.probe.wire.connect import Resolver
from driftwatch.probe.wire.credential import Credential

NO_LOGS = Missing("a probe from outside cannot read the server's logs", "no-logs")
THROUGH_PROXY = Missing("connections go through a proxy, which picks the address", "proxy")
ASKED_TO_WAIT = Missing("the server asked for a pause (Retry-After)", "rate-limited")


def marker() -> str:
    """What a probe carries in a header so that it can be found in the server's own logs."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Everything that is done once per probe and not once per surface."""

    door: Door
    resolver: Resolver
    credential: Credential | None
    marker: str
    provoked: str | None
    """What was asked last of all that is wrong on purpose."""
    shut_out: Missing | None
    """Why nothing more is asked of a server that has stopped answering."""
    ends: float
    """The probe's deadline, on the event loop's clock. A slow tool, a burst and the log files are not bound
    by it: their own limits are."""

    async def look(self, evidence: Evidence) -> dict[str, Any]:
        """Addresses, replicas, slow tool and logs, last of all a burst, and what all of that took."""
        reachable = evidence.outcome.reachable
        seen: dict[str, Any] = {"addresses": await self._addresses() if reachable else evidence.blocker}
        seen["replicas"] = self._silence(evidence) or await self._replicas(evidence)
        seen["slow_call"] = await self._slow_call(evidence)
        seen["logs"] = await self._logs(evidence)
        seen["burst"] = await self._burst(evidence)
        asked = max(evidence.retry_after_s or 0.0, self.door.retry_after_s or 0.0)
        return {
            **seen,
            "requests": evidence.requests + self.door.requests,
            "retry_after_s": asked or None,
        }

    async def _addresses(self) -> Addresses | Missing:
        target = self.door.target
        if self.shut_out is not None:
            return self.shut_out
        if target.proxy:
            return THROUGH_PROXY
        return await addresses.knock(target.url, self.resolver, ends=self.ends)

    async def _replicas(self, evidence: Evidence) -> Replicas | Missing:
        limits = self.door.target.limits
        openings = () if isinstance(evidence.openings, Missing) else evidence.openings
        turned = crc32(evidence.taken_at.isoformat().encode()) % 2 == 1
        return await replicas.look(
            self.door,
            evidence.surfaces,
            openings,
            limits,
            ends=self.ends,
            turned=turned,
            provoked=self.provoked,
        )

    # What nobody configured is no consequence of anything else.

    async def _slow_call(self, evidence: Evidence) -> SlowCall | Missing:
        tool = self.door.target.slow_tool
        if tool is None:
            return slow_tool.NOT_CONFIGURED
        return self._silence(evidence) or await slow_tool.call(self.door, evidence.surfaces[0], tool)

    async def _logs(self, evidence: Evidence) -> LogSearch | Missing:
        target = self.door.target
        if not target.log_files:
            return NO_LOGS
        if not evidence.outcome.reachable:
            return evidence.blocker
        await self.door.pause(PACE_S)  # what is logged is written a moment later
        return await asyncio.to_thread(
            log_files.search,
            target.log_files,
            marker=self.marker,
            credential=self.credential,
            url=target.url,
        )

    async def _burst(self, evidence: Evidence) -> Burst | Missing:
        plan = self.door.target.burst
        if plan is None:
            return burst.NO_CONSENT
        silence = self._silence(evidence)
        if silence is not None:
            return silence
        unwanted = burst.unwanted(plan, evidence.surfaces[0], evidence.trigger)
        return unwanted or await burst.send(self.door, evidence.surfaces[0], plan)

    def _silence(self, evidence: Evidence) -> Missing | None:
        """Why nothing more is asked of the server; None when it may be."""
        if not evidence.surfaces:
            return evidence.blocker
        return self.shut_out or (None if evidence.retry_after_s is None else ASKED_TO_WAIT)
