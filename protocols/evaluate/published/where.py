"""Paths of the ledger, its results and the recipes of pools.

They lie beside this module, also in an installed package.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
LEDGER, RESULTS = FOLDER / "published.yaml", FOLDER / "published.json"
RECIPES = {"cldyb": FOLDER / "cldyb_pool.yaml"}
"""Of pools, by name."""
