"""The other lists of a toolset, where they are watched."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    with op.batch_alter_table("toolset", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.add_column(
            sa.Column("further_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True)
        )
        batch.create_foreign_key(op.f("fk_toolset_further_id_body"), "body", ["further_id"], ["id"])
