"""EDGE: hard, easy and random class sequences, and the distribution of accuracies that they reveal.

"The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?". Classes are similar or not; the sequences whose
neighbouring tasks are least and most similar are found on that similarity alone, and trained beside random ones with the same
training seeds. ``--enumerate`` trains every sequence there is, and shows how far each estimate is from the truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from protocols.edge.export import export
from protocols.edge.plan import Classes, ExtremesPlan, plan, plan_digest, random_tasks, read_plans, score, write_plans
from protocols.edge.study import EdgeStudy, SimilaritySource
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from protocols.running.snapshot import Expected
from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import Tasks
from seqsearch.distribution.adaptive import narrow_enough, parse_target
from seqsearch.distribution.estimate import estimate
from seqsearch.distribution.sampling import number_of_sequences
from seqsearch.extremes.exact import enumerate_sequences
from seqsearch.extremes.objective import tasks_of, toolbox_labels
from seqsearch.extremes.restarts import anneal_start
from seqsearch.metrics.accuracy import acc
from seqsearch.planners.all_classes import AllClassesPlanner
from seqsearch.planners.given import GivenPlanner, GivenSequence, GrowingPlanner, with_replicates
from seqsearch.planners.replicates import scoring
from seqsearch.results.rows import SequenceKind
from seqsearch.similarity.features import from_confusion, from_prototypes
from seqsearch.similarity.matrix import Similarity

BATCH = 5
"""Random sequences that ``--until`` adds at a time."""


@dataclass(frozen=True)
class Trained:
    """A sequence of the study, and what the objective says of it."""

    name: str
    kind: SequenceKind
    tasks: Classes
    value: float | None


class EdgeRun(ProtocolRun):
    """What is done in one session, and how far it has come."""

    def __init__(self, session: Session, study: EdgeStudy) -> None:
        self.session, self.study = session, study
        self.similarities: list[Similarity] = []
        self.plans: list[ExtremesPlan] = []
        self.planners: dict[str, GivenPlanner] = {}

    def run(self) -> None:
        """Similarity, extremes, training."""
        s = self.session
        s.extract_features(self.study)
        self.similarities = [self._similarity(source) for source in self.sources]
        self.plans = self._planned()
        self.planners = self._planners()
        planners = list(self.planners.values())
        s.monitor.watch(planners, "training", expected(self.study).rollouts)
        s.search(self.study.world).run(planners, deadline=s.deadline)

    def export(self, reached: str | None) -> Exported:
        trained = [(t.name, t.kind, self.prefix(t.tasks), t.value) for t in self.sequences()]
        return export(self.session, self.study, trained, self.similarities, self.plans, reached)

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
        s.monitor.watch([planner], "similarity", 1)
        s.search(study.world).run([planner], more=True, deadline=s.deadline)
        of = from_prototypes if source.probe == "prototypes" else from_confusion
        return of(planner.values, study.names, planner.name)

    def _planned(self) -> list[ExtremesPlan]:
        """The extremes, from an earlier session or found now, with restarts on the workers."""
        s, study = self.session, self.study
        known = {(p.label, p.digest): p for p in read_plans(s.folder.path)}
        plans: list[ExtremesPlan] = []
        for source, similarity in zip(self.sources, self.similarities, strict=True):
            found = known.get((source.label, plan_digest(similarity, study.sizes, study.settings)))
            if found is None:
                s.monitor.planning()
                with s.deadline.interrupting():
                    found = plan(
                        source.label,
                        similarity,
                        study.sizes,
                        study.settings,
                        lambda starts: s.evaluator(study.world).map(anneal_start, starts),
                    )
            plans.append(found)
        write_plans(s.folder.path, plans)
        return plans

    # -------------------------------------------------------------------------------------------- training

    def _planners(self) -> dict[str, GivenPlanner]:
        """Extremes and given orders first, then random sequences, then all others there are."""
        study, t = self.study, self.study.settings
        replicates = scoring(t.score_seeds)

        def given(name: str, sequences: Sequence[Classes]) -> GivenPlanner:
            all_given = with_replicates([self.prefix(tasks) for tasks in sequences], replicates)
            return GivenPlanner(name, lambda: all_given, study.methods, t.seed)

        def drawn(number: int) -> GivenSequence:
            return GivenSequence(self.prefix(random_tasks(study.sizes, t.seed, number)), tuple(replicates))

        made = {"chosen": given("chosen", [tasks for _, _, tasks in self.chosen])}
        made["random"] = GrowingPlanner(
            "random", drawn, study.methods, t.seed,
            first=t.random_sequences, batch=BATCH, most=t.max_sequences if t.until else t.random_sequences,
            enough=self._enough,
        )  # fmt: skip
        if t.enumerate:
            made["every"] = given("every", self.every)
        return made

    def prefix(self, tasks: Classes) -> Tasks:
        """The tasks of these classes in play."""
        view = self.study.view
        return tuple(view.task(view.class_ids[c] for c in task) for task in tasks)

    @cached_property
    def chosen(self) -> list[tuple[str, SequenceKind, Classes]]:
        """Extremes (of further similarities with ``@LABEL`` behind their names), the orders that toolboxes draw, own orders."""
        study = self.study
        found: list[tuple[str, SequenceKind, Classes]] = []
        for number, p in enumerate(self.plans):
            suffix = f"@{p.label}" if number else ""
            found += [(f"hard-{i}{suffix}", "hard", e.tasks) for i, e in enumerate(p.hard)]
            found += [(f"easy-{i}{suffix}", "easy", e.tasks) for i, e in enumerate(p.easy)]
        for seed in study.settings.toolbox_seeds():
            found.append((f"rs-{seed}", "given", tasks_of(toolbox_labels(study.sizes, seed), len(study.sizes))))
        return found + [(f"own-{order.name}", "given", order.tasks) for order in study.orders]

    @cached_property
    def every(self) -> list[Classes]:
        """All sequences there are."""
        return [tasks_of(labels, len(self.study.sizes)) for labels in enumerate_sequences(self.study.sizes)]

    def sequences(self) -> Iterator[Trained]:
        """All that are trained, or were begun."""
        if not self.plans:
            return
        study, of = self.study, score(self.similarities[0], self.study.sizes, self.study.settings)
        for name, kind, tasks in self.chosen:
            yield Trained(name, kind, tasks, of(tasks))
        drawn = len(self.planners["random"].sequences) if self.planners else 0
        for i in range(drawn):
            tasks = random_tasks(study.sizes, study.settings.seed, i)
            yield Trained(f"random-{i}", "random", tasks, of(tasks))
        for i, tasks in enumerate(self.every if study.settings.enumerate else ()):
            yield Trained(f"every-{i}", "enumerated", tasks, of(tasks))

    def _enough(self, outcomes: list[list[Outcome]]) -> bool:
        """Whether ``--until`` is reached for a method; sequences that failed do not count."""
        until = self.study.settings.until
        if not until:
            return True
        table = [[acc(o.accuracy) for o in row] for row in outcomes if all(o.status == "ok" for o in row)]
        return len(table) > 2 and narrow_enough(estimate(np.array(table)), *parse_target(until))


def expected(study: EdgeStudy) -> Expected:
    """What is trained at most; sequences that begin alike share their first trainings, which only ``every`` counts on."""
    t, k = study.settings, len(study.sizes)
    chosen = 2 * t.extremes * (1 + len(study.others)) + len(t.toolbox_seeds()) + len(study.orders)
    random = t.max_sequences if t.until else t.random_sequences
    every = number_of_sequences(study.sizes) if t.enumerate else 0
    trainings = shared_trainings(study.sizes) if t.enumerate else (chosen + random) * k
    times = len(study.methods) * t.score_seeds
    return Expected((chosen + random + every) * times, trainings * times, t.tasks)


def shared_trainings(sizes: Sequence[int]) -> int:
    """Trainings of one method and seed over all sequences: different beginnings of each length (6 classes
    in 3 tasks: 15 + 90 + 90)."""
    n = sum(sizes)
    ends = [sum(sizes[: t + 1]) for t in range(len(sizes))]
    return sum(
        number_of_sequences((*sizes[: t + 1], n - end)) if end < n else number_of_sequences(sizes)
        for t, end in enumerate(ends)
    )
