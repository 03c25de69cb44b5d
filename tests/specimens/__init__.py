"""Small programmable MCP servers, each with one deviation, and what driftwatch must say about it."""

from tests.specimens.authorization import AUTHORIZATION, ECHOES
from tests.specimens.besides import BESIDES
from tests.specimens.certified import CERTIFIED
from tests.specimens.content_types import CONTENT_TYPES
from tests.specimens.doors import DOORS
from tests.specimens.firewalls import FIREWALLS
from tests.specimens.framing import FRAMING
from tests.specimens.healthy import HEALTHY
from tests.specimens.hostile import HOSTILE
from tests.specimens.lists import LISTS
from tests.specimens.messages import MESSAGES, STREAMS
from tests.specimens.protocol import PROTOCOL
from tests.specimens.redirects import REDIRECTS
from tests.specimens.refusals import REFUSALS
from tests.specimens.shapes import SHAPES
from tests.specimens.specimen import Specimen
from tests.specimens.tools import TOOL_FAULTS
from tests.specimens.transport import TRANSPORT

__all__ = ["SPECIMENS", "Specimen"]

SPECIMENS: tuple[Specimen, ...] = (
    *HEALTHY,
    *CONTENT_TYPES,
    *DOORS,
    *REDIRECTS,
    *AUTHORIZATION,
    *ECHOES,
    *PROTOCOL,
    *LISTS,
    *STREAMS,
    *MESSAGES,
    *FRAMING,
    *TOOL_FAULTS,
    *SHAPES,
    *TRANSPORT,
    *REFUSALS,
    *FIREWALLS,
    *BESIDES,
    *CERTIFIED,
    *HOSTILE,
)
"""Every specimen, by name unique."""
