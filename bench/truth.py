"""What driftwatch sees of real servers, beside a table of what they are known to be.

    python bench/truth.py --truth FILE [--token ID=TOKEN]... [--repeat N] [ID...]

The servers must be running. The truth file maps an id to its ``url``, what an independent client saw under
``modern``, ``legacy`` or ``legacy_sse`` (``speaks``, ``read_at``, ``tools``, ``pages``, ``fingerprint``: the
checklist's digest; and what it got for each deliberate request: ``"404 application/json error -32601"``) and
``expected_rules`` (check id to the number of distinct tools it must name, or
``{"at_least": n, "at_most": n}``).
Exit code 1 when anything differs.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from driftwatch.checks import Policy
from driftwatch.evidence import Evidence, Exchange, Surface
from driftwatch.judging import judge
from driftwatch.model import Depth, Era, Report, SurfaceSummary, Trigger
from driftwatch.probe import Credential, SystemResolver, Target, TrustStore, probe

Json = Any
TRUST = TrustStore()
NOTHING = "-"


async def look(name: str, url: str, token: str | None) -> Evidence:
    credential = None if token is None else Credential.bearer("token", token)
    return await probe(
        Target(name=name, url=url, credential=credential),
        depth=Depth.FULL,
        trigger=Trigger.MANUAL,
        trust=TRUST,
        resolver=SystemResolver(),
        now=lambda: datetime.now(UTC),
    )


ANSWERS = {
    "accept_json_only": "json_only",
    "foreign_origin": "foreign_origin",
    "unknown_method": "unknown_method",
    "invalid_cursor": "invalid_cursor",
    "header_mismatch": "header_mismatch",
    "unsupported_version": "unsupported_version",
    "delete": "session_ended",
    "after_delete": "session_after_end",
}
"""What the truth file calls the answer to a request, and the part of a surface that it is."""


def answer_differences(truth: Json, surface: Surface) -> Iterator[str]:
    """Every deliberate request that was asked of both, and answered differently."""
    for key, part in ANSWERS.items():
        exchange, told = getattr(surface, part), truth.get(key)
        if isinstance(exchange, Exchange) and told is not None and described(exchange) != shape(told):
            yield f"{surface.era} {key}: {described(exchange)} instead of {shape(told)}"
    told = truth.get("get_in_session" if truth.get("session_header") else "get_plain")
    # A plain GET that got 406 named no event stream; driftwatch's does.
    if isinstance(surface.get, Exchange) and told is not None and not told.startswith("406"):
        status, kind = surface.get.status, surface.get.media_type or NOTHING
        if (str(status), kind) != tuple(told.split()[:2]):
            yield f"{surface.era} get: {status} {kind} instead of {told}"


def described(exchange: Exchange) -> str:
    """An answer as the truth file describes it."""
    error = exchange.error
    if isinstance(error, dict):
        what = f"error {error.get('code')}"
    elif isinstance(exchange.result, dict):
        what = "result"
    else:
        what = "other" if exchange.size else "empty"
    return f"{exchange.status} {exchange.media_type or NOTHING} {what}"


def shape(told: str) -> str:
    """The truth file's description without an excerpt of the body."""
    status, media_type, what, *more = told.split()
    return f"{status} {media_type} {what}" + (f" {more[0]}" if what == "error" else "")


def known(truth: Json) -> dict[Era, dict[str, Json]]:
    """The surfaces that the truth file tells of, by era."""
    found: dict[Era, dict[str, Json]] = {}
    modern, legacy, sse = (truth.get(key) or {} for key in ("modern", "legacy", "legacy_sse"))
    if modern.get("speaks"):
        found[Era.MODERN] = {"revision": "2026-07-28", **modern}
    if legacy.get("tools") is not None:
        found[Era.LEGACY] = {"revision": legacy["read_at"], **legacy}
    if sse:
        found[Era.HTTP_SSE] = {"revision": next(iter(sse["negotiated"].values())), **sse}
    return found


def seen(summary: SurfaceSummary) -> dict[str, Json]:
    digests = summary.fingerprint
    return {
        "revision": summary.revision,
        "tools": summary.tools,
        "pages": summary.pages,
        "fingerprint": None if digests is None else digests.checklist,
    }


def differences(truth: Json, report: Report) -> Iterator[str]:
    expected = known(truth)
    measured = {summary.era: seen(summary) for summary in report.surfaces}
    for era in sorted(expected.keys() ^ measured.keys()):
        yield f"{era}: {'missing' if era in expected else 'not known to the truth file'}"
    for era in sorted(expected.keys() & measured.keys()):
        for key, value in measured[era].items():
            if value != expected[era].get(key):
                yield f"{era} {key}: {value} instead of {expected[era].get(key)}"
    yield from rule_differences(truth.get("expected_rules", {}), report)


def rule_differences(expected: Mapping[str, Json], report: Report) -> Iterator[str]:
    for check, number in expected.items():
        subjects = {finding.subject for finding in report.result(check).findings}
        low, high = bounds(number)
        if not low <= len(subjects) <= high:
            yield f"{check}: {len(subjects)} tools instead of {number}"


def bounds(number: Json) -> tuple[int, int]:
    if isinstance(number, int):
        return number, number
    return number["at_least"], number["at_most"]


def row(name: str, report: Report, faults: list[str]) -> str:
    cells = [name]
    by_era = {summary.era: summary for summary in report.surfaces}
    for era in Era:
        summary = by_era.get(era)
        cells.append(
            NOTHING if summary is None else f"{summary.revision} {summary.tools} tools/{summary.pages} pages"
        )
    digest = next((item.fingerprint for item in report.surfaces if item.fingerprint), None)
    cells.append((digest.checklist or "not comparable")[:12] if digest else NOTHING)
    cells += [str(report.requests), f"{report.duration_s * 1000:.0f} ms", "; ".join(faults) or "equal"]
    return "| " + " | ".join(cells) + " |"


async def compare(truths: Mapping[str, Json], tokens: Mapping[str, str], repeat: int) -> int:
    print("| server | modern | legacy | http+sse | checklist digest | requests | took | against the truth |")
    print("|---|---|---|---|---|---|---|---|")
    unequal = 0
    for name, truth in truths.items():
        for _ in range(repeat):
            evidence = await look(name, truth["url"], tokens.get(name))
            report = judge(evidence, Policy()).report
            faults = list(differences(truth, report))
            for surface in evidence.surfaces:
                faults += answer_differences(known(truth).get(surface.era, {}), surface)
            unequal += bool(faults)
        print(row(name, report, faults), flush=True)
    print(f"\n{len(truths)} servers, {unequal} probes that differ")
    return 1 if unequal else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument("--token", action="append", default=[], metavar="ID=TOKEN")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("ids", nargs="*")
    options = parser.parse_args()
    truths = json.loads(options.truth.read_text(encoding="utf-8"))
    chosen = {name: truths[name] for name in options.ids or truths}
    tokens = dict(token.split("=", 1) for token in options.token)
    return asyncio.run(compare(chosen, tokens, options.repeat))


if __name__ == "__main__":
    sys.exit(main())
