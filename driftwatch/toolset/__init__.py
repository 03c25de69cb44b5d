"""A tool list in canonical form: its digests, and its differences in words.

``fingerprint`` and ``tool_digests`` say whether anything changed, ``diff`` says what; ``text`` screens what a
model reads.
"""

from driftwatch.toolset.canonical import ALGORITHM
from driftwatch.toolset.change import Change, Diff
from driftwatch.toolset.diff import NOTHING, diff, names_only_in
from driftwatch.toolset.digests import fingerprint, tool_digests
from driftwatch.toolset.further import further_name
from driftwatch.toolset.record import ToolsetRecord
from driftwatch.toolset.settled import differs_only_in_marks, settled
from driftwatch.toolset.tools import Toolset

__all__ = [
    "ALGORITHM",
    "NOTHING",
    "Change",
    "Diff",
    "Toolset",
    "ToolsetRecord",
    "diff",
    "differs_only_in_marks",
    "fingerprint",
    "further_name",
    "names_only_in",
    "settled",
    "tool_digests",
]
