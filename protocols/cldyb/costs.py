"""What a CLDyB study will cost: trainings from its settings, hours and disk from one real training of each method."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import prepare
from protocols.running.costs import UnitCosts, unit_costs
from seqsearch.planners.given import random_sequences

UNKNOWN = UnitCosts()
"""Trainings alone are estimated."""


@dataclass(frozen=True)
class Estimate:
    """Upper bounds, but that joint training counts as one task. A training is one task of one method; ``naive`` is what
    retraining every prefix would take; ``scoring`` is of what is found and, for ``gap-to-joint``, of all classes at once.

    ``states`` counts sets of one state per method that lie on the disk at a time, ``rollouts`` what `Search` counts as finished.
    """

    search: int
    scoring: int
    random: int
    tuning: int
    naive: int
    rollouts: int
    states: int
    hours: float
    disk_bytes: int
    workers: int

    @property
    def trainings(self) -> int:
        return self.search + self.scoring + self.random + self.tuning


def estimate(s: CldybSettings, methods: int, unit: UnitCosts = UNKNOWN, workers: int = 1) -> Estimate:
    """Costs of a study with so many methods, ``workers`` jobs at a time."""
    arms = min(s.condensed, s.simulations) if s.selector == "mcts" else 1
    search = naive = rollouts = 1
    for t in range(2, s.tasks + 1):
        ahead = s.lookahead_at(t) if s.selector == "mcts" and s.condensed > 1 else 0
        simulations = s.simulations if ahead else arms
        joints = simulations * (ahead + 1) if s.reward == "gap-to-joint" else 0
        search += arms + simulations * ahead + joints
        naive += simulations * (t + ahead) + joints + t
        rollouts += simulations + joints + 1
    found = s.searches * (methods if s.separate else 1)
    sequences = found + s.random_sequences
    at_once = sequences if s.reward == "gap-to-joint" else 0  # all classes of a sequence, jointly
    scored = methods * s.score_seeds
    scoring, random = scored * (found * (s.tasks - 1) + 1 + at_once), scored * s.random_sequences * (s.tasks - 1)
    tuning = methods * s.tune_trials * s.tune_tasks
    if s.tune_tasks and s.tune_on == "first":  # a search for the tasks to tune on comes first
        tuning += estimate(
            replace(s, tasks=s.tune_tasks, extended_from=(), tune_tasks=0, searches=1, grow=()), methods, unit
        ).search
    total = search * methods * s.searches + scoring + random + tuning
    kept_leaves = s.simulations if s.followups != "feasible" else 0
    states = s.searches * (arms + 2 + kept_leaves) + s.score_seeds + 2 * workers + 2
    return Estimate(
        search=search * methods * s.searches,
        scoring=scoring,
        random=random,
        tuning=tuning,
        naive=tuning + methods * naive * s.searches + scored * (s.tasks * sequences + at_once),
        rollouts=methods * rollouts * s.searches + scored * (sequences + at_once),
        states=states,
        hours=(total * unit.seconds + s.searches * (s.tasks - 1) * unit.probe_seconds) / 3600 / max(1, workers),
        disk_bytes=states * unit.state_bytes + s.searches * (s.tasks - 1) * unit.probe_bytes + total * 1500,
        workers=max(1, workers),
    )


def calibrate(settings: CldybSettings, device: str) -> UnitCosts:
    """`unit_costs` of a CLDyB study, and what its probes cost.

    Raises:
        UserError: as `protocols.cldyb.study.prepare`, or a method fails on its first task.
    """
    with tempfile.TemporaryDirectory() as scratch:
        study = prepare(settings, Path(scratch), device)
        classes, k = len(study.view.class_ids), settings.classes_per_task
        [tasks] = random_sequences(study.first, study.view, min(2, settings.tasks), k, 1, settings.seed)
        unit = unit_costs(study, tasks, "test", Path(scratch), settings.tasks)
        per_class = sum(min(len(study.world.split.rows(0, part)), settings.knn_images) for part in ("train", "reward"))
        looked_at = classes * settings.probe_images + min(settings.candidates * k, classes) * per_class
        dims = sum(study.world.backbone(m.backbone).dim for m in study.methods)
    return replace(unit, probe_seconds=looked_at * unit.image_seconds, probe_bytes=4 * dims * classes)
