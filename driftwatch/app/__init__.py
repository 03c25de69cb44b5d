"""The composition root: builds everything from the configuration, starts it, and stops it cleanly."""

from driftwatch.app.outside import Outside, open_store
from driftwatch.app.service import Service
from driftwatch.app.trial import Tested, notify_test
from driftwatch.app.wiring import Wiring, rollouts, server_record, watched

__all__ = [
    "Outside",
    "Service",
    "Tested",
    "Wiring",
    "notify_test",
    "open_store",
    "rollouts",
    "server_record",
    "watched",
]
