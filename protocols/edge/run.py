"""EDGE: hard, easy and random class sequences, and the distribution of accuracies that they reveal.

"The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?". Classes are similar or not; the sequences whose
neighbouring tasks are least and most similar are found on that similarity alone, and trained beside random ones.
``--enumerate`` trains every sequence there is, and shows how far each estimate is from the truth.

Training seeds: a random sequence has one of its own, so that their mean is over sequences and seeds, and so have the orders of RS
and own ones; hard and easy ones, the first random ones, and whatever ``--enumerate`` runs have the scoring seeds, all of them.
What ``--fit`` chooses by the accuracies of random sequences has seeds that served nothing before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from protocols.edge.export import Evaluated, export
from protocols.edge.fit_stage import FitStage, accuracy
from protocols.edge.partition import Classes
from protocols.edge.plan import (
    ExtremesPlan,
    finder,
    in_classes,
    plan,
    plan_digest,
    read_plans,
    score,
    write_plans,
)
from protocols.edge.sources import SimilaritySource
from protocols.edge.study import EdgeStudy
from protocols.edge.trained import Trained, expected
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import Tasks
from seqsearch.extremes.exact import enumerate_sequences
from seqsearch.extremes.heuristics import HEURISTICS
from seqsearch.extremes.objective import release_labels, tasks_of, toolbox_labels
from seqsearch.extremes.restarts import Run, anneal_start
from seqsearch.planners.all_classes import AllClassesPlanner
from seqsearch.planners.fixed import FixedPlanner, FixedSequence, GrowingPlanner
from seqsearch.planners.replicates import of_given, of_order, scoring
from seqsearch.results.schema import PLANS
from seqsearch.similarity.features import from_confusion, from_prototypes
from seqsearch.similarity.matrix import Similarity
from seqsearch.stats.sampling import parse_target, wanted


class EdgeRun(ProtocolRun):
    """One session of an EDGE run, and its progress."""

    def __init__(self, session: Session, study: EdgeStudy) -> None:
        self.session, self.study = session, study
        self.similarities: list[Similarity] = []
        self.plans: list[ExtremesPlan] = []
        self.planners: dict[str, FixedPlanner] = {}
        self.fit = FitStage(session, study)

    def run(self) -> None:
        """Similarity, extremes, training; with ``--fit`` the extremes of the fit, and their training."""
        s = self.session
        s.extract_features(self.study)
        self.similarities = [self._similarity(source) for source in self.sources]
        self.plans = self._planned()
        self.planners = self._planners()
        planners, more, search = list(self.planners.values()), self.study.settings.fit, s.search(self.study.world)
        s.monitor.begin_phase(planners, "training", expected(self.study).rollouts)
        search.run(planners, more=more, deadline=s.deadline)
        if more:
            self.fit.decide(self.planners["random"].outcomes, self.similarities[0], self.plans[0])
            planners += self.fit.planners(self._given)
            s.monitor.begin_phase(planners, "training", expected(self.study).rollouts)
            search.run(planners, deadline=s.deadline)

    def export(self, reached: str | None) -> Exported:
        study, trained = self.study, list(self.sequences())
        everyone = tuple(m.label for m in study.methods)
        found = [(t, everyone) for t in trained] + [
            (t, (label,)) for label, own in self.fit.trained.items() for t in own
        ]
        evaluated = [Evaluated(t.name, t.kind, self.prefix(t.tasks), t.replicates, labels) for t, labels in found]
        values: list[float | None] = []
        if trained:
            shape = study.partition
            of = score(shape.similarity(self.similarities[0]), shape.units, study.settings)
            values = [of(shape.in_units(t.tasks)) for t, _ in found]
        return export(self.session, study, evaluated, values, self.similarities, self.plans, self.fit.fits, reached)

    @property
    def sources(self) -> tuple[SimilaritySource, ...]:
        return (self.study.similarity, *self.study.others)

    # -------------------------------------------------------------------------------------------- before training

    def _similarity(self, source: SimilaritySource) -> Similarity:
        """A similarity that is known, or what the classes look like to the method that is asked."""
        if source.known is not None:
            return source.known
        s, study = self.session, self.study
        assert study.similarity_method is not None
        planner = AllClassesPlanner(
            source.probe,
            study.similarity_method,
            study.view,
            study.settings.seed,
            study.settings.similarity_images,
        )
        s.monitor.begin_phase([planner], "similarity", 1)
        s.search(study.world).run([planner], more=True, deadline=s.deadline)
        of = from_prototypes if source.probe == "prototypes" else from_confusion
        return of(planner.values, study.names, planner.name)

    def _planned(self) -> list[ExtremesPlan]:
        """The extremes, from an earlier session or found now, with restarts on the workers."""
        s, study = self.session, self.study
        known = {(p.label, p.digest): p for p in read_plans(s.folder.path)}
        plans: list[ExtremesPlan] = []
        shape = study.partition
        for source, of_classes in zip(self.sources, self.similarities, strict=True):
            similarity = shape.similarity(of_classes)
            found = known.get((source.label, plan_digest(similarity, shape.units, study.settings)))
            if found is None:
                s.monitor.show_planning()
                restarts = self._restarts()
                with s.deadline.interrupting():
                    made = plan(source.label, similarity, shape.units, study.settings, restarts)
                found = in_classes(made, shape)
            plans.append(found)
            if found.says_nothing:
                s.monitor.say("flat similarity", found.says_nothing)
        write_plans(s.folder.file(PLANS), plans, study.names)
        return plans

    def _restarts(self) -> Run | None:
        """How restarts of the annealing are run: by the workers, which are there before the run's time begins."""
        if finder(self.study.partition.units, self.study.settings) != "anneal":
            return None
        evaluator = self.session.evaluator(self.study.world)
        return lambda starts: evaluator.map(anneal_start, starts)

    # -------------------------------------------------------------------------------------------- training

    def _planners(self) -> dict[str, FixedPlanner]:
        """Extremes and given orders first, then random sequences, then all others there are."""
        study, t = self.study, self.study.settings

        def given(name: str, sequences: Sequence[Trained]) -> FixedPlanner:
            return FixedPlanner(name, lambda: [self._given(s) for s in sequences], study.methods, t.seed)

        made = {"chosen": given("chosen", self.chosen)}
        made["random"] = GrowingPlanner(
            "random",
            lambda number: self._given(self.random(number)),
            study.methods,
            t.seed,
            first=t.random_sequences,
            most=t.max_sequences if t.until else t.random_sequences,
            wanted=self._wanted,
        )
        if t.enumerate:
            made["every"] = given("every", self.every)
        return made

    def _given(self, t: Trained) -> FixedSequence:
        return FixedSequence(self.prefix(t.tasks), t.replicates)

    def prefix(self, tasks: Classes) -> Tasks:
        """The tasks of these classes in play."""
        view = self.study.view
        return tuple(view.task(view.class_ids[c] for c in task) for task in tasks)

    @cached_property
    def chosen(self) -> list[Trained]:
        """Extremes (of further similarities with ``@LABEL`` behind their names), named orders, the orders of RS, own orders."""
        study, t = self.study, self.study.settings
        seeds = tuple(scoring(t.score_seeds))
        found = []
        for number, p in enumerate(self.plans):
            suffix = f"@{p.label}" if number else ""
            found += [Trained(f"hard-{i}{suffix}", "hard", e.tasks, seeds) for i, e in enumerate(p.hard)]
            found += [Trained(f"easy-{i}{suffix}", "easy", e.tasks, seeds) for i, e in enumerate(p.easy)]
        found += [Trained(f"named-{name}", "named", tasks, seeds) for name, tasks in self._named()]
        labels = release_labels if t.rs_draw == "release" else toolbox_labels
        shape, k = study.partition, len(study.sizes)
        given = [(f"rs-{s}", shape.classes(tasks_of(labels(shape.units, s), k))) for s in t.drawn_seeds()]
        given += [(f"own-{order.name}", order.tasks) for order in study.orders]
        crossed = seeds if t.enumerate else ()
        return found + [Trained(name, "given", tasks, (of_given(i), *crossed)) for i, (name, tasks) in enumerate(given)]

    def _named(self) -> Iterator[tuple[str, Classes]]:
        """The orders of ``--heuristics`` by the first similarity."""
        shape, names = self.study.partition, self.study.settings.named_orders()
        similarity = np.asarray(shape.similarity(self.similarities[0]).values, np.float64) if names else np.zeros(0)
        yield from ((name, shape.classes(HEURISTICS[name](similarity, shape.units))) for name in names)

    def random(self, number: int) -> Trained:
        """A random sequence: with a seed of its own, the first ones with the scoring seeds, too."""
        t = self.study.settings
        crossed = scoring(t.score_seeds) if number < t.crossed else ()
        tasks = self.study.partition.random(t.seed, number)
        return Trained(f"random-{number}", "random", tasks, (of_order(number), *crossed))

    @cached_property
    def every(self) -> list[Trained]:
        """All sequences there are."""
        shape, seeds = self.study.partition, tuple(scoring(self.study.settings.score_seeds))
        return [
            Trained(f"every-{i}", "enumerated", shape.classes(tasks_of(labels, len(shape.sizes))), seeds)
            for i, labels in enumerate(enumerate_sequences(shape.units))
        ]

    def sequences(self) -> Iterator[Trained]:
        """All that are trained, or were begun."""
        if not self.plans:
            return
        yield from self.chosen
        drawn = len(self.planners["random"].sequences) if self.planners else 0
        yield from map(self.random, range(drawn))
        if self.study.settings.enumerate:
            yield from self.every

    def _wanted(self, outcomes: list[list[Outcome]]) -> int:
        """Random sequences that ``--until`` asks for by those of a method so far; sequences that failed do not count."""
        until = self.study.settings.until
        if not until:
            return 0
        known = [a for row in outcomes if (a := accuracy(row[0])) is not None]
        return len(outcomes) - len(known) + wanted(np.array(known), parse_target(until))
