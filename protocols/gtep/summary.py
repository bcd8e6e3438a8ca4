"""Summary of a GTEP run, from the rows of its files: the chosen settings, and their accuracy on other pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protocols.gtep.cells import FRESH, OF_TUNING, Cell, cells
from protocols.gtep.reading import GtepResults, read_run
from protocols.gtep.searches import FEWEST, Search, best_set, searches
from protocols.running.at_chance import AtChance, at_chance_or_none
from protocols.running.protocol import Exported
from seqsearch.stats.choice import Difference, WithTheBest, optimism, regret, shares_of_orders
from seqsearch.stats.ranks import Agreement, agreement

FEWEST_RANKED = 3
"""Methods below which rankings are not compared: of two there are two, and half of all agree."""


@dataclass(frozen=True)
class Compared:
    """With ``--conventional`` or ``--originals``: what other choices would have brought.

    Attributes:
        regret: of the setting chosen on the pool over the transferred one, both on its test images.
        gain_over_original: of the transferred setting over the defaults, there as well.
    """

    pool: str
    method: str
    regret: Difference | None
    gain_over_original: Difference | None


@dataclass(frozen=True)
class Rankings:
    """How two rankings of ``methods`` on a pool agree; ``which`` names the two."""

    pool: str
    which: str
    methods: tuple[str, ...]
    agreement: Agreement


@dataclass(frozen=True)
class Summary:
    """All that is shown."""

    results: GtepResults
    cells: tuple[Cell, ...]
    searches: tuple[Search, ...]
    best: Mapping[tuple[str, str], WithTheBest]
    """By pool and use: which methods do not differ from the first."""
    compared: tuple[Compared, ...]
    optimism: Mapping[str, Difference]
    """By method."""
    agreements: tuple[Rankings, ...]
    at_chance: Mapping[tuple[str, str], tuple[AtChance, ...]]
    """By pool and use: which methods are at chance."""


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    results = read_run(run)
    return Exported(results, summarise(results))


def summarise(found: GtepResults) -> Summary:
    """All figures of a run."""
    all_cells = cells(found)
    evaluated = [c for c in all_cells if c.use not in OF_TUNING.values()]
    tried = tuple(searches(found))
    first_phase = [s for s in tried if s.pool == found.setting("tune_pool")]
    return Summary(
        found,
        tuple(all_cells),
        tried,
        _with_the_best(evaluated),
        (*_compared(evaluated), *_on_tuning(all_cells)),
        dict(_optimism(first_phase, all_cells)),
        tuple(_agreements(first_phase, evaluated)),
        _at_chance(evaluated),
    )


def _at_chance(evaluated: Sequence[Cell]) -> dict[tuple[str, str], tuple[AtChance, ...]]:
    found: dict[tuple[str, str], tuple[AtChance, ...]] = {}
    for c in evaluated:
        if a := at_chance_or_none(c.method, f"on {c.pool}", "Acc", c.ended):
            found[c.pool, c.use] = (*found.get((c.pool, c.use), ()), a)
    return found


def _with_the_best(evaluated: Sequence[Cell]) -> dict[tuple[str, str], WithTheBest]:
    found = {}
    for pool, use in dict.fromkeys((c.pool, c.use) for c in evaluated):
        same = [c for c in evaluated if (c.pool, c.use) == (pool, use)]
        orders = max((len(c.curve) for c in same), default=0)
        if orders and any(c.valid for c in same):
            found[pool, use] = best_set(
                [_h(c) if c.valid and len(c.curve) == orders else np.full(orders, np.nan) for c in same]
            )
    return found


def _h(c: Cell) -> NDArray[np.float64]:
    return shares_of_orders(c.acc, c.avg)


def _compared(evaluated: Sequence[Cell]) -> Iterator[Compared]:
    by = {(c.pool, c.method, c.use): c for c in evaluated if c.valid}
    for pool, method in dict.fromkeys((c.pool, c.method) for c in evaluated):
        tuned, own, original = (by.get((pool, method, use)) for use in ("tuned", "conventional", "original"))
        if tuned and (own or original):
            yield Compared(
                pool,
                method,
                regret(_h(own), _h(tuned)) if own else None,
                regret(_h(tuned), _h(original)) if original else None,
            )


def _on_tuning(all_cells: Sequence[Cell]) -> Iterator[Compared]:
    """Compare the chosen settings with the original ones, on further orders of the tuning pool.

    Figs. 2, 4a and 7a of the paper show this comparison.
    """
    tuned, original = ({c.method: c for c in all_cells if c.valid and c.use == use} for use in OF_TUNING.values())
    for method in tuned:
        if method in original:
            yield Compared(tuned[method].pool, method, None, regret(_h(tuned[method]), _h(original[method])))


def _optimism(searches: Sequence[Search], all_cells: Sequence[Cell]) -> Iterator[tuple[str, Difference]]:
    fresh = {c.method: c for c in all_cells if c.use == FRESH and c.valid}
    for s in searches:
        if s.method in fresh and s.chosen is not None and np.isfinite(s.scores[s.chosen]):
            yield s.method, optimism(float(s.scores[s.chosen]), _h(fresh[s.method]))


def agreed(first: Sequence[NDArray[np.float64]], second: Sequence[NDArray[np.float64]]) -> Agreement:
    """How two rankings agree; without pairs that differ below `FEWEST` class orders, which differ by chance."""
    found, orders = agreement(first, second), min(len(first[0]), len(second[0]))
    if orders >= FEWEST:
        return found
    return replace(
        found,
        first=(),
        second=(),
        unavailable_because=found.unavailable_because or f"{FEWEST} class orders are needed, {orders} there",
    )


def _agreements(searches: Sequence[Search], evaluated: Sequence[Cell]) -> Iterator[Rankings]:
    scored = {s.method: s.shares[s.chosen] for s in searches if s.chosen is not None}
    chosen = {m: shares for m, shares in scored.items() if np.isfinite(shares).all()}
    for pool in dict.fromkeys(c.pool for c in evaluated):
        tuned, own, original = (
            {c.method: _h(c) for c in evaluated if c.valid and (c.pool, c.use) == (pool, use)}
            for use in ("tuned", "conventional", "original")
        )
        for which, first, second in (
            ("as chosen, tuned", chosen, tuned),
            ("tuned, conventional", tuned, own),
            ("tuned, original", tuned, original),
        ):
            both = tuple(m for m in tuned if m in first and m in second)
            if len(both) >= FEWEST_RANKED:
                yield Rankings(pool, which, both, agreed([first[m] for m in both], [second[m] for m in both]))
