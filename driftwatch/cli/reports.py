"""What ``probe`` and ``judge`` share: the forms of a report, and what it is compared with."""

import contextlib
import json
import os
import secrets
import shutil
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from driftwatch import checks, evidence, report
from driftwatch.checks import Policy, Remembered
from driftwatch.cli.options import colourful, file_trouble, print_json
from driftwatch.errors import EvidenceError, UsageError
from driftwatch.evidence import Evidence, Missing
from driftwatch.fail_on import FailOn
from driftwatch.judging import Judged, judge
from driftwatch.model import Era, Report
from driftwatch.report import VERSION, Baseline, Comparison, Place
from driftwatch.toolset import Toolset

MAX_SAVED = 256 * 2**20
"""Bytes of a saved probe or report that are read."""

STDOUT = Path("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A judged probe, and what differs from the baseline where one was given."""

    report: Report
    comparison: Comparison | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The forms that were asked for; without any on standard output, a person reads the text there."""

    json: bool
    junit: Path | None
    sarif: Path | None
    markdown: Path | None

    def __post_init__(self) -> None:
        """Raise UsageError where two forms would share standard output."""
        if self.json + [self.junit, self.sarif, self.markdown].count(STDOUT) > 1:
            raise UsageError("only one form of the report can go to standard output: give the others a file")

    @property
    def text(self) -> bool:
        """Whether standard output is for the text."""
        return not self.json and STDOUT not in (self.junit, self.sarif, self.markdown)

    def write(self, judged: Compared, place: Place, fail_on: Collection[FailOn]) -> int:
        """Write every form; the exit code that the report makes."""
        made, comparison = judged.report, judged.comparison
        counted = report.counting(made, fail_on, comparison)
        if self.junit is not None:
            _put(self.junit, report.to_junit(made, counted, comparison), option="--junit")
        if self.sarif is not None:
            log = json.dumps(report.to_sarif(made, place, comparison), indent=2)
            _put(self.sarif, f"{log}\n", option="--sarif")
        if self.markdown is not None:
            _put(self.markdown, report.to_markdown(made, counted, comparison), option="--markdown")
        if self.json:
            print_json(report.to_json(made, comparison.to_json() if comparison else None))
        elif self.text:
            width = shutil.get_terminal_size((100, 24)).columns
            differences = [*comparison.lines()] if comparison else None
            typer.echo(report.to_text(made, differences, colour=colourful(), width=width))
        code = report.exit_code(made, counted)
        if code == 0:
            _warn_of_nothing(made)
        return code


def judged_against(
    seen: Evidence,
    policy: Policy,
    known: Mapping[Era, Remembered | Missing],
    baseline: Baseline | None,
) -> Compared:
    """Judge a probe and compare it.

    ``known`` is what a service remembers of the server; a baseline stands in its place.
    """
    judged = judge(seen, policy, baseline.remembered() if baseline else known)
    comparison = report.compare(baseline, judged.report, _toolsets(judged)) if baseline else None
    return Compared(report=judged.report, comparison=comparison)


def read_baseline(path: Path | None) -> Baseline | None:
    """The baseline in a file: a saved probe, which is judged as today, or a JSON report.

    Raises UsageError or EvidenceError where it is neither.
    """
    if path is None:
        return None
    document = read_json(path)
    if isinstance(document, dict) and document.get("schema") == VERSION:
        return Baseline.read(document)
    judged = judge(evidence.from_json(document), checks.Policy())
    return Baseline.of(judged.report, _toolsets(judged))


def in_configuration(path: Path, line: int | None) -> Place:
    """A server's entry in the configuration, relative to the working folder where it is below it."""
    whole = path.absolute()
    below = whole.is_relative_to(Path.cwd())
    return Place(uri=whole.relative_to(Path.cwd()).as_posix() if below else whole.as_uri(), line=line)


def at_url(seen: Evidence) -> Place:
    """The server's own URL, for one that is in no file."""
    return Place(uri=seen.url)


def read_json(path: Path) -> Any:
    """A JSON document from a file, or from standard input. Raises UsageError or EvidenceError."""
    try:
        if path == STDOUT:
            text = sys.stdin.buffer.read(MAX_SAVED + 1)
        else:
            with path.open("rb") as source:
                text = source.read(MAX_SAVED + 1)
    except OSError as error:
        raise UsageError(f"{path}: {file_trouble(error)}") from error
    if len(text) > MAX_SAVED:
        raise EvidenceError(f"{path}: larger than {MAX_SAVED // 2**20} MiB: not a saved probe")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"{path}: not JSON, so no probe that --save or --json wrote: {error}") from error


def write_atomically(path: Path, text: str, *, option: str) -> None:
    """Write a file whole or not at all; what is no regular file, such as a pipe, is written directly.

    Raises UsageError, naming the option, when that is not possible.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
            return
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                part.unlink()
    except OSError as error:
        raise UsageError(f"{option} {path}: {file_trouble(error)}") from error


def _put(path: Path, text: str, *, option: str) -> None:
    if path == STDOUT:
        typer.echo(text, nl=False)
    else:
        write_atomically(path, text, option=option)


def _warn_of_nothing(made: Report) -> None:
    """Tell a build that is let through that its server was not looked at, whatever form the report has."""
    nothing = report.unjudged(made)
    if nothing is not None:
        reason = made.result(report.ENDPOINT).reason
        why = f" ({report.plain(reason)})" if reason else ""
        typer.echo(
            f"driftwatch: {report.plain(made.server)}: {nothing}{why}. This exits with 0: no check failed. "
            "With --fail-on not-checked it exits with 1.",
            err=True,
        )


def _toolsets(judged: Judged) -> dict[Era, Toolset]:
    return {
        Era(record.era): Toolset(tools=record.tools, instructions=record.instructions)
        for record in judged.toolsets
    }
