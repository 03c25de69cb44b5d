"""One observation: probe -> checks -> toolset -> transitions -> one transaction.

Interval, webhook and command line all come through here; nobody repeats the sequence. ``judge`` is its pure
half and serves ``driftwatch probe`` and ``driftwatch judge`` too.
"""

from driftwatch.observe.judging import Judged, judge, read_toolsets, remembered
from driftwatch.observe.observer import CONFIRMED, Observer
from driftwatch.observe.watched import Prober, Watched, checks_policy, prober

__all__ = [
    "CONFIRMED",
    "Judged",
    "Observer",
    "Prober",
    "Watched",
    "checks_policy",
    "judge",
    "prober",
    "read_toolsets",
    "remembered",
]
