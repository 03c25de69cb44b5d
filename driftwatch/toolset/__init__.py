"""A tool list in canonical form: its digests, and its differences in words.

``fingerprint`` and ``tool_digests`` say whether anything changed, ``diff`` says what; ``text`` screens what a
model reads.
"""

from driftwatch.toolset.canonical import ALGORITHM
from driftwatch.toolset.change import Change, Diff
from driftwatch.toolset.diff import diff
from driftwatch.toolset.digests import fingerprint, tool_digests
from driftwatch.toolset.record import ToolsetRecord
from driftwatch.toolset.tools import Toolset

__all__ = ["ALGORITHM", "Change", "Diff", "Toolset", "ToolsetRecord", "diff", "fingerprint", "tool_digests"]
