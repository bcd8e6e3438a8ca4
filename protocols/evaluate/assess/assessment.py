"""The assessment that ``seqsearch assess RUN...`` shows, from the files of runs.

Figs. 3 and 4 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protocols.cldyb.compared import Evaluated, Pair, best_of
from protocols.evaluate.assess.images import (
    ImageFeatures,
    Similarities,
    TaskMap,
    Unavailable,
    image_features,
    similarities,
    task_map,
)
from protocols.evaluate.assess.inference import Inference, measure_inference
from protocols.evaluate.compare.figures import Side, side_of
from protocols.evaluate.compare.methods import unlike
from protocols.evaluate.compare.runs import ComparedRun, read_runs
from seqsearch.core.errors import UserError
from seqsearch.core.types import Task
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND, Scored

COMMON, OWN = "common", "own"
"""Sides: sequences found for several methods together, and for one method alone."""
MAPS = 10
"""Sequences that have a map, at most."""
Tasks = tuple[Task, ...]
Vectors = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class MethodAssessment:
    """A method in all respects; None where the runs do not say it.

    Attributes:
        common: on the sequences that were found for several methods together.
        own: on the sequences that were found for it alone.
        stored: bytes beyond the backbone at the end, largest over these sequences.
        seconds: training time of a common sequence, else of an own one, mean over sequences and training seeds.
        inference: passes and latency, where they were measured.
    """

    method: str
    common: Side | None
    own: Side | None
    stored: int | None
    seconds: float | None
    inference: Inference | None = None


@dataclass(frozen=True, eq=False)
class Assessment:
    """Methods of runs.

    Attributes:
        best: methods that may be the best by Acc on the common sequences (95 %); empty where they cannot be compared.
        common: the sequences that were found for several methods together.
        own: by method, those found for it alone.
        trajectories: by method, Acc_t on the common sequences, one after the other ``[S T]``; mean over training seeds.
        images: features of the images of found sequences, or why there are none.
        alike: similarity of tasks of each method's own sequences; None without features, or for fewer than two methods.
        maps: of a common sequence (`COMMON`), and of one that was found for each of the first methods alone, by its label.
        troubles: what was left out, and why.
    """

    runs: tuple[ComparedRun, ...]
    methods: tuple[MethodAssessment, ...]
    common: tuple[TaskSequence, ...]
    own: Mapping[str, tuple[TaskSequence, ...]]
    trajectories: Vectors
    images: ImageFeatures | Unavailable
    alike: Similarities | None
    maps: Mapping[str, TaskMap]
    best: tuple[str, ...]
    troubles: tuple[str, ...]


@dataclass(frozen=True)
class Wanted:
    """What is computed beside the figures of the runs' files.

    Attributes:
        pool: where the images of the runs lie now, if elsewhere.
        images: of a class, behind the similarity of tasks; 0: no images are read.
        device: ``cpu`` or ``cuda``.
        latency: whether passes and latency are measured.
    """

    pool: str | None = None
    images: int = 20
    device: str = "cpu"
    latency: bool = False


def assess(paths: Sequence[Path], wanted: Wanted, report: Callable[[str], None] = lambda text: None) -> Assessment:
    """
    Args:
        report: is given a line before each measurement.

    Raises:
        UserError: runs that cannot be read or that differ in pool, seed, first task or lengths, or without found sequences;
            latency is wanted, and the images are not here.
    """
    runs, troubles = read_runs(paths), list[str]()
    for run in runs[1:]:
        if labels := unlike(runs[0].data, run.data):
            raise UserError(
                f"{runs[0].path} and {run.path} cannot be assessed together: {', '.join(labels)} is not the same method in both "
                "(code, parameters, backbone, weights, precision, versions or device)"
            )
    found = _found(runs)
    common = tuple(s for s in found if len(s.method_ids) > 1)
    methods = tuple(dict.fromkeys(m for run in runs for m in run.data.methods))
    own = {m: of for m in methods if (of := tuple(s for s in found if s.method_ids == (m,)))}
    if not common and not own:
        raise UserError(
            "these runs hold no found sequences: name runs of seqsearch cldyb, and of seqsearch score on them"
        )
    images, inference = _features(runs, wanted), dict[str, Inference]()
    for run in runs if wanted.latency else ():
        measured, missed = measure_inference(run.path, wanted.pool, wanted.device, inference, report)
        inference, troubles = {**inference, **measured}, [*troubles, *missed]
    known = _rollouts(runs)
    assessed = tuple(_method(m, common, own.get(m, ()), known, troubles, inference) for m in methods)
    return Assessment(
        runs,
        assessed,
        common,
        own,
        {m.method: _trajectory(m.common) for m in assessed if m.common is not None},
        images,
        similarities(images, own) if isinstance(images, ImageFeatures) and len(own) > 1 else None,
        _maps(images, common, own) if isinstance(images, ImageFeatures) else {},
        _best(assessed),
        tuple(troubles),
    )


def _features(runs: Sequence[ComparedRun], wanted: Wanted) -> ImageFeatures | Unavailable:
    if not wanted.images:
        return Unavailable("no images were read (--images 0)")
    try:
        return image_features(runs, wanted.pool, wanted.images, wanted.device)
    except UserError as error:
        return Unavailable(str(error))


def _found(runs: Sequence[ComparedRun]) -> list[TaskSequence]:
    """Found sequences, each once: those of a ``score`` of a run are the run's own."""
    every = [s for run in runs for s in run.data.sequences if s.kind in FOUND]
    return list({(s.tasks, s.method_ids): s for s in reversed(every)}.values())[::-1]


