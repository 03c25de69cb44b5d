"""The only sockets to servers: one probe, bounded in every way, returned as Evidence.

From the ground up: ``wire`` (one bounded exchange, on ``connect``, ``tls``, ``certificates``, ``sse``,
``message``), ``dialogue`` (patience, redirects and sessions of one probe), ``modern``, ``legacy`` and
``http_sse`` (what is said in each era), ``full`` (what only a full probe asks of one era), ``auth`` (what
becomes of a request without a token), ``steps`` (the order of it all), ``probing`` (from the first address to
the last DELETE).
``source`` and ``oauth`` get the credential of an unattended probe; ``metadata`` finds where tokens come from.
``eras``, ``outcome`` and ``challenge`` are pure: what an answer says about the era, the probe and the way in.
"""

from driftwatch.probe.connect import Resolver, SystemResolver
from driftwatch.probe.credential import Credential
from driftwatch.probe.dialogue import Pause
from driftwatch.probe.probing import Prober, probe, prober
from driftwatch.probe.request import Limits
from driftwatch.probe.target import Target, ToolCall
from driftwatch.probe.tls import TrustStore

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
    "probe",
    "prober",
]
