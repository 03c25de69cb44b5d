"""The only SQL: what driftwatch remembers, behind two ports."""
