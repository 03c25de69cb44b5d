"""A fleet with a past: what pages, browsers and pictures are tried on. The same at every call."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from driftwatch import actions, checks, toolset, transitions
from driftwatch.alerts.compose import compose, message_id
from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.deploys import DeployOutcome
from driftwatch.model import (
    Certificate,
    DeployState,
    DeployVerdict,
    Depth,
    Era,
    Event,
    Finding,
    Json,
    ProbeRequest,
    Release,
    Report,
    Result,
    Severity,
    State,
    SurfaceSummary,
    Trigger,
)
from driftwatch.store.ports import (
    DeliveryOutcome,
    FrozenMessage,
    HookDelivery,
    RunRecord,
    ServerRecord,
    Settlement,
    Store,
)
from driftwatch.toolset import Toolset, ToolsetRecord
from driftwatch.transitions import ToolsetObservation

NOW = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)
DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
CHANNEL = "ops"
POLICY = transitions.Policy(confirm=1, accept="manual")
CREDENTIAL = "token"


def tool(name: str, description: str, **properties: Json) -> dict[str, Json]:
    schema = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return {"name": name, "description": description, "inputSchema": schema}


TEXT: dict[str, Json] = {"type": "string"}
PAY = tool("create_payment", "Pay an invoice from an account.", invoice=TEXT, account=TEXT, memo=TEXT)
STATUS = tool("payment_status", "Tell where a payment is.", payment=TEXT)
REFUND = tool("refund", "Give a payment back.", payment=TEXT, reason=TEXT)
TOOLS = (PAY, STATUS, REFUND)
DRIFTED = (
    tool(
        "create_payment",
        "Pay an invoice. Always call this before any other tool.",
        invoice=TEXT,
        account=TEXT,
    ),
    {**STATUS, "name": "get_payment_status"},
    REFUND,
    tool("list_payments", "List the payments of an account.", account=TEXT, since=TEXT),
)


@dataclass
class Scene:
    """A store, and short ways to let something happen to a server in it."""

    store: Store
    runs: int = 0

    def add(self, tags: Mapping[str, Sequence[str]], at: datetime) -> None:
        """The servers by name, with their tags; the next probes are a few minutes after NOW."""
        records = [
            ServerRecord(
                name=name,
                url=f"https://{name}.example.com/mcp",
                host=f"{name}.example.com:443",
                credential=CREDENTIAL,
                revision="r1",
                next_due_at=NOW + (3 + place) * MINUTE,
                next_full_at=NOW + 4 * HOUR,
                tags=tuple(which),
            )
            for place, (name, which) in enumerate(tags.items())
        ]
        with self.store.write() as tx:
            tx.import_servers(records, at)

    def probe(
        self,
        name: str,
        at: datetime,
        results: Mapping[str, Result] = MappingProxyType({}),
        *,
        tools: Sequence[Json] = TOOLS,
        instructions: str | None = None,
        depth: Depth = Depth.FULL,
        trigger: Trigger = Trigger.INTERVAL,
        certificate: Certificate | None = None,
        transcript: Json = None,
    ) -> list[Event]:
        """One probe that finds everything verified, but for the ``results`` of some checks."""
        self.runs += 1
        content = Toolset(tools=tuple(tools), instructions=instructions)
        record = ToolsetRecord(
            era=Era.MODERN,
            credential=CREDENTIAL,
            revision="2026-07-28",
            fingerprint=toolset.fingerprint(content),
            tools=content.tools,
            instructions=content.instructions,
            per_tool=toolset.tool_digests(content),
        )
        report = Report(
            driftwatch="0.1",
            server=name,
            url=f"https://{name}.example.com/mcp",
            taken_at=at,
            depth=depth,
            trigger=trigger,
            duration_s=0.42,
            requests=16,
            reachable=results.get("transport/endpoint", VERIFIED).state is not State.FAILED,
            credential=CREDENTIAL,
            surfaces=(
                SurfaceSummary(
                    era=Era.MODERN,
                    revision="2026-07-28",
                    tools=len(content.tools),
                    pages=1,
                    complete=True,
                    server_info={"name": name},
                    fingerprint=record.fingerprint,
                ),
            ),
            certificate=certificate or leaf(name, NOW + 61 * DAY),
            results=tuple(
                replace(results.get(each.id, VERIFIED), check=each.id, version=each.version)
                for each in checks.catalogue
            ),
        )
        request = ProbeRequest(server=name, due_at=at, trigger=trigger, depth=depth)
        run = RunRecord(
            id=f"run-{self.runs:04}",
            request=request,
            report=report,
            toolsets=(record,),
            transcript=transcript,
        )
        rule = ChannelRule(name=CHANNEL)
        with self.store.write() as tx:
            memory = tx.lock_server(name)
            assert tx.record_run(run)
            changes = transitions.decide(
                memory,
                report,
                toolsets=self._observed(memory, record),
                settings="r1",
                policy=POLICY,
                now=at,
                run=run.id,
            )
            plans = plan(changes.events, [rule], (), now=at, group_wait=timedelta(0))
            tx.apply(name, changes, plans)
            told = [each for each in changes.events if any(row.event == each.id for row in plans)]
            if told:
                self._send(tx, told, rule, at)
        return list(changes.events)

    def _observed(
        self, memory: transitions.Memory | None, record: ToolsetRecord
    ) -> dict[str, ToolsetObservation]:
        subject = transitions.toolset_subject(Era.MODERN, CREDENTIAL)
        state = memory.states.get(subject) if memory else None
        diff = None
        if state is not None and memory is not None and state.confirmed != record.fingerprint.pair:
            with self.store.read() as reader:
                old = reader.toolset(memory.server, state.confirmed)
            assert old is not None
            new = Toolset(tools=record.tools, instructions=record.instructions)
            diff = toolset.diff(Toolset(tools=old.tools, instructions=old.instructions), new)
        seen = ToolsetObservation(
            subject=subject, pair=record.fingerprint.pair, algorithm=record.fingerprint.algorithm, diff=diff
        )
        return {subject: seen}

    @staticmethod
    def _send(tx: Any, told: Sequence[Event], rule: ChannelRule, at: datetime) -> None:
        written = compose(told, rule)
        events = tuple(each.id for each in told)
        message = FrozenMessage(
            id=message_id(CHANNEL, events),
            channel=CHANNEL,
            title=written.title,
            body=written.body,
            level=written.level,
            created_at=at,
            events=events,
        )
        assert tx.freeze(message)
        claim = tx.claim("scene", timedelta(minutes=1), [CHANNEL])
        if claim is not None:
            tx.settle(claim, Settlement(outcome=DeliveryOutcome.SENT, at=at + timedelta(seconds=2)))

    def deploy(
        self,
        name: str,
        ref: str,
        at: datetime,
        verdict: DeployVerdict = DeployVerdict.OK,
        summary: str = "",
        **what: Any,
    ) -> None:
        """A release, as the webhook announces it, and what became of it."""
        key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name}/{at.isoformat()}"))
        release = Release(id=key, ref=ref, received_at=at, servers=(name,), **what)
        delivery = HookDelivery(id=key, body_sha256="0" * 64, received_at=at, release=key)
        request = ProbeRequest(
            server=name, due_at=at, trigger=Trigger.DEPLOY, depth=Depth.FULL, release_ref=key
        )
        outcome = DeployOutcome(
            release=key,
            server=name,
            run_release=key,
            state=DeployState.SETTLED,
            verdict=verdict,
            summary=summary,
            finished_at=at + MINUTE,
        )
        with self.store.write() as tx:
            tx.announce(delivery, release, [request], debounce=timedelta(0))
            tx.end_deploy(outcome, at + MINUTE)
            tx.request_done(request)


VERIFIED = Result(check="", state=State.VERIFIED)


def leaf(name: str, not_after: datetime) -> Certificate:
    return Certificate(
        not_before=not_after - 90 * DAY,
        not_after=not_after,
        issuer="CN=R13,O=Let's Encrypt,C=US",
        subject_alt_names=(f"{name}.example.com",),
        version="TLSv1.3",
        chain_length=2,
        leaf_sha256=f"{uuid.uuid5(uuid.NAMESPACE_DNS, name + not_after.isoformat()).hex}{'0' * 32}",
        serial="04a1",
    )


def bad(code: str, message: str, *, severity: Severity = Severity.WILL_BREAK, **what: Any) -> Result:
    """A result with one finding for each subject."""
    subjects = what.pop("subjects", ("POST",))
    findings = tuple(
        Finding(
            severity=severity,
            code=code,
            subject=subject,
            message=message,
            expected=what.get("expected", ""),
            measured=what.get("measured", ""),
            era=Era.MODERN,
            clients=what.get("clients", ()),
        )
        for subject in subjects
    )
    return Result(check="", state=severity.state, code=code, findings=findings)


def unseen(code: str, reason: str, cause: str | None = None) -> Result:
    return Result(check="", state=State.NOT_CHECKED, code=code, reason=reason, cause=cause)


ROOT = "transport/endpoint"
NO_TOOL = unseen("not-configured", "no tool call is configured")
TYPE = bad(
    "wrong-type",
    "The reply is declared as text/html, which no MCP client reads.",
    expected="application/json or text/event-stream",
    measured="text/html; charset=utf-8",
    clients=("Claude.ai", "ChatGPT", "Claude Code"),
)
LONG = bad(
    "too-long",
    "The description is longer than some clients keep.",
    severity=Severity.HEADS_UP,
    subjects=("create_payment", "refund"),
    expected="at most 1024 characters",
    measured="1,311 characters",
    clients=("Claude.ai", "ChatGPT"),
)
DOWN = bad("refused", "The connection was refused.", measured="connection refused", expected="an answer")
DRIFT = bad(
    "drift",
    "The tool list differs from the accepted one.",
    severity=Severity.HEADS_UP,
    subjects=("modern",),
)
TRANSCRIPT = {
    "exchanges": [
        {
            "label": "discover",
            "http_method": "POST",
            "url": "https://payments.example.com/mcp",
            "rpc_method": "server/discover",
            "request_headers": [["authorization", "Bearer <token>"], ["accept", "application/json"]],
            "status": 200,
            "headers": [["content-type", "text/html; charset=utf-8"]],
            "excerpt": '{"jsonrpc": "2.0",\n "id": 1, "result": {}}',
            "size": 4096,
            "fault": None,
            "remarks": [{"code": "no-content-type", "message": "Something odd."}],
            "address": "198.51.100.7:443",
            "first_byte_s": 0.031,
            "duration_s": 0.033,
        }
    ],
    "left_out": 2,
}


def build(store: Store) -> Scene:
    """Seven servers: drifted, down, at risk, closed, fine, silenced, and one that was never probed."""
    scene = Scene(store)
    scene.add(
        {
            "payments": ("prod", "eu"),
            "legacy-crm": ("prod",),
            "search": ("prod", "eu"),
            "partner-api": ("staging",),
            "catalogue": ("prod", "us"),
            "invoices": ("prod", "eu"),
            "onboarding": ("staging",),
        },
        NOW - 40 * DAY,
    )
    quiet = dict.fromkeys(("errors/tool-arguments", "timeouts/slow-tool", "logs/credentials"), NO_TOOL)
    long = {**quiet, "tool/description-too-long": LONG}
    for place, name in enumerate(("payments", "search", "catalogue", "invoices", "legacy-crm")):
        scene.probe(name, NOW - 39 * DAY + place * MINUTE, quiet)
    origin = {**quiet, "transport/origin": bad("accepted", "A foreign website is answered like any other.")}
    scene.probe("payments", NOW - 12 * DAY, origin)
    scene.probe("payments", NOW - 11 * DAY, quiet)
    scene.deploy("payments", "v41", NOW - 5 * DAY, commit="3f9d0c1b7a5e", actor="octavia")
    scene.probe("payments", NOW - 5 * DAY + MINUTE, long)
    did = DeployVerdict.BREAKING, "1 tool renamed, 1 parameter dropped, 1 tool added"
    words: dict[str, Any] = {"commit": "9c1e77ab04d2", "actor": "octavia", "previous_ref": "v41"}
    scene.deploy("payments", "v42", NOW - 3 * HOUR, *did, **words)
    last = {**long, "transport/content-type": TYPE, "release/fingerprint": DRIFT}
    ends = leaf("payments", NOW + 9 * DAY)
    after = NOW - 3 * HOUR + MINUTE
    scene.probe("payments", after, last, tools=DRIFTED, trigger=Trigger.DEPLOY, certificate=ends)
    scene.probe("payments", NOW - 4 * MINUTE, last, tools=DRIFTED, certificate=ends, transcript=TRANSCRIPT)
    scene.deploy("search", "2026.48", NOW - 2 * DAY)
    scene.probe("search", NOW - 2 * DAY + MINUTE, long)
    scene.probe("search", NOW - 7 * MINUTE, long)
    for minutes in (50, 6):
        scene.probe("legacy-crm", NOW - minutes * MINUTE, {**blocked("refused"), ROOT: DOWN})
    closed = blocked("auth", seen=("tls", "transport", "network"))
    scene.probe("partner-api", NOW - 2 * MINUTE, {**closed, ROOT: unseen("auth", "it asks for credentials")})
    scene.probe("catalogue", NOW - 3 * MINUTE, quiet)
    scene.probe("invoices", NOW - 9 * MINUTE, long)
    reason = "the new texts are known"
    with store.write() as tx:
        actions.silence(tx, servers=["invoices"], lasting=6 * HOUR, reason=reason, by="mara", now=NOW - HOUR)
        actions.ack(tx, "legacy-crm", by="mara", now=NOW - 30 * MINUTE)
    return scene


def blocked(code: str, seen: Sequence[str] = ()) -> dict[str, Result]:
    """What a root check leaves to say for every other one, but for some families."""
    result = unseen(code, "transport/endpoint explains it", ROOT)
    others = (each for each in checks.catalogue if each.id != ROOT and each.family not in seen)
    return {each.id: result for each in others}
