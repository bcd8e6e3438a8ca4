"""Summaries of made-up EDGE runs, for tests of what is said and shown of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from protocols.edge.plan import plan, write_plans
from protocols.edge.plan_settings import EdgePlanSettings
from protocols.edge.protocol import EDGE
from protocols.edge.summary import EdgeSummary
from seqsearch.core.outcomes import Outcome
from seqsearch.planners.replicates import of_given, of_order, scoring
from seqsearch.results.schema import PLANS
from seqsearch.similarity.matrix import checked
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

TASKS = [[0, 1], [2, 3], [4, 5]]
Values = list[float]


def final(accuracy: float) -> Outcome:
    """A rollout over three tasks that ends with this accuracy on each."""
    return outcome([[0.9], [0.8, 0.8], [accuracy] * 3])


def summary(
    tmp_path: Path,
    hard: Values,
    easy: Values,
    random: Values,
    crossed: tuple[Values, ...] = (),
    S: Values | None = None,
    **settings: Any,
) -> EdgeSummary:
    """Of one method ``er``: extremes by seed, random sequences with a seed each, the first of them with scoring seeds, too."""
    pool, seeds = glyphs(), scoring(max(len(hard), len(easy), 1))
    table = [
        ("hard-0", "hard", dict(zip(seeds, hard, strict=False))),
        ("easy-0", "easy", dict(zip(seeds, easy, strict=False))),
    ]
    table += [(f"rs-{s}", "given", {of_given(i): random[0]}) for i, s in enumerate((0, 42))]
    for i, accuracy in enumerate(random):
        more = dict(zip(seeds, crossed[i], strict=True)) if i < len(crossed) else {}
        table.append((f"random-{i}", "random", {of_order(i): accuracy, **more}))
    made = {name: sequence(pool, name, kind, ["er"], TASKS) for name, kind, _ in table}
    for i, value in enumerate(S or ()):
        made[f"random-{i}"] = replace(made[f"random-{i}"], values=(value,) * 3)
    evaluated = [rescored(made[n], "er", seed, final(a)) for n, _, row in table for seed, a in row.items()]
    run = write_run(tmp_path / "run", pool, list(made.values()), evaluated, ["er"])
    x = np.random.default_rng(0).normal(size=(6, 3))
    similarity = checked(x @ x.T, [f"c{i}" for i in range(6)], "x", "made up")
    write_plans(run / PLANS, [plan("names", similarity, (2, 2, 2), EdgePlanSettings(planner="exact", **settings))])
    return EDGE.read(run).summary


def spread(L: int) -> Values:
    """Different accuracies from 60 to 80 %."""
    return [float(a) for a in np.random.default_rng(1).permutation(np.linspace(0.6, 0.8, L))]


LOW, MIDDLE, HIGH = [0.50, 0.52], [0.70, 0.71], [0.90, 0.91]
