"""Where the ledger and its results lie: beside a checkout, or with the installed package."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from seqsearch.core.errors import UserError

LEDGER, RESULTS, RECIPES = "published.yaml", "results/published.json", "{}_pool.yaml"
CHECKOUT = Path(__file__).parents[3] / "benchmarks"
SHARED = "share/seqsearch/benchmarks"
"""Below the prefix of an installation (`[tool.setuptools.data-files]`)."""


def located(name: str) -> Path:
    """The file of the checkout that this code is of; of an installed package the one that came with it.

    Raises:
        UserError: neither is there.
    """
    beside = CHECKOUT / name
    if beside.is_file():
        return beside
    try:
        files = metadata.files("seqsearch") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if str(file).endswith(f"{SHARED}/{name}") and (path := Path(str(file.locate())).resolve()).is_file():
            return path
    raise UserError(f"benchmarks/{name} did not come with this installation: install seqsearch again")
