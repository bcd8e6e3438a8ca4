"""The planners of a duel: searches for sequences that separate the methods, and random sequences.

Selected extremes are trained again with fresh seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from protocols.evaluate.common.evaluations import Asked, Evaluations
from protocols.evaluate.duel.study import DuelStudy
from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import Task, Tasks
from seqsearch.planners.base import Planner
from seqsearch.planners.fixed import FixedPlanner, FixedSequence, GrowingPlanner, with_replicates
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.replicates import of_order, scoring
from seqsearch.results.run import Scored
from seqsearch.stats.accuracy import acc
from seqsearch.stats.interval import AGREE
from seqsearch.stats.paired import Paired, paired
from seqsearch.stats.quantiles import running_share

DIGITS = 12
"""Of an accuracy: sums of shares of images differ in more only by the order in which they were added."""
WEIGHTS = {"a": (1.0, -1.0), "b": (-1.0, 1.0)}
"""Of the rewards of A and B, which are larger where a sequence is harder: A's less B's where the worst for A is searched."""


class RandomPlanner(GrowingPlanner):
    """Random sequences: all that were asked for, and with ``--until`` more, some at a time, until there is a verdict."""

    def __init__(self, study: DuelStudy, batch: int) -> None:
        s, crossed = study.settings, min(study.settings.crossed_orders, study.asked)
        self._labels, self._batch = study.labels, batch

        def draw(number: int) -> FixedSequence:
            more = scoring(s.score_seeds) if number < crossed else ()
            return FixedSequence(study.random(number).tasks, (of_order(number), *more))

        most = s.max_sequences if s.until != "none" else study.asked
        super().__init__("random", draw, study.methods, s.seed, first=study.asked, most=most, wanted=self._more)

    def pairs(self) -> tuple[list[int], list[float], list[float]]:
        """Numbers of the sequences that both methods were evaluated on to their end, and final accuracies of A and B."""
        a, b = (self.outcomes.get(label, []) for label in self._labels)
        there = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x[0].status == y[0].status == "ok"]
        return there, [final(a[i][0]) for i in there], [final(b[i][0]) for i in there]

    def compared(self) -> tuple[list[int], Paired | None]:
        """The numbers, and the comparison; None without a pair."""
        there, a, b = self.pairs()
        return there, paired(a, b) if there else None

    def _more(self, outcomes: list[list[Outcome]]) -> int:
        """Random sequences in all that are wanted now, whichever method's outcomes are looked at."""
        n = len(outcomes)
        return n if n >= self._most or settled(self.compared()[1]) else n + self._batch


def settled(p: Paired | None) -> bool:
    """Whether one method is shown to be above the other on most sequences, by bounds that hold however often one looks."""
    return p is not None and max(running_share(p.counts[0], p.L).low, running_share(p.counts[2], p.L).low) > 0.5


def final(evaluated: Outcome | Scored) -> float:
    """Final accuracy, rounded, so that equal ones are ties."""
    return round(acc(evaluated.accuracy), DIGITS)


@dataclass(frozen=True)
class Plans:
    """The planners of a duel, in order of priority.

    Attributes:
        searches: by the method that the sequence is to be worst for.
        random: None without random sequences.
        evaluations: of the sequences of ``--on`` that are not random.
        again: the found ones, and the worst of the random ones, with fresh seeds.
    """

    searches: dict[str, CldybPlanner] = field(default_factory=dict)
    random: RandomPlanner | None = None
    evaluations: Evaluations | None = None
    again: tuple[FixedPlanner, ...] = ()

    @property
    def all(self) -> list[Planner]:
        drawn = [self.random] if self.random else []
        given = self.evaluations.planners if self.evaluations else []
        return [*self.searches.values(), *drawn, *given, *self.again]


def make_plans(study: DuelStudy, batch: int) -> Plans:
    """All that is trained."""
    s, seeds = study.settings, tuple(scoring(study.settings.score_seeds))
    searches = {
        side: CldybPlanner(f"search-{side}", study.methods, study.view, first, s, s.seed, i, WEIGHTS[side])
        for i, side in enumerate(s.directions)
        if (first := study.first)
    }
    random = RandomPlanner(study, batch) if study.asked else None
    evaluations = None
    if study.source and study.given:
        evaluations = Evaluations(
            study.source, [Asked(m, g, seeds) for m in study.methods for g in study.given], s.seed
        )

    def again(name: str, sequences: Callable[[], list[Tasks] | None]) -> FixedPlanner:
        def given() -> Sequence[FixedSequence] | None:
            there = sequences()
            return None if there is None else with_replicates(there, seeds)

        return FixedPlanner(name, given, study.methods, s.seed)

    def found() -> list[Tasks] | None:
        planners = searches.values()
        return [tuple(p.sequence) for p in planners] if all(p.done for p in planners) else None

    def worst() -> list[Tasks] | None:
        if random is None or not random.done:
            return None
        return [tuple(t for t in random.sequences[i] if isinstance(t, Task)) for i in worst_numbers(*random.compared())]

    fresh = [again("found", found)] if searches else []
    return Plans(searches, random, evaluations, (*fresh, *([again("worst", worst)] if random else [])))


def worst_numbers(there: Sequence[int], p: Paired | None) -> list[int]:
    """Of the random sequences with the lowest and the highest gap; none where all gaps are the same."""
    if p is None or p.worst_b.value - p.worst_a.value <= AGREE:
        return []
    return [there[p.worst_a.number], there[p.worst_b.number]]
