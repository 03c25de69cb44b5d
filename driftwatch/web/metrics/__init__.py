"""``/metrics`` for Prometheus: the fleet and the service itself."""

from driftwatch.web.metrics.door import routes

__all__ = ["routes"]
