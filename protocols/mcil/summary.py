"""Summary of an MCIL run, computed from the rows of its files; all outputs show this one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from protocols.mcil.compared import Difference, ModalityAblation, Noise, modality_ablations, noise_of, pairs_of
from protocols.mcil.evaluated import Evaluated, evaluated_of
from protocols.mcil.reading import McilResults, read_run
from protocols.running.at_chance import AtChance, Ended, at_chance_or_none
from protocols.running.protocol import Exported
from seqsearch.core.outcomes import HEAD
from seqsearch.results.rows import Row


@dataclass(frozen=True)
class Summary:
    """Results of an MCIL run.

    Attributes:
        heads: one for each method that has results, by Avg, highest first. Methods without a completed run come last.
        others: further classifiers.
        pairs: pairs of methods whose runs all ended, in the order of ``heads``.
        at_chance: methods that are at chance after the last experience.
        orders, seeds: number of class orders, and of training seeds of each.
    """

    run: McilResults
    heads: tuple[Evaluated, ...]
    others: tuple[Evaluated, ...]
    pairs: tuple[Difference, ...]
    modality_ablation: tuple[ModalityAblation, ...]
    noise: tuple[Noise, ...]
    at_chance: tuple[AtChance, ...]
    orders: int
    seeds: int

    @property
    def whole(self) -> tuple[Evaluated, ...]:
        """Methods all whose runs came to their end."""
        return tuple(h for h in self.heads if h.status == "ok")

    @property
    def absent(self) -> tuple[str, ...]:
        """Methods without any result."""
        return tuple(m for m in self.run.methods if m not in {h.label for h in self.heads})

    @property
    def unit(self) -> str:
        """Return the unit that intervals are over."""
        return "class orders" if self.orders > 1 else "training seeds"


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    results = read_run(run)
    return Exported(results, summarise(results))


def summarise(run: McilResults) -> Summary:
    """From rows to figures."""
    orders, seeds = plan_of(run)
    found: dict[tuple[str, str], list[Row]] = {}
    for row in run.figures:
        found.setdefault((row["method_id"], row["classifier"]), []).append(row)
    curves: dict[tuple[str, str], list[Row]] = {}
    for row in run.experiences:
        curves.setdefault((row["method_id"], row["classifier"]), []).append(row)
    evaluated = [evaluated_of(*key, rows, curves[key], orders, seeds) for key, rows in found.items()]
    heads = sorted((j for j in evaluated if j.classifier == HEAD), key=lambda j: (-_avg(j), j.label))
    others = [j for j in evaluated if j.classifier != HEAD]
    whole = [h for h in heads if h.status == "ok"]
    return Summary(
        run,
        tuple(heads),
        tuple(others),
        tuple(pairs_of(whole, len(run.methods))) if run.finished else (),
        tuple(modality_ablations(whole, others)) if run.finished else (),
        tuple(noise_of(whole)) if run.finished else (),
        tuple(a for h in whole if run.finished and (a := _at_chance(h.label, curves[h.label, HEAD]))),
        orders,
        seeds,
    )


def _at_chance(method: str, experiences: Sequence[Row]) -> AtChance | None:
    """By the balanced accuracy, of which one class for every image gives 1 / K, of K that have images."""
    last = {(r["order"], r["seed"]): r for r in sorted(experiences, key=lambda r: int(r["experience"]))}.values()
    ended = [
        Ended(tuple(r["class_correct"]), tuple(r["class_n"]), r["balanced"], 1 / sum(n > 0 for n in r["class_n"]))
        for r in last
    ]
    return at_chance_or_none(method, "after the last experience", "balanced accuracy", ended)


def plan_of(run: McilResults) -> tuple[int, int]:
    """Class orders, and training seeds of each; by the rows where the settings do not say."""
    orders, seeds = run.setting("orders"), run.setting("seeds")
    if isinstance(orders, int) and isinstance(seeds, int) and orders >= 0 and seeds > 0:
        return (orders, seeds) if orders else (seeds, 1)
    there = {(r["order"], r["seed"]) for r in run.figures}
    number = len({k for k, _ in there})
    return max(1, number), max(1, len(there) // max(1, number))


def _avg(j: Evaluated) -> float:
    over = j.over.get("average")
    return over.interval.value if over else -math.inf
