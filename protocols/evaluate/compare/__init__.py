"""Benchmarks and runs beside each other. Nothing is trained."""
