"""What driftwatch sees of real servers, beside a table of what they are known to be.

    python bench/truth.py --truth FILE [--token ID=TOKEN]... [--repeat N] [ID...]

The servers must be running. The truth file maps an id to its ``url``, what an independent client saw under
``modern``, ``legacy`` or ``legacy_sse`` (``speaks``, ``read_at``, ``tools``, ``pages``, ``fingerprint``: the
checklist's digest) and ``expected_rules`` (check id to the number of distinct tools it must name, or
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
from driftwatch.model import Depth, Era, Report, SurfaceSummary, Trigger
from driftwatch.observe import Judged, judge
from driftwatch.probe import Credential, SystemResolver, Target, TrustStore, probe

Json = Any
TRUST = TrustStore()
NOTHING = "-"


async def visit(name: str, url: str, token: str | None) -> Judged:
    credential = None if token is None else Credential.bearer("token", token)
    evidence = await probe(
        Target(name=name, url=url, credential=credential),
        depth=Depth.LIGHT,
        trigger=Trigger.MANUAL,
        trust=TRUST,
        resolver=SystemResolver(),
        now=lambda: datetime.now(UTC),
    )
    return judge(evidence, Policy())


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
            judged = await visit(name, truth["url"], tokens.get(name))
            faults = list(differences(truth, judged.report))
            unequal += bool(faults)
        print(row(name, judged.report, faults), flush=True)
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
