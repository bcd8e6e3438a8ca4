"""Rows of a GTEP run that are made here: accuracies by method, order and task, and what became of each rollout."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from protocols.gtep.reading import GtepResults
from seqsearch.results.rows import Row
from seqsearch.stats.choice import of_means

IMAGES = 1000
"""Evaluated of each task."""
TUNE, POOL = "birds", "cars"


@dataclass
class Made:
    """Rows in the making.

    Attributes:
        methods: by label.
        settings: beside those that `results` has, and in their place.
    """

    methods: Sequence[str]
    tasks: int = 3
    orders: int = 2
    pools: Sequence[str] = (POOL,)
    settings: dict[str, Any] = field(default_factory=dict)
    complete: bool = True
    rows: list[Row] = field(default_factory=list)
    trials: list[Row] = field(default_factory=list)

    def rollout(
        self, sequence: str, role: str, label: str, curve: Sequence[float], status: str = "ok", **more: Any
    ) -> None:
        """A class order of which Acc_t is ``curve``, as far as it goes; each task alike."""
        ended = status == "ok"
        sizes = {
            "backbone_bytes": 3_000_000 if ended else None,
            "params_bytes": 2_000_000 if ended else None,
            "statistics_bytes": 500_000 if ended else None,
            "exemplar_bytes": 100_000 if ended else None,
        }
        shared = {"status": status, "train_seconds": 2.0, **sizes, **more}
        for t, value in enumerate(curve, 1):
            for e in range(1, t + 1):
                self.rows.append(
                    {
                        "sequence_id": sequence,
                        "role": role,
                        "method_id": label,
                        "trained_step": t,
                        "evaluated_step": e,
                        "n": IMAGES,
                        "correct": round(IMAGES * value),
                        **shared,
                    }
                )
        if not curve:
            nothing = {"trained_step": 1, "evaluated_step": 1, "n": None, "correct": None}
            self.rows.append({"sequence_id": sequence, "role": role, "method_id": label, **nothing, **shared})

    def evaluated(
        self, method: str, levels: Sequence[float], use: str = "tuned", group: str = "judge-0", **more: Any
    ) -> None:
        """A method on a pool: final accuracy of each order; all tasks before are .1 better."""
        label = method if use == "tuned" else f"{method} ({use})"
        for n, level in enumerate(levels):
            self.rollout(f"{group}-{n}", "rescore", label, [level + 0.1] * (self.tasks - 1) + [level], **more)

    def tried(
        self, method: str, levels: Sequence[Sequence[float] | None], group: str = "tune", pool: str = TUNE, **more: Any
    ) -> None:
        """The first phase: final accuracies of each setting on each order; None: it diverged. The best is chosen."""
        first = len(self.trials)
        for number, values in enumerate(levels):
            found = np.array([] if values is None else values)
            for n, level in enumerate(found.tolist()):
                curve = [level + 0.1] * (self.tasks - 1) + [level]
                self.rollout(f"{group}-{n}", "search", f"{method} [{number}]", curve)
            avg = found + 0.1 * (self.tasks - 1) / self.tasks
            score = float(of_means(found, avg)) if len(found) else None
            acc = {"accuracy": float(found.mean()), "average_accuracy": float(avg.mean())} if len(found) else {}
            self.trials.append(
                {
                    "pool": pool,
                    "method_id": method,
                    "trial": number,
                    "params": json.dumps({"lr": 0.1 * (number + 1), "epochs": 5}),
                    "accuracy": None,
                    "average_accuracy": None,
                    **acc,
                    "harmonic_mean": score,
                    "status": "diverged" if values is None else "ok",
                    "message": None,
                    "chosen": False,
                    **more,
                }
            )
        scored = [r for r in self.trials[first:] if r["harmonic_mean"] is not None]
        if scored:
            max(scored, key=lambda r: r["harmonic_mean"])["chosen"] = True

    def results(self) -> GtepResults:
        settings: Mapping[str, Any] = {
            "tune_pool": TUNE, "pool": list(self.pools), "tasks": self.tasks, "orders": self.orders, "eval_orders": 0,
            "params": "tuned", "searcher": "random", "scheduler": "fifo", "allow_overlap": [], **self.settings,
        }  # fmt: skip
        identity: dict[str, Any] = {"methods": {m: {} for m in self.methods}, "given": {}}
        config = {"run_id": "made", "protocol": "gtep", "settings": dict(settings), "identity": identity}
        stats = {"complete": self.complete, "reached": None if self.complete else "judging", "trained": 9, "naive": 9}
        return GtepResults(config, stats, (), tuple(self.rows), tuple(self.trials))
