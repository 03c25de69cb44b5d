"""The deploy webhook: ``POST /hooks/deploy``, and ``GET /api/v1/deploys/{id}``, where it can be followed."""

from driftwatch.web.hooks.door import routes

__all__ = ["routes"]
