"""The only connections to servers: one visit, returned as Evidence."""
