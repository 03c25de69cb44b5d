"""``python -m driftwatch.store.migrate "what changes"`` writes the next migration from the models.

For developers; the service migrates by itself when it starts.
"""

import sys
import tempfile
from pathlib import Path

from sqlalchemy import NullPool, create_engine

from driftwatch.store import migrations


def main(arguments: list[str]) -> int:
    """Migrate a throw-away database to the newest revision, compare, and write what is missing."""
    if len(arguments) != 1:
        sys.stderr.write('usage: python -m driftwatch.store.migrate "what changes"\n')
        return 2
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{Path(folder) / 'migrated.db'}", poolclass=NullPool)
        with engine.begin() as connection:
            migrations.upgrade(connection)
            migrations.write(connection, arguments[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
