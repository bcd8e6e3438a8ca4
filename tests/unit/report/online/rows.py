"""Rows of an online run that are made here: which samples were right, block by block, and what became of each learner."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from protocols.online.intervals import Estimate
from protocols.online.reading import OnlineResults
from protocols.online.summary import Pair, Shuffled, Summary, summarise
from seqsearch.results.rows import Row
from seqsearch.stats.interval import Interval

BLIND = "blind (k chosen)"
BLOCK, BLOCKS, STEPS = 64, 32, 32


def estimate(value: float, half: float = math.nan, unavailable_because: str = "") -> Estimate:
    """A figure with an interval ``half`` to both sides; without one it says why."""
    return Estimate(
        Interval(value, value - half, value + half),
        unavailable_because or ("" if math.isfinite(half) else "too few blocks"),
        20,
    )


def pair(first: str, second: str, online: float, future: float, half: float = 0.01) -> Pair:
    return Pair(first, second, estimate(online, half), estimate(future, half))


def noisy(label: str, right: list[int], n: list[int]) -> list[int]:
    """One more in a half of the blocks and one less in the other, so that the sum stays; nothing where all or none are right."""
    evaluated = [b for b, m in enumerate(n) if 0 < right[b] < m]
    random.Random(label).shuffle(evaluated)
    for i, b in enumerate(evaluated[: len(evaluated) // 2 * 2]):
        right[b] += 1 if i % 2 else -1
    return right


@dataclass
class Made:
    """Rows in the making; ``settings`` and ``said`` (of ``shift.json``) beside those that `results` has."""

    shift: int = 128
    complete: bool = True
    settings: dict[str, Any] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)
    methods: list[str] = field(default_factory=list)
    figures: list[Row] = field(default_factory=list)
    curves: list[Row] = field(default_factory=list)
    blind: list[Row] = field(default_factory=list)

    def figure(
        self, label: str, level: float, shift: int, samples: str = "all", blocks: int = BLOCKS, **more: Any
    ) -> None:
        """``level`` of each block is right; a shift leaves out the blocks before it."""
        n = [BLOCK if shift // BLOCK <= b < blocks else 0 for b in range(BLOCKS)]
        right = noisy(label, [round(level * m) for m in n], n)
        self.figures.append(
            {
                "run_id": "made",
                "method_id": label,
                "config_digest": "digest",
                "seed": 0,
                "learned_window": 0,
                "judged_window": 0,
                "shift": shift,
                "samples": samples,
                "unseen_by": 0,
                "n": sum(n),
                "correct": sum(right),
                "accuracy": level,
                "block": BLOCK,
                "block_n": n,
                "block_correct": right,
                "status": "ok",
                "steps": STEPS,
                "updates": 1.0 * STEPS,
                "spent": 1.0 * STEPS,
                "learning_seconds": 0.5,
                "judging_seconds": 0.1,
                "state_bytes": 2_000,
                **more,
            }
        )

    def learner(
        self, label: str, online: float, future: float, retention: float | None = None, seeds: int = 1, **more: Any
    ) -> None:
        """Online and near-future accuracy, on all samples and on the common ones, and retention."""
        self.methods += [label] if more.get("config_digest") != "" else []
        for seed in range(seeds):
            known = {**more, "seed": seed}
            self.figure(label, online, 0, **known)
            for shift, level in dict.fromkeys(((0, online), (self.shift, future))):
                if shift:
                    self.figure(label, level, shift, **known)
                if self.shift:
                    self.figure(label, level, self.shift, "common", **known)
                    self.figures[-1]["shift"] = shift
            if retention is not None:
                self.figure(label, retention, -1, "holdout", **known)
                for position in (64, 128, 192):
                    self.curve(label, retention, "retention", position, seed)

    def baseline(self, online: float, future: float) -> None:
        nothing = dict.fromkeys(("updates", "spent", "learning_seconds", "judging_seconds", "state_bytes"))
        self.learner(BLIND, online, future, config_digest="", **nothing)

    def curve(self, label: str, value: float, measure: str, position: int, seed: int = 0) -> None:
        self.curves.append(
            {
                "run_id": "made",
                "method_id": label,
                "seed": seed,
                "learned_window": 0,
                "judged_window": 0,
                "shift": -1,
                "measure": measure,
                "position": position,
                "accuracy": value,
                "window_accuracy": None,
            }
        )

    def swept(
        self, accuracies: dict[tuple[int, int], float], part: str = "main", form: str = "batch", chance: float = 0.1
    ) -> None:
        """Accuracies by (k, S)."""
        for (k, shift), a in accuracies.items():
            self.blind.append(
                {
                    "run_id": "made",
                    "part": part,
                    "form": form,
                    "k": k,
                    "shift": shift,
                    "n": 1000,
                    "correct": round(1000 * a),
                    "accuracy": a,
                    "chance": chance,
                    "kappa": (a - chance) / (1 - chance),
                }
            )

    def window(self, label: str, window: int, cells: Sequence[float], **more: Any) -> None:
        """Trained ordered and evaluated ordered, trained shuffled and evaluated ordered, then both evaluated shuffled."""
        asked = (
            (0, 0, "unseen", window),
            (window, 0, "all", 0),
            (0, window, "all", 0),
            (window, window, "unseen", window),
        )
        for (learned, evaluated, samples, unseen), level in zip(asked, cells, strict=True):
            where = {"learned_window": learned, "judged_window": evaluated, "unseen_by": unseen}
            self.figure(label, level, 0, samples, **{**where, **more})

    def results(self) -> OnlineResults:
        stats = {
            "complete": self.complete, "reached": None if self.complete else "learning", "trained": 4, "naive": 8, "replayed": 0,
            "wall_seconds": 12.0, "busy_share": 0.5, "sessions": 1, "moved": {},
        }  # fmt: skip
        stream = {
            "name": "made", "samples": 3000, "classes": 10, "search": 300, "main": 2048, "holdout": 200, "steps": STEPS,
            "batch": BLOCK, "checkpoint_every": 8, "known": {},
        }  # fmt: skip
        settings = {"shift": str(self.shift), "tolerance": 0.01, "null": "independence", **self.settings}
        identity = {"stream": stream, "methods": {m: {} for m in self.methods}}
        config = {"run_id": "made", "protocol": "online", "settings": settings, "identity": identity}
        said = {"shift": self.shift, "named": settings["shift"] != "auto", **self.said}
        resume = "seqsearch online --resume runs/made"
        return OnlineResults(config, stats, tuple(self.figures), tuple(self.curves), tuple(self.blind), said, resume)

    def summary(self, pairs: Sequence[Pair] | None = None, shuffled: Sequence[Shuffled] | None = None) -> Summary:
        """Of the rows; ``pairs`` and ``shuffled`` in place of what these tell."""
        s = summarise(self.results())
        s = s if pairs is None else replace(s, pairs=tuple(pairs))
        return s if shuffled is None else replace(s, shuffled=tuple(shuffled))
