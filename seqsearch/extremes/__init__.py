"""Extreme class sequences: which ordered partition of the classes into tasks makes a similarity score smallest or largest."""
