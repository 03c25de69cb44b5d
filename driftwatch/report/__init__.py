"""A report in every form: for machines (JSON, JUnit, SARIF) and people (terminal, Markdown), and compared."""

from driftwatch.report.baseline import Baseline, Comparison, compare
from driftwatch.report.contract import SCHEMA, VERSION, to_json
from driftwatch.report.gate import ENDPOINT, counting, exit_code
from driftwatch.report.junit import to_junit
from driftwatch.report.markdown import to_markdown
from driftwatch.report.sarif import Place, to_sarif
from driftwatch.report.terminal import plain, to_text, unjudged
from driftwatch.report.transcript import transcript

__all__ = [
    "ENDPOINT",
    "SCHEMA",
    "VERSION",
    "Baseline",
    "Comparison",
    "Place",
    "compare",
    "counting",
    "exit_code",
    "plain",
    "to_json",
    "to_junit",
    "to_markdown",
    "to_sarif",
    "to_text",
    "transcript",
    "unjudged",
]
