"""One observation: probe -> judging -> transitions -> one transaction.

Interval, webhook and command line all come through here; nobody repeats the sequence.
"""

from driftwatch.observe.observer import CONFIRMED, Observer
from driftwatch.observe.remembering import remembered
from driftwatch.observe.watched import Watched, checks_policy

__all__ = ["CONFIRMED", "Observer", "Watched", "checks_policy", "remembered"]
