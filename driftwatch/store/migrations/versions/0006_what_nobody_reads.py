"""What nobody reads is gone: signs of life, pauses of channels, receipts of webhook calls."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.drop_table("instance")
    with op.batch_alter_table("channel") as batch_op:
        batch_op.drop_column("paused_until")
    with op.batch_alter_table("hook_delivery") as batch_op:
        batch_op.drop_column("receipt")
