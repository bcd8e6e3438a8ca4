"""Results of MCIL runs, made up: accuracies by method, class order and seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protocols.mcil.counted import accuracies, by_run, figures
from protocols.mcil.reading import McilResults
from protocols.mcil.summary import Summary, summarise

SIZES = [2, 2]
IMAGES = 1000
"""Of a class."""


def results(
    accuracy: Mapping[str | tuple[str, str], Any], *, status: Mapping[str, str] | None = None, complete: bool = True
) -> McilResults:
    """``accuracy [orders, seeds]`` of each method, or (method, classifier): of all classes alike, after each experience."""
    experiences, costs = [], {}
    for key, values in accuracy.items():
        method, classifier = (key, "head") if isinstance(key, str) else key
        for (order, seed), value in np.ndenumerate(np.array(values, dtype=float)):
            who = {"sequence_id": f"order-{order}", "order": order, "method_id": method, "seed": order * 100 + seed}
            for t in (1, 2):
                sizes, n = SIZES[:t], [IMAGES] * sum(SIZES[:t])
                right = [round(IMAGES * value)] * len(n)
                counts = {"sizes": sizes, "classes": len(n), "images": sum(n), "correct": sum(right), "class_n": n}
                experiences.append(
                    {
                        **who,
                        "config_digest": "d",
                        "classifier": classifier,
                        "experience": t,
                        **counts,
                        "class_correct": right,
                        **accuracies(sizes, n, right),
                        "train_seconds": 1.0,
                        "judge_seconds": 0.5,
                    }
                )
            costs[method] = {
                "status": (status or {}).get(method, "ok"), "backbone_bytes": 80_000, "params_bytes": 40_000,
                "statistics_bytes": 0, "exemplar_bytes": 2_000_000,
            }  # fmt: skip
    rows = [{**run[0], **costs[run[0]["method_id"]], **figures(run)} for run in by_run(experiences)]
    orders, seeds = np.array(next(iter(accuracy.values()))).shape
    plan = {"orders": 0, "seeds": orders} if seeds == 1 and orders > 1 else {"orders": orders, "seeds": seeds}
    methods = dict.fromkeys(k if isinstance(k, str) else k[0] for k in accuracy)
    config = {
        "run_id": "made-up", "settings": plan,
        "identity": {"methods": methods, "experience_sizes": SIZES, "images": {"trained": 30.0, "test": 10}},
    }  # fmt: skip
    stats = {"complete": complete, "reached": None if complete else "learning", "trained": 4, "naive": 8}
    return McilResults(config, stats, tuple(experiences), tuple(rows))


def summary(accuracy: Mapping[str | tuple[str, str], Any], **more: Any) -> Summary:
    """Of `results`."""
    return summarise(results(accuracy, **more))
