"""The main path: ask -> submit -> wait -> journal -> tell.

A planner asks for rollouts, each of which learns a sequence of tasks. A rollout is broken into edges here; an *edge* learns one
task from the state of the tasks before it (its *parent*). An edge that is in the journal is not run again. An edge that is in
flight is waited for by every rollout that needs it (single-flight). So nothing is trained twice, and a resumed run replays its
past in milliseconds.

An *additive* method (`seqsearch.methods.base.Additive`) learns a *part* of each task that depends only on the task and on the
first few tasks (their number is `MethodSpec.anchor`). The part is trained once, in the *home* edge (`Edge.home`): the edge that
learns the task directly after those first tasks. Any other edge that learns the task adds the part (`StateKey.part`) to its
parent, so its home edge is run before it.

States are kept until they are dropped. A planner either lists states that it does not extend any more (`Planner.obsolete`), or
leaves it to the search (`Planner.frees_parents`), which counts for each state the rollouts that still need it.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from seqsearch.core import stop
from seqsearch.core.deadline import Deadline
from seqsearch.core.outcomes import EdgeResult, Outcome, ProbeResult
from seqsearch.core.types import Edge, Probe, Request, Rollout, StateKey
from seqsearch.engine.evaluator import Evaluator, Job, JobResult, Ledger, Priority
from seqsearch.planners.base import Planner


@dataclass
class Counts:
    """Counts of the work so far, replayed results included; for progress and for the table at the end."""

    trained: int = 0
    """Trainings done."""
    naive: int = 0
    """Trainings that retraining every rollout from scratch would have taken."""
    shared: int = 0
    """Results of edges that a rollout needed and that took no training for this rollout: an earlier rollout had needed the edge,
    or its state or its part existed. Counts savings within the study: the same in a resumed run. It never shrinks."""
    known: int = 0
    """Edges and probes that the journal answered at once, in this session. In a resumed run this includes everything that an
    earlier session trained."""
    in_flight: int = 0
    """Edges and probes under way."""
    troubles: dict[str, str] = field(default_factory=dict)
    """Failures of methods, each once, in order, with the traceback of the first occurrence."""
    rollouts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Rollouts finished, by planner."""


@dataclass(eq=False)
class _Pending:
    """A rollout on its way: who asked, and the edges it consists of."""

    planner: Planner
    priority: Priority
    rollout: Rollout
    edges: list[Edge]
    results: list[EdgeResult] = field(default_factory=list)
    awaited: Edge | None = None
    """The edge last submitted or joined."""


