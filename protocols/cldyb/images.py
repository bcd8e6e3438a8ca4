"""How many images of a class a run trained on, searched with and tested."""

from __future__ import annotations

from dataclasses import dataclass

from seqsearch.core.typed import fits, sensible
from seqsearch.results.run import RunResults


@dataclass(frozen=True)
class Images:
    """Images of a class: what the figures were trained on, what the search learned from, and what was tested."""

    trained: float
    searched: float
    test: float


def images_of(data: RunResults) -> Images | None:
    """From ``config.json``, where it says so."""
    identity = data.config.get("identity")
    said = identity.get("images") if isinstance(identity, dict) else None
    numbers = [said.get(name) for name in ("trained", "searched", "test")] if isinstance(said, dict) else [None]
    whole = [float(n) for n in numbers if n is not None and fits(n, float) and sensible(n)]
    return Images(*whole) if len(whole) == 3 else None
