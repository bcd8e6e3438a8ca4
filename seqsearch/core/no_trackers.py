"""Keeps libraries that import an experiment tracker wherever there is one from doing so.

timm and Ray Tune import wandb, for features that seqsearch does not use. That takes 0.3 s, and makes folders for temporary files
that a killed process leaves behind. A method that imports wandb itself gets it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

TRACKER, IMPORTERS = "wandb", ("timm", "ray.air.integrations.wandb")


class _Finder(MetaPathFinder):
    """Says that there is no tracker, while one of these is being imported."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name == TRACKER and any(map(_being_imported, IMPORTERS)):
            raise ModuleNotFoundError(f"No module named {TRACKER!r}", name=TRACKER)


def _being_imported(name: str) -> bool:
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def install() -> None:
    """From now on, in this process; more than once is once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
