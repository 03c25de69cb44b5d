"""A soak: a fleet that changes and fails by a plan, and whether each change is told exactly once."""
