"""What is held back is found quickly; messages are never merged: a channel has one on its way."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

HELD = "suppressed_by IS NOT NULL AND dropped_at IS NULL"


def upgrade() -> None:
    op.create_index(
        "ix_event_delivery_held",
        "event_delivery",
        ["event_id"],
        sqlite_where=sa.text(HELD),
        postgresql_where=sa.text(HELD),
    )
    name = op.f("ck_message_messagestatus")
    with op.batch_alter_table("message") as batch_op:
        batch_op.drop_constraint(name, type_="check")
        batch_op.create_check_constraint(name, "status IN ('pending', 'sending', 'sent', 'dead', 'dropped')")
        batch_op.drop_column("merged_into")
