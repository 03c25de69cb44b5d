"""What a release did to each of its servers."""

import sqlalchemy as sa
from alembic import op

from driftwatch.store import columns

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "deploy_outcome",
        sa.Column("release_id", sa.Text(), nullable=False),
        sa.Column(
            "server_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("run_release", sa.Text(), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "waiting",
                "settling",
                "settled",
                "unsettled",
                "inconclusive",
                name="deploystate",
                native_enum=False,
                create_constraint=True,
                length=16,
            ),
            nullable=False,
        ),
        sa.Column("due_at", columns.Moment(), nullable=False),
        sa.Column("progress", columns.JsonText(), nullable=True),
        sa.Column("reads", sa.Integer(), nullable=False),
        sa.Column(
            "verdict",
            sa.Enum(
                "ok",
                "drift",
                "breaking",
                "failed",
                "risk",
                "unsettled",
                "inconclusive",
                name="deployverdict",
                native_enum=False,
                create_constraint=True,
                length=16,
            ),
            nullable=True,
        ),
        sa.Column("counts", columns.JsonText(), nullable=False),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.Column("breaking", sa.Boolean(), nullable=False),
        sa.Column("summary", columns.JsonText(), nullable=False),
        sa.Column(
            "level",
            sa.Enum(
                "info", "warning", "error", name="level", native_enum=False, create_constraint=True, length=16
            ),
            nullable=True,
        ),
        sa.Column("finished_at", columns.Moment(), nullable=True),
        sa.Column("run", sa.Text(), nullable=True),
        sa.Column("events", columns.JsonText(), nullable=False),
        sa.ForeignKeyConstraint(
            ["release_id"],
            ["release.id"],
            name=op.f("fk_deploy_outcome_release_id_release"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_deploy_outcome_server_id_server"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("release_id", "server_id", name=op.f("pk_deploy_outcome")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("deploy_outcome", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_deploy_outcome_run_release"), ["run_release"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_deploy_outcome_server_id_release_id"), ["server_id", "release_id"], unique=False
        )
        batch_op.create_index(
            "ix_deploy_outcome_under_way",
            ["server_id"],
            unique=False,
            sqlite_where=sa.text("state IN ('waiting', 'settling')"),
            postgresql_where=sa.text("state IN ('waiting', 'settling')"),
        )
