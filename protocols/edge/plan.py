"""The extreme sequences of an EDGE study: found once, written into the run folder, read again on resume."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from protocols.edge.partition import Classes, Partition
from protocols.edge.plan_settings import ExtremesSettings
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.core.typed import fits
from seqsearch.extremes.exact import is_small
from seqsearch.extremes.find import Extreme, find
from seqsearch.extremes.objective import Objective, Problem, labels_of, random_labels, tasks_of
from seqsearch.extremes.on_features import FeatureProblem
from seqsearch.extremes.paper import Direction, PaperOptions
from seqsearch.extremes.restarts import FinderName
from seqsearch.results.schema import PLANS
from seqsearch.similarity.cosines import PREFIX, ClassFeatures
from seqsearch.similarity.matrix import Similarity
from seqsearch.storage.files import write_json
from seqsearch.storage.reading import json_object

SIDES = ("hard", "easy")
ROUNDING = 1e-12
"""Scores that differ by less, relative to the larger one, are the same."""
LARGEST = 1 << 28
"""Bytes of ``plan.json``."""
HALVES: dict[Direction, float] = {"hard": 0.5, "easy": 1.0}
"""Of the time that is left, what an end may take; one after the other."""
LEAST_BUDGET = 1e-3
"""Seconds of a search whose time is up before it begins: it takes a random sequence."""
Run = Callable[..., Any]


@dataclass(frozen=True)
class ExtremesPlan:
    """The extremes of one similarity.

    Attributes:
        label: what the user called the similarity; ``source`` says what it is.
        digest: of the similarity and of all settings that decide the extremes.
        sizes: classes of each task.
        mean, sd: of the objective over all sequences; None where it is not defined (one task).
        hard, easy: most extreme first.
    """

    label: str
    source: str
    digest: str
    objective: str
    sizes: tuple[int, ...]
    mean: float | None
    sd: float | None
    hard: tuple[Extreme, ...]
    easy: tuple[Extreme, ...]

    @property
    def says_nothing(self) -> str:
        """That hard and easy score the same, but for rounding, so that they mean nothing; empty where they do not."""
        hard, easy = self.hard[0].value, self.easy[0].value
        if hard is None or easy is None or abs(hard - easy) > ROUNDING * max(abs(hard), abs(easy)):
            return ""
        return (
            f"The similarity ({self.source}) does not discriminate: its hard and its easy sequence have the same S "
            f"({hard + 0.0:.5g}), so that they are no more than random ones. Give another --similarity."
        )


def plan(
    label: str,
    similarity: Similarity | ClassFeatures,
    sizes: Sequence[int],
    s: ExtremesSettings,
    run: Run | None = None,
) -> ExtremesPlan:
    """Find hard and easy sequences; ``run`` maps a function over independent restarts (default: one after the other).

    Raises:
        UserError: too many sequences for ``--planner exact``.
    """
    problem = problem_of(similarity, sizes, s)
    start = time.perf_counter()
    with threadpool_limits(1):  # as in workers: the last bits of a bound depend on the number of threads
        mean, sd = problem.mean_random(), problem.sd_random()
        found = _both_ways(problem, s, start + s.budget, run)
    low, high = tuple(found["hard"]), tuple(found["easy"])
    hard, easy = (low, high) if s.hard_is() == "low" else (high, low)
    return ExtremesPlan(
        label,
        similarity.source,
        plan_digest(similarity, sizes, s),
        s.objective,
        tuple(sizes),
        mean,
        sd,
        hard,
        easy,
    )


def _both_ways(problem: Problem, s: ExtremesSettings, until: float, run: Run | None) -> dict[Direction, list[Extreme]]:
    """Both ends: the first in half of the time until ``until`` (s), if there is a budget, the second in what is left."""
    return {
        direction: find(
            problem,
            problem.sizes,
            direction,
            planner=finder(problem.sizes, s),
            paper=paper_options(s),
            seed=s.seed,
            moves=s.moves or None,
            budget=max(LEAST_BUDGET, share * (until - time.perf_counter())) if s.budget else None,
            restarts=s.restarts,
            count=s.extremes,
            diversity=s.diversity,
            bound=s.bound,
            run=run,
        )
        for direction, share in HALVES.items()
    }


def problem_of(similarity: Similarity | ClassFeatures, sizes: Sequence[int], s: ExtremesSettings) -> Problem:
    """The problem whose extremes are looked for; neither matrix nor features are copied."""
    if isinstance(similarity, ClassFeatures):
        return FeatureProblem(np.asarray(similarity.values, np.float32), sizes, objective_of(s))
    return Problem.on(similarity.values, sizes, objective_of(s))


def finder(sizes: Sequence[int], s: ExtremesSettings) -> FinderName:
    """Return the name of the search for the extremes.

    ``--planner auto`` enumerates all sequences if these are few and no annealing was asked for.
    """
    if s.planner != "auto":
        return s.planner
    if s.similarity.startswith(PREFIX):
        return "anneal"
    return "exact" if not (s.moves or s.budget) and is_small(sizes, s.extremes) else "anneal"


def objective_of(s: ExtremesSettings) -> Objective:
    """Return the objective that the extremes maximise or minimise."""
    return Objective.named(s.objective, s.lag_weights() if s.objective == "lags" else None)


def paper_options(s: ExtremesSettings) -> PaperOptions:
    """How ``--planner paper`` reads the paper."""
    return PaperOptions(
        linkage=s.paper_linkage,
        granularities=s.granularities(),
        greedy=s.paper_greedy,
        easy=s.paper_easy,
        split=s.paper_split,
    )


def plan_digest(similarity: Similarity | ClassFeatures, sizes: Sequence[int], s: ExtremesSettings) -> str:
    """Identity of a plan: of what it was made from."""
    decides = (
        s.objective, s.lags, s.hard_is(), finder(sizes, s), s.moves, s.budget, s.restarts, s.extremes, s.diversity, s.bound,
        s.paper_linkage, s.paper_greedy, s.paper_easy, s.paper_split, s.paper_granularities, s.seed,
    )  # fmt: skip
    return digest_of("plan", similarity.digest, list(sizes), decides)


def score(
    similarity: Similarity | ClassFeatures, sizes: Sequence[int], s: ExtremesSettings
) -> Callable[[Classes], float | None]:
    """The objective of a sequence."""
    problem = problem_of(similarity, sizes, s)
    return lambda tasks: problem.score(labels_of(tasks))


def in_classes(found: ExtremesPlan, partition: Partition) -> ExtremesPlan:
    """The plan of units (`Partition`) with the classes of their tasks."""
    hard, easy = (tuple(replace(e, tasks=partition.classes(e.tasks)) for e in of) for of in (found.hard, found.easy))
    return replace(found, sizes=partition.sizes, hard=hard, easy=easy)


def random_tasks(sizes: Sequence[int], seed: int, number: int) -> Classes:
    """A random sequence."""
    return tasks_of(random_labels(sizes, seed, number), len(sizes))


# ------------------------------------------------------------------------------------------------ file


def write_plans(path: Path, plans: Sequence[ExtremesPlan], names: Sequence[str] = ()) -> None:
    """Into ``plan.json``, with the ``names`` ``[N]`` of the classes where they are known: for people, nothing reads them."""
    said = [asdict(p) for p in plans]
    write_json(path, {"plans": [{**p, **_with_names(p, names), "checksum": _checksum(p)} for p in said]})


def _with_names(said: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The extremes of a plan, each with the names of the classes of its tasks."""
    if not names:
        return {}
    return {
        side: [{**e, "names": [[printable(names[c]) for c in task] for task in e["tasks"]]} for e in said[side]]
        for side in SIDES
    }


