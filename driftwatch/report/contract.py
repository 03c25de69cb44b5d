"""The JSON report: a contract. What a field means and whether it exists never changes within one version."""

from datetime import UTC, datetime
from typing import Any

from driftwatch.model import (
    Certificate,
    Depth,
    Era,
    Fingerprint,
    Json,
    Report,
    Result,
    Severity,
    State,
    SurfaceSummary,
    Trigger,
)

VERSION = "driftwatch/report/1"


def to_json(report: Report, baseline: dict[str, Json] | None = None) -> dict[str, Json]:
    """The report as a JSON object of SCHEMA. Texts of the watched server are in it as they came.

    ``baseline`` is what the comparison with one says of itself.
    """
    certificate = report.certificate
    return {
        "schema": VERSION,
        "driftwatch": report.driftwatch,
        "server": {"name": report.server, "url": report.url},
        "taken_at": instant(report.taken_at),
        "depth": report.depth.value,
        "trigger": report.trigger.value,
        "duration_s": round(report.duration_s, 3),
        "requests": report.requests,
        "reachable": report.reachable,
        "surfaces": [_surface(surface) for surface in report.surfaces],
        "tls": None if certificate is None else _certificate(certificate, report.taken_at),
        "checks": [_check(result) for result in report.results],
        "baseline": baseline,
    }


def _surface(surface: SurfaceSummary) -> dict[str, Json]:
    fingerprint = surface.fingerprint
    return {
        "era": surface.era.value,
        "revision": surface.revision,
        "tools": surface.tools,
        "pages": surface.pages,
        "complete": surface.complete,
        "server_info": surface.server_info if isinstance(surface.server_info, dict) else None,
        "fingerprint": None if fingerprint is None else _fingerprint(fingerprint),
    }


def _fingerprint(fingerprint: Fingerprint) -> dict[str, Json]:
    return {
        "contract": f"{fingerprint.algorithm}:{fingerprint.contract}",
        "surface": f"{fingerprint.algorithm}:{fingerprint.surface}",
        "checklist": fingerprint.checklist,
    }


def _certificate(certificate: Certificate, at: datetime) -> dict[str, Json]:
    return {
        "not_after": instant(certificate.not_after),
        "days_left": certificate.days_left(at),
        "issuer": certificate.issuer,
        "subject_alt_names": list(certificate.subject_alt_names),
        "version": certificate.version,
        "chain_length": certificate.chain_length,
        "leaf_sha256": certificate.leaf_sha256,
    }


def _check(result: Result) -> dict[str, Json]:
    return {
        "id": result.check,
        "state": result.state.value,
        "reason": result.reason,
        "code": result.code,
        "version": result.version,
        "findings": [finding.to_json() for finding in result.findings],
    }


