"""Ledger of published results: printed values, commands that should reproduce them, and outcomes.

Nothing is shown here.
"""