class Search:
    """Drives planners with an evaluator.

    Args:
        evaluator: runs edges and probes.
        journal: the store of known results, to which new ones are added: the run's journal, or a way to it.
        observe: called after every change with the counts, for progress.
    """

    def __init__(
        self, evaluator: Evaluator, journal: Ledger, observe: Callable[[Counts], None] = lambda _: None
    ) -> None:
        self.evaluator, self.journal, self.observe = evaluator, journal, observe
        self.counts = Counts()
        self._waiting: dict[str, list[_Pending]] = {}
        self._probing: dict[str, list[tuple[Planner, Probe]]] = {}
        self._needed: Counter[str] = Counter()
        """How many rollouts still need a state or part, of planners with `Planner.frees_parents`."""
        self._numbers = itertools.count()
        self.edges: dict[str, Edge] = {}
        """Every edge that was asked for, by the state it trains."""
        self._answered: set[str] = set()
        """Edges whose results some rollout has had."""
        self.counts.trained = journal.trained

    def run(self, planners: Sequence[Planner], *, more: bool = False, deadline: Deadline | None = None) -> None:
        """Until every planner is done. Earlier planners have priority; later ones fill what is idle.

        ``more`` says that other planners will follow, so that states are not yet dropped.

        Raises:
            TimeIsUp: the ``deadline`` passed while something was missing that the journal does not know. What was under way is
                given up; all that arrived is journalled, and every planner has gone as far as it allows.
            Stopped: a signal asked the process to stop.
        """
        deadline = deadline or Deadline()
        while True:
            stop.check()
            asked = self._ask(planners)
            if not asked and not self._in_flight():
                break
            if not asked:
                with deadline.interrupting():
                    finished = self.evaluator.wait()
                self.journal.add(*(result for _, result in finished))
                for job, result in finished:
                    self._finish(job, result)
            self.counts.in_flight = self._in_flight()
            self.observe(self.counts)
        if not more:
            self.evaluator.drop([*self.edges, *filter(None, {e.key.part for e in self.edges.values()})])
        stuck = [p.name for p in planners if not p.done]
        if stuck:
            raise RuntimeError(f"planners wait for answers that nobody is computing: {stuck}")

    def _ask(self, planners: Sequence[Planner]) -> bool:
        asked = False
        for rank, planner in enumerate(planners):
            requests = planner.ask()
            if planner.frees_parents:
                edges = [e for r in requests if isinstance(r, Rollout) for e in r.edges()]
                self._needed.update(digest for e in edges for digest in (e.key.parent.digest, e.key.part))
            for request in requests:
                asked = True
                self._start(planner, (rank, next(self._numbers)), request)
            if obsolete := planner.obsolete():
                self._drop(obsolete)
        return asked

    def _drop(self, states: Iterable[str]) -> None:
        """Drop states that no planner will extend, except for those that stay until all is done (`_stays`)."""
        edges = {s: self.edges.get(s) for s in states}
        self.evaluator.drop([s for s, e in edges.items() if e is None or not _stays(e.key)])

    def _in_flight(self) -> int:
        return len(self._waiting) + len(self._probing)

    def _start(self, planner: Planner, priority: Priority, request: Request) -> None:
        if isinstance(request, Rollout):
            self._advance(_Pending(planner, priority, request, request.edges()))
            return
        known = self.journal.probe(request.digest)
        if known is not None:
            self.counts.known += 1
            planner.tell(request, known)
        elif request.digest in self._probing:
            self._probing[request.digest].append((planner, request))
        else:
            self._probing[request.digest] = [(planner, request)]
            self.evaluator.submit(request, priority)

    def _advance(self, pending: _Pending) -> None:
        """Move a rollout along its edges as far as results are known; submit or join the first unknown one."""
        while len(pending.results) < len(pending.edges):
            edge = pending.edges[len(pending.results)]
            self._note(edge)
            known = result_of(edge, self.journal)
            if known is None:
                part_is_trained = self.journal.edge(edge.home.digest) is not None
                self._await(pending, edge if part_is_trained else edge.home)
                return
            self.counts.known += edge is not pending.awaited
            took_no_training = known.status == "ok" and not known.trained
            self.counts.shared += edge.digest in self._answered or took_no_training
            self._answered.add(edge.digest)
            pending.results.append(known)
            if known.status != "ok":
                break
            if pending.planner.frees_parents:
                self._release(edge)
        self._conclude(pending)

    def _note(self, edge: Edge) -> None:
        """Remember an edge by its state. If several methods share the state, the edge of the method whose label comes first in
        the alphabet is kept, so that the order in which they ask does not matter."""
        known = self.edges.get(edge.key.digest, edge)
        self.edges[edge.key.digest] = min(known, edge, key=lambda e: e.key.method.label)

    def _await(self, pending: _Pending, edge: Edge) -> None:
        """Submit an edge, or join those who wait for it."""
        pending.awaited = edge
        self._note(edge)
        if edge.digest in self._waiting:
            self._waiting[edge.digest].append(pending)
        else:
            self._waiting[edge.digest] = [pending]
            self.evaluator.submit(edge, pending.priority)

    def _release(self, edge: Edge) -> None:
        """Count one rollout less that needs the parent and the part of this edge, and drop those that no rollout needs."""
        for digest in (edge.key.parent.digest, edge.key.part):
            self._needed[digest] -= 1
            if digest and self._needed[digest] <= 0 and not _stays(edge.key.parent):
                self._drop([digest])

    def _finish(self, job: Job, result: JobResult) -> None:
        self.counts.trained = self.journal.trained
        if isinstance(job, Edge):
            for pending in self._waiting.pop(job.digest):
                self._advance(pending)
        else:
            assert isinstance(result, ProbeResult)
            for planner, probe in self._probing.pop(job.digest):
                planner.tell(probe, result)

    def _conclude(self, pending: _Pending) -> None:
        self.counts.naive += len(pending.results)
        last = pending.results[-1]
        if last.status != "ok":
            line = f"method {pending.rollout.key.method.label!r} {last.status}: {last.message}"
            self.counts.troubles.setdefault(line, last.traceback)
        self.counts.rollouts[pending.planner.name] += 1
        pending.planner.tell(
            pending.rollout, outcome(pending.rollout, [s for r in pending.results for s in r.each_step()])
        )


def _stays(key: StateKey) -> bool:
    """Whether a state is kept until all planners are done: the first task, which other planners share, and the first tasks that
    the parts of an additive method depend on."""
    return len(key.prefix) <= max(1, key.method.anchor or 0)


def result_of(edge: Edge, ledger: Ledger) -> EdgeResult | None:
    """Return the known result of an edge. If its home edge failed, so that there is no part to add, it is the result of the home
    edge."""
    known = ledger.edge(edge.digest)
    if known is not None:
        return known
    learned = ledger.edge(edge.home.digest)
    if learned is None or learned.status == "ok":
        return None
    return replace(learned, digest=edge.digest, state=edge.key.digest, trained=())


def outcome(rollout: Rollout, results: Sequence[EdgeResult]) -> Outcome:
    """Assemble the accuracy matrices ``[T, T]`` of a rollout from the rows of its edges."""
    n = len(rollout.key.prefix)
    accuracy, masked = np.full((n, n), np.nan), np.full((n, n), np.nan)
    for t, result in enumerate(results):
        # Rows are for tasks: after t + 1 tasks there are t + 1 groups of test images, one for each task. After a segment of a
        # stream there are as many groups as the stream is evaluated on, so that its row stays NaN.
        if result.status == "ok" and len(result.counts) == t + 1:
            evaluated = np.array(result.counts)
            accuracy[t, : t + 1] = np.array(result.correct) / evaluated
            if result.masked_correct:
                masked[t, : t + 1] = np.array(result.masked_correct) / evaluated
    last = results[-1]
    counts = next((r.counts for r in reversed(results) if r.status == "ok"), ())
    return Outcome(
        rollout.digest,
        last.status,
        accuracy,
        masked,
        counts,
        last.feature_space,
        last.footprint,
        sum(r.train_seconds for r in results),
        last.message,
        tuple(results),
    )
