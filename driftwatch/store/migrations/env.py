"""Alembic's environment: it only ever works on a connection that the store opened."""

from alembic import context

from driftwatch.store import tables

tables.also_for_postgresql()
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.metadata,
    render_as_batch=True,
    compare_type=True,
    user_module_prefix="columns.",
)
with context.begin_transaction():
    context.run_migrations()
