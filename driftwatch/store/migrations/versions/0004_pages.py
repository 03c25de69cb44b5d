"""What the pages show: servers summed up, and what was said in their last probes."""

import sqlalchemy as sa
from alembic import op

from driftwatch.store import columns

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "standing",
        sa.Column(
            "server_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("verified", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("observed_risk", sa.Integer(), nullable=False),
        sa.Column("not_checked", sa.Integer(), nullable=False),
        sa.Column(
            "worst",
            sa.Enum(
                "verified",
                "failed",
                "observed_risk",
                "not_checked",
                name="state",
                native_enum=False,
                create_constraint=True,
                length=16,
            ),
            nullable=False,
        ),
        sa.Column("changed_at", columns.Moment(), nullable=True),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_standing_server_id_server"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("server_id", name=op.f("pk_standing")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "transcript",
        sa.Column(
            "server_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column(
            "depth",
            sa.Enum("light", "full", name="depth", native_enum=False, create_constraint=True, length=16),
            nullable=False,
        ),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("taken_at", columns.Moment(), nullable=False),
        sa.Column("content", columns.PackedJson(), nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"], ["server.id"], name=op.f("fk_transcript_server_id_server"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("server_id", "depth", name=op.f("pk_transcript")),
    )
    _sum_up()


def _sum_up() -> None:
    """Sum up the states that are there, as every observation does from now on."""
    states = sa.table(
        "subject_state",
        *(sa.column(name) for name in ("server_id", "subject", "confirmed", "blocked_by")),
        sa.column("confirmed_since", sa.BigInteger()),
        sa.column("blocked_since", sa.BigInteger()),
    )
    now = sa.case((states.c.blocked_by.is_not(None), "not_checked"), else_=states.c.confirmed)

    def share(state: str, *conditions: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        is_so = sa.and_(sa.func.substr(now, 1, len(state)) == state, *conditions)
        return sa.func.sum(sa.case((is_so, 1), else_=0))

    blind = share("not_checked", states.c.subject == "check:transport/endpoint")
    changed_at = sa.case(
        (states.c.blocked_since > states.c.confirmed_since, states.c.blocked_since),
        else_=states.c.confirmed_since,
    )
    standings = sa.table(
        "standing",
        *(sa.column(name) for name in ("server_id", "verified", "failed", "observed_risk", "not_checked")),
        sa.column("worst"),
        sa.column("changed_at"),
    )
    summed = (
        sa.select(
            states.c.server_id,
            *(share(state) for state in ("verified", "failed", "observed_risk", "not_checked")),
            sa.case(
                (share("failed") > 0, "failed"),
                (blind > 0, "not_checked"),
                (share("observed_risk") > 0, "observed_risk"),
                (share("verified") > 0, "verified"),
                else_="not_checked",
            ),
            sa.func.max(changed_at),
        )
        .where(sa.func.substr(states.c.subject, 1, 6) == "check:")
        .group_by(states.c.server_id)
    )
    op.execute(sa.insert(standings).from_select([column.name for column in standings.c], summed))
