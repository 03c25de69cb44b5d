"""``python -m driftwatch``."""

from driftwatch.cli import main

if __name__ == "__main__":
    main()
