"""How long a test waits for what has to come: long enough for a machine that does much else besides."""

PATIENCE_S = 120
