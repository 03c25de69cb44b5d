"""driftwatch: a drift monitor for remote MCP servers."""

__version__ = "0.1.0"
