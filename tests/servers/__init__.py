"""Servers for tests that speak bytes instead of HTTP, and the certificates they show."""
