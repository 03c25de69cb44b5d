"""A tool list in canonical form: its digests, and its differences in words."""
