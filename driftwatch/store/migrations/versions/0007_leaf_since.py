"""Since when a server has shown its certificate and no other."""

import sqlalchemy as sa
from alembic import op

from driftwatch.store import columns

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("server", sa.Column("leaf_since", columns.Moment(), nullable=True))
