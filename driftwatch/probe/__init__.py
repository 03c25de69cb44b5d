"""The only sockets to servers: one probe, bounded in every way, returned as Evidence.

From the ground up: ``wire`` (one bounded exchange), ``conversation`` (what is said in each era, with
patience, redirects and sessions), ``credentials`` (where the token of an unattended probe comes from),
``steps`` (what a light and a full probe ask, and in which order). ``probing`` goes from the first address
to the last DELETE for one ``target``; ``canary`` asks whether anything can be reached from here.
"""

from driftwatch.probe.conversation.dialogue import Pause
from driftwatch.probe.probing import Prober, probe, prober
from driftwatch.probe.target import Target, ToolCall
from driftwatch.probe.wire.connect import Resolver, SystemResolver
from driftwatch.probe.wire.credential import Credential
from driftwatch.probe.wire.request import Limits
from driftwatch.probe.wire.tls import TrustStore, file_fault

__all__ = [
    "Credential",
    "Limits",
    "Pause",
    "Prober",
    "Resolver",
    "SystemResolver",
    "Target",
    "ToolCall",
    "TrustStore",
    "file_fault",
    "probe",
    "prober",
]
