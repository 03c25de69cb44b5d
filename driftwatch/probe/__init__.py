"""The only connections to servers: one visit, returned as Evidence."""

from driftwatch.probe.connect import Resolver, SystemResolver
from driftwatch.probe.target import Target
from driftwatch.probe.tls import TrustStore
from driftwatch.probe.visit import probe

__all__ = ["Resolver", "SystemResolver", "Target", "TrustStore", "probe"]
