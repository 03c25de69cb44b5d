"""Everything one probe saw, frozen, without secrets, with a JSON form.

A part that was not seen is ``Missing`` and says why; a check that names the part is then
``not_checked`` for that very reason. Whole-probe parts are the fields of Evidence, parts that exist
once per era are the fields of Surface.
"""

from driftwatch.evidence.access_gate import access_gate, asks_for_password
from driftwatch.evidence.beside import (
    NOT_ASKED,
    Addresses,
    AddressFault,
    Authorization,
    Burst,
    Challenge,
    Greeting,
    Instance,
    LogFile,
    LogSearch,
    Metadata,
    Replicas,
    SlowCall,
    Tls,
    bearer,
)
from driftwatch.evidence.bot_page import (
    is_bot_page,
)
from driftwatch.evidence.codec import (
    SCHEMA,
    from_json,
    to_json,
)
from driftwatch.evidence.exchange import (
    CREDENTIAL_ECHO,
    NEEDS_FULL,
    NO_AUTHORIZATION,
    OTHER_ECHO,
    OTHER_MARKS,
    URL_ECHO,
    URL_MARK,
    Exchange,
    Fault,
    Missing,
    Opening,
    Outcome,
    Remark,
)
from driftwatch.evidence.probe import (
    Evidence,
)
from driftwatch.evidence.surface import (
    FurtherList,
    Listing,
    Streaming,
    Surface,
)

__all__ = [
    "ANONYMOUS",
    "CREDENTIAL_ECHO",
    "NEEDS_FULL",
    "NOT_ASKED",
    "NO_AUTHORIZATION",
    "OTHER_ECHO",
    "OTHER_MARKS",
    "SCHEMA",
    "URL_ECHO",
    "URL_MARK",
    "AddressFault",
    "Addresses",
    "Authorization",
    "Burst",
    "Challenge",
    "Evidence",
    "Exchange",
    "Fault",
    "FurtherList",
    "Greeting",
    "Instance",
    "Listing",
    "LogFile",
    "LogSearch",
    "Metadata",
    "Missing",
    "Opening",
    "Outcome",
    "Remark",
    "Replicas",
    "SlowCall",
    "Streaming",
    "Surface",
    "Tls",
    "access_gate",
    "asks_for_password",
    "bearer",
    "from_json",
    "is_bot_page",
    "to_json",
]

ANONYMOUS = "anonymous"
"""The credential label of a probe that carried none."""
