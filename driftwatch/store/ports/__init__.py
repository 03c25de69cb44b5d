"""The interface of the store: domain types in, domain types out; rows and sessions never leave.

One write transaction is a ``Tx``, one consistent read a ``Reader``. SQLite serves both today; nothing here
knows it.
"""

from driftwatch.store.ports.deploys import DeployRun, HookDelivery
from driftwatch.store.ports.messages import (
    Backlog,
    ClaimedMessage,
    Delivery,
    DeliveryOutcome,
    DeliveryPlan,
    FrozenMessage,
    HeldDelivery,
    MessageRecord,
    MessageStatus,
    PendingDelivery,
    Settlement,
)
from driftwatch.store.ports.reader import Reader
from driftwatch.store.ports.runs import (
    RunRecord,
    RunSummary,
    SeenCertificate,
    StateInterval,
    StoredToolset,
    Transcript,
)
from driftwatch.store.ports.servers import (
    Glance,
    Imported,
    Schedule,
    ServerOverview,
    ServerRecord,
    ServerStatus,
)
from driftwatch.store.ports.store import Store
from driftwatch.store.ports.tx import Tx
from driftwatch.store.ports.upkeep import Pruned, Retention

__all__ = [
    "Backlog",
    "ClaimedMessage",
    "Delivery",
    "DeliveryOutcome",
    "DeliveryPlan",
    "DeployRun",
    "FrozenMessage",
    "Glance",
    "HeldDelivery",
    "HookDelivery",
    "Imported",
    "MessageRecord",
    "MessageStatus",
    "PendingDelivery",
    "Pruned",
    "Reader",
    "Retention",
    "RunRecord",
    "RunSummary",
    "Schedule",
    "SeenCertificate",
    "ServerOverview",
    "ServerRecord",
    "ServerStatus",
    "Settlement",
    "StateInterval",
    "Store",
    "StoredToolset",
    "Transcript",
    "Tx",
]