def read_plans(folder: Path) -> list[ExtremesPlan]:
    """Those of ``plan.json``; none if there is no such file, or nothing in it.

    Raises:
        UserError: it is damaged.
    """
    path = folder / PLANS
    if not os.path.lexists(path) or not path.lstat().st_size:
        return []
    said = json_object(path, most=LARGEST)
    try:
        return [_plan(p) for p in said["plans"]]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not as it was written ({error}): remove it to have it planned again") from None


def _checksum(said: dict[str, Any]) -> str:
    return digest_of("plan", json.loads(json.dumps(said)))


def _plan(said: dict[str, Any]) -> ExtremesPlan:
    said = {**said, **{side: [{k: v for k, v in e.items() if k != "names"} for e in said[side]] for side in SIDES}}
    if said.pop("checksum", None) != _checksum(said):
        raise ValueError("its checksum says that it was changed")
    said.pop("sd_draws", None)  # of versions that estimated sd from so many sequences
    extremes = {side: tuple(_extreme(e) for e in said[side]) for side in SIDES}
    made = ExtremesPlan(**{**said, "sizes": tuple(said["sizes"]), **extremes})
    n = sum(made.sizes)
    for e in (*made.hard, *made.easy):
        if [len(t) for t in e.tasks] != list(made.sizes) or sorted(c for t in e.tasks for c in t) != list(range(n)):
            raise ValueError("a sequence that is no partition of the classes")
    if not made.hard or not made.easy or not fits(made.digest, str):
        raise ValueError("no sequences, or of what")
    return made


def _extreme(said: dict[str, Any]) -> Extreme:
    return Extreme(**{**said, "tasks": tuple(tuple(int(c) for c in task) for task in said["tasks"])})