def instant(at: datetime) -> str:
    """A time as reports write it: UTC, with a Z at its end."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _optional_text(description: str) -> dict[str, Any]:
    return {"type": ["string", "null"], "description": description}


def _count(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "description": description}


def _moment(description: str) -> dict[str, Any]:
    return {"type": "string", "format": "date-time", "pattern": "Z$", "description": description}


def _one_of(values: list[str], description: str) -> dict[str, Any]:
    return {"enum": values, "description": description}


def _digest(description: str, prefix: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{prefix}[0-9a-f]{{64}}$", "description": description}


def _object(description: str, **members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "description": description, "required": list(members), "properties": members}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": schema["description"], "anyOf": [schema, {"type": "null"}]}


def _list_of(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": schema}


_FINGERPRINT = _object(
    "The digests of a complete tool list; null for anything less.",
    contract=_digest("Over names and input schemas, in driftwatch's canonical form.", "dw[0-9]+:"),
    surface=_digest("Over everything else that a model reads.", "dw[0-9]+:"),
    checklist={
        "type": ["string", "null"],
        "pattern": "^[0-9a-f]{64}$",
        "description": "What the launch checklist's jq line prints; null where jq versions disagree.",
    },
)

_SURFACE = _object(
    "What the server shows in one era.",
    era=_one_of([era.value for era in Era], "The way of speaking."),
    revision=_text("The negotiated protocol revision, verbatim."),
    tools=_count("Tools that were read."),
    pages=_count("Pages that they came on."),
    complete={
        "type": "boolean",
        "description": "Whether the list was read to the end that the server named.",
    },
    server_info={"type": ["object", "null"], "description": "What the server says about itself."},
    fingerprint=_or_null(_FINGERPRINT),
)

_TLS = _object(
    "The certificate of the probe's own connection; null over plain http or without one.",
    not_after=_moment("The last moment of its validity."),
    days_left={"type": "integer", "description": "Whole days from taken_at until then; negative once over."},
    issuer=_text("Who signed it."),
    subject_alt_names=_list_of({"type": "string"}, "The names and addresses that it covers."),
    version=_optional_text("The TLS version; null when the handshake did not finish."),
    chain_length=_count("Certificates that the server sent."),
    leaf_sha256={"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "Its digest."},
)

_FINDING = _object(
    "One thing that a check holds against the server.",
    severity=_one_of([severity.value for severity in Severity], "How much it hurts."),
    code=_text("Stable: compare this, not the message."),
    era={
        "enum": [*(era.value for era in Era), None],
        "description": "The surface; null for the whole server.",
    },
    subject=_text("What it is about: a tool's name, a header, a method."),
    pointer=_optional_text("A JSON pointer into the subject."),
    message=_text("One sentence."),
    expected=_text("What would have been right."),
    measured=_text("What was seen."),
    clients=_list_of({"type": "string"}, "The clients that it hurts, by name."),
)

_CHECK = _object(
    "The outcome of one check.",
    id=_text("Its id, such as transport/endpoint."),
    state=_one_of([state.value for state in State], "One of four; there is no score."),
    reason=_optional_text("Why it was not checked; otherwise a remark, or null."),
    code=_optional_text("The worst finding's code, or why it was not checked; null for a plain verified."),
    version={"type": "integer", "minimum": 1, "description": "The version of the check itself."},
    findings=_list_of(_FINDING, "Everything that it holds against the server."),
)

_STANDING = _object(
    "How it stood; null where there was no such check.",
    state=_one_of([state.value for state in State], "Its state."),
    code=_optional_text("Its code."),
)

_BASELINE = _object(
    "What differs from the baseline that was given (--baseline); null without one.",
    taken_at=_moment("When the baseline was taken."),
    checks=_list_of(
        _object(
            "A check that does not stand as it did.",
            id=_text("Its id."),
            before=_or_null(_STANDING),
            after=_or_null(_STANDING),
            worse={
                "type": "boolean",
                "description": "Whether the server lost something, judged by the same version of the check.",
            },
        ),
        "Every check that does not stand as it did; release/fingerprint is told by surfaces.",
    ),
    surfaces=_list_of(
        _object(
            "A surface that does not show what it showed.",
            era=_one_of([era.value for era in Era], "The way of speaking."),
            before=_optional_text("The fingerprint then; null without one."),
            after=_optional_text("The fingerprint now; null without one."),
            diff={
                "type": ["object", "null"],
                "description": "The difference, as in driftwatch diff --json; null where the baseline kept "
                "no tool list.",
            },
        ),
        "Every surface whose tool list is another one.",
    ),
)

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": VERSION,
    **_object(
        "One probe of one MCP server, judged.",
        schema={"const": VERSION, "description": "The version of this form."},
        driftwatch=_text("The version of driftwatch that made it."),
        server=_object(
            "The server, as it is configured.",
            name=_text("Its name."),
            url=_text("Its URL, without secrets."),
        ),
        taken_at=_moment("When the probe began."),
        depth=_one_of([depth.value for depth in Depth], "How much the probe asked."),
        trigger=_one_of([trigger.value for trigger in Trigger], "Why it was made."),
        duration_s={"type": "number", "minimum": 0, "description": "How long it took, in seconds."},
        requests=_count("HTTP requests that it sent."),
        reachable={
            "type": "boolean",
            "description": "Whether any HTTP answer came back from the URL over an acceptable connection.",
        },
        surfaces=_list_of(_SURFACE, "One per era that the server speaks; empty when it speaks none."),
        tls=_or_null(_TLS),
        checks=_list_of(_CHECK, "Every check of the catalogue once, in its order."),
        baseline=_or_null(_BASELINE),
    ),
}
"""The contract as JSON Schema (2020-12)."""
