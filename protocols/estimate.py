"""What a study will cost: trainings from its settings, hours and disk from one real training of each method."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from seqsearch.errors import UserError
from seqsearch.settings import CldybSettings
from seqsearch.types import Edge


@dataclass(frozen=True)
class Estimate:
    """Upper bounds. ``trainings`` counts one task of one method; ``naive`` is what retraining every prefix would take."""

    search: int
    scoring: int
    random: int
    naive: int
    hours: float
    disk_bytes: int
    workers: int

    @property
    def trainings(self) -> int:
        return self.search + self.scoring + self.random


def simulations_per_step(s: CldybSettings) -> int:
    """Simulations at most; without look-ahead every candidate is visited once."""
    if s.selector != "mcts":
        return s.simulations if s.lookahead else 1
    return s.simulations if s.lookahead else min(s.condensed, s.simulations)


def rollouts_expected(s: CldybSettings, methods: int) -> int:
    """Rollouts of a whole study, at most, as `Search` counts them."""
    joint = (1 + min(s.lookahead, 1)) if s.reward == "gap-to-joint" else 0
    last = min(s.condensed, s.simulations) if s.selector == "mcts" else 1
    steps = max(0, s.tasks - 2) * simulations_per_step(s) + (last if s.tasks > 1 else 0)
    search = methods * s.searches * (1 + steps * (1 + joint) + (s.tasks - 1))
    return search + methods * s.score_seeds * (s.searches + s.random_sequences)


def estimate(s: CldybSettings, methods: int, seconds: float, state_bytes: int, workers: int) -> Estimate:
    """Costs of a study.

    Args:
        seconds: mean seconds of one training, over the methods.
        state_bytes: bytes of one state, summed over the methods.
        workers: trainings at a time.
    """
    judged = min(s.condensed, s.simulations) if s.selector == "mcts" else 1
    search = naive = 1
    for t in range(2, s.tasks + 1):
        ahead = min(s.lookahead, s.tasks - t)
        simulations = simulations_per_step(s) if ahead else judged
        joints = simulations * (ahead + 1) if s.reward == "gap-to-joint" else 0
        search += judged + simulations * ahead + joints
        naive += simulations * (t + ahead) + joints + t
    search, naive = search * methods * s.searches, naive * methods * s.searches
    per_sequence = methods * s.score_seeds * (s.tasks - 1)
    shared = methods * s.score_seeds
    scoring, random = s.searches * per_sequence + shared, s.random_sequences * per_sequence
    naive += methods * s.score_seeds * s.tasks * (s.searches + s.random_sequences)
    total = search + scoring + random
    return Estimate(
        search, scoring, random, naive,
        hours=total * seconds / 3600 / max(1, workers),
        disk_bytes=state_bytes * s.searches * (judged + 2) + total * 1000,
        workers=max(1, workers),
    )  # fmt: skip


def calibrate(settings: CldybSettings, device: str) -> tuple[float, int]:
    """Train the first task once with each method: mean seconds of a training, and bytes of all their states.

    Raises:
        UserError: as `protocols.study.prepare`, or a method fails on its first task.
    """
    from protocols.study import prepare
    from seqsearch.inline import InlineEvaluator

    with tempfile.TemporaryDirectory() as scratch:
        study = prepare(settings, Path(scratch), device)
        bench = InlineEvaluator(study.world).bench
        seconds = []
        for method in study.methods:
            edge = Edge(method, settings.seed, 0, (study.first,), settings.reward_split)
            bench.train(replace(edge, replicate=1))  # the first one also pays for loading and for frozen features
            result = bench.train(edge)
            if result.status != "ok":
                raise UserError(f"method {method.label!r} {result.status} on the first task: {result.message}")
            seconds.append(result.train_seconds + result.judge_seconds * (settings.tasks + 1) / 2)
        states = sum(p.stat().st_size for p in Path(scratch).rglob("*.safetensors")) // 2
    return sum(seconds) / len(seconds), states
