"""What a report changes: (remembered states, new report) -> Changes. Pure; clock and ids are passed in.

Subjects are ``check:<id>``, ``toolset:<era>:<credential>``, ``eras`` and ``revision:<era>``; their values are
short strings that are compared for equality: ``verified``, ``failed:dns``, ``observed_risk:expiring``,
``not_checked:auth``, a fingerprint's pair for a toolset, ``modern+legacy`` for the eras in which a server
speaks, ``2025-11-25`` for the revision that an era settles on, ``2025-11-25+2026-07-28`` for those on offer.

Shapes of ``Event.details`` per kind; a result is as ``model.Result``, field by field, and ``incident`` is the
id of the incident that the event opens, carries on or closes, or null:

* ``change``, ``recovery``, ``coverage_lost``, ``coverage_back``: ``{"result": <result>, "previous": <result>
  or null, "blocked": [check ids], "shown": [<result>], "blip": false, "incident"}``. ``blocked`` lists what
  the check blocks, and when it is over what it had blocked: the same, and what only a full probe in between
  found blocked; ``shown`` what can be seen only because of it, such as how a shut door refuses, or could
  until now. Recovery and coverage_back also have ``duration_s``
* ``toolset_changed``, ``toolset_returned``: ``{"diff": <diff JSON> or null, "era", "credential",
  "fingerprint": pair, "previous_fingerprint": pair, "accepted": bool, "seen_before": iso or null,
  "incident"}``
* ``era_changed``: ``{"appeared": [eras], "vanished": [eras], "surfaces": [{"era", "revision", "tools"}],
  "incident": null, "applicable": [check ids], "inapplicable": [check ids]}``: the last two name the checks
  whose rules began or ceased to apply with it, and whose own events do not alert
* ``revision_changed``: ``{"era", "before": [revisions], "after": [revisions], "loses": whether clients may
  not get in any more, "accepted": bool, "baseline": [accepted revisions], "duration_s": float or null,
  "incident"}``, with ``applicable`` and ``inapplicable`` like ``era_changed`` where that does not come with
  it; ``duration_s`` says how long an incident lasted that it ends
* ``flapping``: the details of the change that it stands for, and ``{"change": its kind, "changes": int,
  "values": {value: times confirmed}, "window_s": float, "settle": int}``
* ``unsettled``: ``{"values": {value: times turned to}, "departures": int, "settle": int, "incident"}``
* ``settled``: ``{"values": {value: times}, "muted": changes not told, "incident"}``; a check's also has its
  ``result``, and that of a toolset which is not the accepted one what ``toolset_changed`` has, compared with
  the accepted one
* any change while flapping is stored with ``alerts`` false and ``"flapping": true``
* ``blip``: ``{"blip": true, "sightings": int}``
* ``added_with_problems``: ``{"results": [<result>], "blocked": [check ids]}``
* ``baseline``: ``{"states": {state: count}, "fingerprints": {subject: pair}}``
* ``rebased``: ``{"moved": [{"subject", "before", "after"}], "added": [subjects], "removed": [subjects]}``
* ``accepted``: ``{"by": str, "reason": str}``
* ``acked``: ``{"by": str, "incident": id}``
* ``reminder``: ``{"incidents": [{"id", "subject", "value", "since": iso, "blocked": how many checks it
  hides}], "acked": [the same with "by"], "stale": [{"subject", "since": iso, "by": root check or null}]}``
* ``silenced``, ``unsilenced``: ``{"by": str, "silence": id, "servers", "tags", "checks": [names], "ends_at",
  "reason": str}``
* ``monitor_gap``: ``{"gap_s": float, "from": iso, "until": iso}``; what was first seen at its end has
  the same ``gap_s`` in its own event
* ``tls_reminder``: ``{"threshold_days": days, 0 once it has ended, "superseded": [days], "not_after",
  "not_before", "leaf_sha256", "issuer", "subject_alt_names", "newer_not_after": iso or null}``; the last is
  the end of a newer certificate that the server shows in turn with this one
* ``tls_renewed``: ``{"not_after", "previous_not_after", "leaf_sha256", "previous_leaf_sha256", "issuer",
  "previous_issuer", "names_added": [names], "names_lost": [names]}``; after a reminder it comes when only the
  new certificate was shown for a while
* ``config_reloaded``: ``{"added", "removed", "changed": [servers], "renamed": [[before, now]], "restart":
  [keys that count after a restart]}``
* ``config_rejected``: ``{"problems": [sentences]}``
"""

from driftwatch.transitions.certificates import shown_since
from driftwatch.transitions.changes import Changes, ConfirmProbe, Interval, ToolsetObservation
from driftwatch.transitions.decide import apply, decide
from driftwatch.transitions.memory import Incident, Memory, Policy, SubjectState, TlsNotice
from driftwatch.transitions.personal import accept, ack
from driftwatch.transitions.standing import Standing, standing
from driftwatch.transitions.subjects import ERAS, check_subject, toolset_subject
from driftwatch.transitions.values import names_pair, value_of

__all__ = [
    "ERAS",
    "Changes",
    "ConfirmProbe",
    "Incident",
    "Interval",
    "Memory",
    "Policy",
    "Standing",
    "SubjectState",
    "TlsNotice",
    "ToolsetObservation",
    "accept",
    "ack",
    "apply",
    "check_subject",
    "decide",
    "names_pair",
    "shown_since",
    "standing",
    "toolset_subject",
    "value_of",
]
