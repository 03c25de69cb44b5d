"""What a report changes: (remembered states, new report) -> Changes. Pure; clock and ids are passed in.

Subjects are ``check:<id>``, ``toolset:<era>:<credential>`` and ``eras``; their values are short strings that are
compared for equality: ``verified``, ``failed:dns``, ``observed_risk:expiring``, ``not_checked:auth``, a
fingerprint's pair for a toolset, ``modern+legacy`` for the eras that a server speaks.

Shapes of ``Event.details`` per kind:

* ``change``, ``recovery``, ``coverage_lost``, ``coverage_back``: ``{"result": <result JSON>, "previous":
  <result JSON or null>, "blocked": [check ids], "blip": bool}``
* ``toolset_changed``, ``toolset_returned``: ``{"diff": <diff JSON>, "era": str, "credential": str,
  "fingerprint": pair, "previous_fingerprint": pair, "accepted": bool, "seen_before": iso or null}``
* ``added_with_problems``: ``{"results": [<result JSON>]}``
* ``baseline``: ``{"states": {state: count}, "fingerprints": {subject: pair}}``
"""

from driftwatch.transitions.changes import Changes, ConfirmProbe, Interval, ToolsetObservation
from driftwatch.transitions.memory import Incident, Memory, Policy, SubjectState

__all__ = [
    "Changes",
    "ConfirmProbe",
    "Incident",
    "Interval",
    "Memory",
    "Policy",
    "SubjectState",
    "ToolsetObservation",
]
