"""Damaged inputs for everything that reads what a server says."""
