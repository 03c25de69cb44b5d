"""A report for machines (the JSON contract) and for people (the terminal)."""

from driftwatch.report.contract import SCHEMA, to_json
from driftwatch.report.terminal import plain, to_text

__all__ = ["SCHEMA", "plain", "to_json", "to_text"]
