"""Everything through which machines and browsers reach the service."""
