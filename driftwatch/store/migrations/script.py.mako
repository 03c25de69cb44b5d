<%!
def own(upgrades):
    """The statements without Alembic's remarks around them."""
    lines = [line for line in upgrades.splitlines() if not line.lstrip().startswith("# ###")]
    return "\n".join(lines).strip()
%>\
"""${message[:1].upper()}${message[1:]}."""

import sqlalchemy as sa
from alembic import op

from driftwatch.store import columns
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    ${own(upgrades or "") or "pass"}
