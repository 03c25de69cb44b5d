"""One probe of a server, from the first address to the last DELETE, as evidence."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from driftwatch import __version__
from driftwatch.clock import Clock
from driftwatch.evidence import Evidence, Missing, Outcome, Tls
from driftwatch.model import Depth, Trigger
from driftwatch.probe.conversation import outcome
from driftwatch.probe.conversation.dialogue import Dialogue, Pause
from driftwatch.probe.conversation.farewell import end_sessions
from driftwatch.probe.credentials.source import Errand, Unavailable
from driftwatch.probe.steps import auth, sequence
from driftwatch.probe.steps.beside import Beside, marker
from driftwatch.probe.steps.further import Door
from driftwatch.probe.steps.log_files import MARKER_HEADER
from driftwatch.probe.steps.sequence import Seen
from driftwatch.probe.target import Target
from driftwatch.probe.wire.connect import Resolver
from driftwatch.probe.wire.credential import Credential
from driftwatch.probe.wire.exchange import Wire
from driftwatch.probe.wire.request import Limits
from driftwatch.probe.wire.tls import TrustStore, file_fault, together


class Prober(Protocol):
    """Makes one probe."""

    async def __call__(self, target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        """Probe the target. Never raises for the server's fault."""


def prober(*, clock: Clock, resolver: Resolver, pause: Pause = asyncio.sleep) -> Prober:
    """A prober with one set of TLS contexts for all its probes; ``pause`` waits before a retry."""
    trust = TrustStore()

    async def probed(target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        return await probe(
            target,
            depth=depth,
            trigger=trigger,
            trust=trust,
            resolver=resolver,
            now=clock.now,
            pause=pause,
        )

    return probed


_BESIDE = ("addresses", "replicas", "slow_call", "logs", "burst")
"""The parts of the evidence that a full probe adds to those of a light one."""


async def probe(
    target: Target,
    *,
    depth: Depth,
    trigger: Trigger,
    trust: TrustStore,
    resolver: Resolver,
    now: Callable[[], datetime],
    pause: Pause = asyncio.sleep,
) -> Evidence:
    """Probe a server once and tell what was seen.

    Never raises for a fault of the server, whatever it is. Takes at most the target's deadline and
    ``FAREWELL_S``, and oauth.DEADLINE_S where a token has to be got; a slow tool and a burst, which only the
    configuration asks for, take their own time after it. Every session that the server issued is ended with
    DELETE, also when the probe fails or is cancelled. Without a token, or with a certificate file that cannot
    be used, no probe is made.
    """
    clock = asyncio.get_running_loop().time
    begun, taken_at = clock(), now()
    try:
        roots = trust.get(
            ca_file=target.ca_file, client_cert=target.client_cert, client_key=target.client_key
        )
    except OSError as why:
        message = f"a configured certificate file cannot be used: {file_fault(why)}"
        found = Outcome(code="certificate-file", message=message, status=None, reachable=False)
        beside = {} if depth is Depth.LIGHT else dict.fromkeys(_BESIDE, found.blocker)
        return _evidence(target, found, taken_at=taken_at, depth=depth, trigger=trigger, **beside)

    def wire(url: str, credential: Credential | None, limits: Limits) -> Wire:
        return Wire(
            url=url,
            tls=roots,
            resolver=resolver,
            clock=now,
            limits=limits,
            credential=credential,
            proxy=target.proxy,
        )

    errand = Errand(wire=wire, limits=target.limits, now=now)
    try:
        credential = target.credential if target.source is None else await target.source.current(errand)
    except Unavailable as why:
        found = Outcome(code="token", message=f"no token: {why}", status=None, reachable=False)
        evidence = _evidence(target, found, taken_at=taken_at, depth=depth, trigger=trigger)
        under_way = _Probe(target, None, depth, errand, pause)
    else:
        under_way = _Probe(target, credential, depth, errand, pause)
        evidence = await under_way.make(taken_at=taken_at, trigger=trigger)
    seen = {} if depth is Depth.LIGHT else await under_way.look_beside(evidence, resolver)
    return replace(evidence, **seen, duration_s=clock() - begun)


class _Probe:
    """One probe, with a credential in hand that may be renewed on the way."""

    def __init__(
        self, target: Target, credential: Credential | None, depth: Depth, errand: Errand, pause: Pause
    ) -> None:
        self._target = target
        self._depth = depth
        self._errand = errand
        self._pause = pause
        self._credential = credential
        self._url = target.url
        self._ends = asyncio.get_running_loop().time()
        self._provoked: str | None = None
        self._shut_out: Missing | None = None
        marked = target.log_files and depth is Depth.FULL
        self._marker = marker() if marked else ""
        self._headers = ((MARKER_HEADER, self._marker),) if marked else ()
        self._wires: list[Wire] = []
        """Those that were made so far, each with connections of its own."""
        self._outward = self._wire(_with_pages(target.limits))

    async def make(self, *, taken_at: datetime, trigger: Trigger) -> Evidence:
        """Everything that the conversation shows; its duration is left to the caller."""
        target, depth = self._target, self._depth
        seen = Seen()
        async with self._outward as outward:
            dialogue = Dialogue(
                outward,
                url=target.url,
                limits=target.limits,
                pause=self._pause,
                headers=self._headers,
                renew=self._renew,
            )
            try:
                await sequence.take(dialogue, seen, target, depth)
                authorization = await auth.look(
                    dialogue, target, openings=seen.openings, surfaces=seen.surfaces, depth=depth
                )
            finally:
                late = await end_sessions(dialogue, self._wire)
        self._url, self._ends = dialogue.url, dialogue.ends
        self._provoked, self._shut_out = dialogue.provoked, dialogue.shut_out
        found = outcome.conclude(seen.openings)
        return _evidence(
            target,
            found,
            taken_at=taken_at,
            depth=depth,
            trigger=trigger,
            requests=outward.requests + late,
            surfaces=tuple(seen.surfaces),
            tls=outward.tls,
            retry_after_s=dialogue.retry_after_s,
            openings=tuple(seen.openings) if found.reachable else found.blocker,
            authorization=authorization,
        )

    async def look_beside(self, evidence: Evidence, resolver: Resolver) -> dict[str, Any]:
        """What a full probe does beside the conversation, by the parts of the evidence that it becomes."""
        door = Door(
            target=self._target,
            url=self._url,
            wire=self._wire,
            pause=self._pause,
            headers=self._headers,
        )
        beside = Beside(
            door=door,
            resolver=resolver,
            credential=self._credential,
            marker=self._marker,
            provoked=self._provoked,
            shut_out=self._shut_out,
            ends=self._ends,
        )
        seen = await beside.look(evidence)
        tls = evidence.tls
        for shown in (wire.tls for wire in self._wires):
            if isinstance(tls, Tls) and isinstance(shown, Tls) and shown.verified:
                tls = together(tls, shown)
        return {**seen, "tls": tls}

    def _wire(self, limits: Limits) -> Wire:
        wire = self._errand.wire(self._target.url, self._credential, limits)
        self._wires.append(wire)
        return wire

    async def _renew(self) -> bool:
        source, refused = self._target.source, self._credential
        found = None if source is None or refused is None else await source.renewed(refused, self._errand)
        if found is None:
            return False
        self._credential = found
        self._outward.use(found)
        return True


def _evidence(
    target: Target, found: Outcome, *, taken_at: datetime, depth: Depth, trigger: Trigger, **seen: Any
) -> Evidence:
    """The evidence of a probe. Of what it did not see, the outcome says why."""
    why = found.blocker
    parts = {"requests": 0, "surfaces": (), "openings": why, "tls": why, "authorization": why, **seen}
    return Evidence(
        driftwatch=__version__,
        server=target.name,
        url=target.public_url,
        taken_at=taken_at,
        depth=depth,
        trigger=trigger,
        duration_s=0.0,
        credential=target.credential_label,
        settings=target.settings,
        outcome=found,
        **parts,
    )


def _with_pages(limits: Limits) -> Limits:
    """The limit of requests, with room for every page and for the DELETE of a session that it may open.

    There are five lists in two eras, and each may be begun anew.
    """
    return replace(limits, max_requests=2 * limits.max_requests + 40 * limits.max_pages)
