"""What a CLDyB study will cost: trainings from its settings, hours and disk from one real training of each method."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import CldybStudy, prepare
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


def estimate(
    s: CldybSettings, methods: int, unit: UnitCosts = UNKNOWN, workers: int = 1, instead: UnitCosts | None = None
) -> Estimate:
    """Costs of a study with so many methods, ``workers`` jobs at a time; what is screened out is not taken off.

    ``instead``: what the surrogates take, if they search; its ``state_bytes`` are of all that is trained.
    """
    arms = min(s.condensed, s.simulations) if s.selector == "mcts" else 1
    search = naive = rollouts = 1
    for t in range(2, s.tasks + 1):
        ahead = s.lookahead_at(t) if s.selector == "mcts" and s.condensed > 1 else 0
        simulations = s.simulations if ahead else arms
        joints = simulations * (ahead + 1) if s.reward == "gap-to-joint" else 0
        search += arms + simulations * ahead + joints
        naive += simulations * (t + ahead) + joints + t
        rollouts += simulations + joints + 1
    groups, members = s.searched
    found, searched = s.searches * groups, s.searches * members
    sequences = found + s.random_sequences
    at_once = sequences if s.reward == "gap-to-joint" else 0  # all classes of a sequence, jointly
    scored = methods * s.score_seeds
    scoring, random = scored * (found * (s.tasks - 1) + 1 + at_once), scored * s.random_sequences * (s.tasks - 1)
    tuning = methods * s.tune_trials * s.tune_tasks
    if s.tune_tasks and s.tune_on == "first":  # a search for the tasks to tune on comes first
        alone = replace(s, separate=False, leave_one_out=False, searches=1, tune_tasks=0, grow=())
        tuning += estimate(replace(alone, tasks=s.tune_tasks, extended_from=()), methods, unit).search
    total = search * searched + scoring + random + tuning
    by_searches = instead or unit
    seconds = search * searched * by_searches.seconds + (total - search * searched) * unit.seconds
    sets = s.searches * (methods - 1 if s.leave_one_out else 1)
    probed = sets * (s.tasks - 1)
    kept_leaves = s.simulations if s.followups != "feasible" else 0
    states = sets * (arms + 2 + kept_leaves) + s.score_seeds + 2 * workers + 2
    return Estimate(
        search=search * searched,
        scoring=scoring,
        random=random,
        tuning=tuning,
        naive=tuning + naive * searched + scored * (s.tasks * sequences + at_once),
        rollouts=rollouts * searched + scored * (sequences + at_once),
        states=states,
        hours=(seconds + probed * by_searches.probe_seconds) / 3600 / max(1, workers),
        disk_bytes=states * by_searches.state_bytes + probed * by_searches.probe_bytes + total * 1500,
        workers=max(1, workers),
    )


def calibrate(settings: CldybSettings, device: str) -> tuple[UnitCosts, UnitCosts | None]:
    """`unit_costs` of a CLDyB study, and what its probes cost: of its methods, and of its surrogates if it has some.

    Raises:
        UserError: as `protocols.cldyb.study.prepare`, or a method fails on its first task.
    """
    with tempfile.TemporaryDirectory() as scratch:
        study = prepare(settings, Path(scratch), device)
        unit = _measured(study, Path(scratch))
        if not study.surrogates:
            return unit, None
        return unit, _measured(replace(study, methods=study.surrogates), Path(scratch))


def _measured(study: CldybStudy, scratch: Path) -> UnitCosts:
    s, classes = study.settings, len(study.view.class_ids)
    [tasks] = random_sequences(study.first, study.view, min(2, s.tasks), s.classes_per_task, 1, s.seed)
    unit = unit_costs(study, tasks, "test", scratch, s.tasks)
    per_class = sum(min(len(study.world.split.rows(0, part)), s.knn_images) for part in ("train", "reward"))
    looked_at = classes * s.probe_images + min(s.candidates * s.classes_per_task, classes) * per_class
    dims = sum(study.world.backbone(m.backbone).dim for m in study.methods)
    return replace(unit, probe_seconds=looked_at * unit.image_seconds, probe_bytes=4 * dims * classes)
