"""The last part of a run with ``--fit``: fit the random sequences, find extremes of the fit, train them with fresh seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from protocols.edge.fit import Fit, fit_digest, fitted, read_fits, write_fits
from protocols.edge.groups import DIGITS
from protocols.edge.plan import ExtremesPlan, random_tasks
from protocols.edge.study import EdgeStudy
from protocols.edge.trained import Trained
from protocols.running.session import Session
from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import MethodSpec
from seqsearch.planners.fixed import FixedPlanner, FixedSequence
from seqsearch.planners.replicates import fresh
from seqsearch.results.schema import FITS
from seqsearch.similarity.matrix import Similarity
from seqsearch.stats.accuracy import acc


class FitStage:
    """The fits and the sequences trained to test them, by method; both are empty before `decide`."""

    def __init__(self, session: Session, study: EdgeStudy) -> None:
        self.session, self.study = session, study
        self.fits: tuple[Fit, ...] = ()
        self.trained: dict[str, list[Trained]] = {}
        """Sequences by the label of the method that is trained on them."""

    def decide(self, outcomes: dict[str, list[list[Outcome]]], similarity: Similarity, plan: ExtremesPlan) -> None:
        """Fit ``outcomes[method label][random sequence][seed, its own first]``, unless an earlier session did."""
        s, study = self.session, self.study
        known = {label: [accuracy(row[0]) for row in rows] for label, rows in outcomes.items()}
        digest = fit_digest(similarity, study.sizes, known, study.settings)
        of, self.fits = read_fits(s.folder.path)
        if of != digest:
            drawn = len(next(iter(known.values())))
            random = [random_tasks(study.sizes, study.settings.seed, i) for i in range(drawn)]
            s.monitor.show_planning()
            with s.deadline.interrupting():
                self.fits = tuple(fitted(similarity, study.sizes, random, known, study.settings))
            write_fits(s.folder.file(FITS), digest, self.fits)
        self.trained = {f.method: self._sequences(f, plan) for f in self.fits if f.trained}

    def _sequences(self, fit: Fit, plan: ExtremesPlan) -> list[Trained]:
        """Fitted extremes, the worst and best random sequences, and the first extremes of the objective, all with fresh seeds."""
        t = self.study.settings
        seeds, suffix = tuple(fresh(t.fit_seeds)), suffix_of(fit.method, [m.label for m in self.study.methods])
        found = [
            Trained(f"fitted-{side}-{i}{suffix}", "fitted", e.tasks, seeds)
            for side, extremes in (("hard", fit.hard), ("easy", fit.easy))
            for i, e in enumerate(extremes)
        ]
        again = [
            (f"{side}-{i}", random_tasks(self.study.sizes, t.seed, number))
            for side, numbers in (("worst", fit.worst), ("best", fit.best))
            for i, number in enumerate(numbers)
        ]
        again += [("retrained-hard-0", plan.hard[0].tasks), ("retrained-easy-0", plan.easy[0].tasks)]
        return found + [Trained(f"{name}{suffix}", "retrained", tasks, seeds) for name, tasks in again]

    def planners(self, given: Callable[[Trained], FixedSequence]) -> list[FixedPlanner]:
        """One for each method whose gate is open."""
        return [self._planner(m, [given(t) for t in self.trained[m.label]]) for m in self._methods()]

    def _methods(self) -> Sequence[MethodSpec]:
        return [m for m in self.study.methods if m.label in self.trained]

    def _planner(self, method: MethodSpec, sequences: list[FixedSequence]) -> FixedPlanner:
        return FixedPlanner(f"fitted {method.label}", lambda: sequences, [method], self.study.settings.seed)


def suffix_of(method: str, methods: Sequence[str]) -> str:
    """Behind the names of sequences that were found for one of several methods."""
    return f"@{method}" if len(methods) > 1 else ""


def accuracy(outcome: Outcome) -> float | None:
    """Final accuracy; None of a rollout that failed."""
    return round(acc(outcome.accuracy), DIGITS) if outcome.status == "ok" else None