def _rollouts(runs: Sequence[ComparedRun]) -> dict[tuple[Tasks, str], dict[int, Scored]]:
    """Complete rollouts by sequence and method: one for each training seed, the first where several runs have it."""
    known: dict[tuple[Tasks, str], dict[int, Scored]] = {}
    for run in runs:
        tasks = {s.sequence_id: s.tasks for s in run.data.sequences if s.kind in FOUND}
        for (name, method, seed), scored in run.data.rollouts.items():
            if name in tasks and scored.complete:
                known.setdefault((tasks[name], method), {}).setdefault(seed, scored)
    return known


def _method(
    method: str,
    common: Sequence[TaskSequence],
    own: Sequence[TaskSequence],
    known: Mapping[tuple[Tasks, str], Mapping[int, Scored]],
    troubles: list[str],
    inference: Mapping[str, Inference],
) -> MethodAssessment:
    sides, used = dict[str, Side | None](), list[Scored]()
    for name, sequences in ((COMMON, common), (OWN, own)):
        evaluated = _evaluated(method, sequences, known)
        if sequences and evaluated is None:
            troubles.append(f"{method}: not evaluated to the end on every {name} sequence, so left out there.")
        used += evaluated.flat if evaluated else []
        sides[name] = side_of("", method, name, (evaluated,), None) if evaluated else None
    stored = [b for s in used if (b := s.stored) is not None]
    timed = next((side for side in sides.values() if side), None)
    seconds = [float(s.row["train_seconds"]) for s in timed.methods[0].flat] if timed else []
    return MethodAssessment(
        method,
        sides[COMMON],
        sides[OWN],
        max(stored, default=None),
        float(np.mean(seconds)) if seconds else None,
        inference.get(method),
    )


def _evaluated(
    method: str, sequences: Sequence[TaskSequence], known: Mapping[tuple[Tasks, str], Mapping[int, Scored]]
) -> Evaluated | None:
    """On these sequences, with the training seeds that all of them have; None if there are none."""
    of = [known.get((s.tasks, method), {}) for s in sequences]
    seeds = tuple(sorted(set.intersection(*map(set, of)))) if of else ()
    return Evaluated(tuple(sequences), seeds, tuple(tuple(own[r] for r in seeds) for own in of)) if seeds else None


def _maps(
    images: ImageFeatures, common: Sequence[TaskSequence], own: Mapping[str, Sequence[TaskSequence]]
) -> dict[str, TaskMap]:
    named = [*((COMMON, s) for s in common[:1]), *((m, sequences[0]) for m, sequences in own.items())]
    return {name: found for name, s in named[:MAPS] if (found := task_map(images, s))}


def _best(methods: Sequence[MethodAssessment]) -> tuple[str, ...]:
    sides = {m.method: m.common.methods[0] for m in methods if m.common is not None}
    return best_of(list(sides), [Pair(side, Evaluated(), side.seeds) for side in sides.values()])


def _trajectory(side: Side) -> NDArray[np.float64]:
    """Acc_t after each task of each sequence, mean over training seeds ``[S T]``."""
    [evaluated] = side.methods
    curves = [
        [[np.nanmean(s.accuracy[t, : t + 1]) for t in range(len(s.accuracy))] for s in row]
        for row in evaluated.rollouts
    ]
    found: NDArray[np.float64] = np.concatenate([np.mean(row, axis=0) for row in curves])
    return found
