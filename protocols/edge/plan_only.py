"""``seqsearch edge --plan-only``: extreme sequences of a similarity, found and written; nothing is trained."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.open import connected
from protocols.edge.partition import Classes
from protocols.edge.plan import (
    ExtremesPlan,
    finder,
    plan,
    problem_of,
    random_tasks,
    read_plans,
    score,
    write_plans,
)
from protocols.edge.plan_settings import EdgePlanSettings
from protocols.edge.sources import file_of, planned_on
from protocols.running.export import run_info
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.runtime import Runtime
from protocols.running.session import Session
from protocols.running.snapshot import Expected
from seqsearch.core.errors import UserError
from seqsearch.core.memory import peak_memory
from seqsearch.core.types import ClassId, Task
from seqsearch.extremes.find import warm_up
from seqsearch.extremes.objective import task_sizes
from seqsearch.extremes.restarts import anneal_start
from seqsearch.pools.base import Pool
from seqsearch.results.in_names import InNames, in_names, read_in_names
from seqsearch.results.rows import TaskSequence
from seqsearch.results.schema import PLANS, SEQUENCES
from seqsearch.results.tables import write_sequences
from seqsearch.similarity.cosines import ClassFeatures
from seqsearch.similarity.matrix import Similarity

MOST_ROWS = 1_000_000
"""Classes of all random sequences together that are written; a seed draws further ones again."""
LARGE = 100 << 20
"""Bytes of a file that is not read twice."""


@dataclass(frozen=True)
class PlanStudy:
    """A plan without training: the similarity, and id, name and group of its classes in the same order."""

    settings: EdgePlanSettings
    similarity: Similarity | ClassFeatures
    classes: dict[ClassId, tuple[str, str]]
    sizes: tuple[int, ...]
    memory_before: float

    def identity(self) -> dict[str, Any]:
        return {"similarity": self.similarity.digest, "task_sizes": list(self.sizes)}

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        return {}

    def pools(self) -> list[dict[str, Any]]:
        return []

    def images(self) -> tuple[Pool, ...]:
        return ()


@dataclass(frozen=True)
class PlanSummary:
    """A plan, the scores of random sequences beside it, and what it took (s); None if that is not known any more.

    ``compiling``: of ``seconds``, what compiling took, or loading what was compiled before. ``sequences`` are all of
    them, with the names of their classes. ``budget`` is in seconds, 0 without one; ``memory``: bytes that the process took at
    most since before the similarity was read, and ``matrix``: those of the similarity.
    """

    plan: ExtremesPlan
    random: tuple[float | None, ...]
    seconds: float | None = None
    sequences: tuple[InNames, ...] = ()
    compiling: float = 0.0
    budget: float = 0.0
    memory: float = 0.0
    matrix: float = 0.0


class EdgePlanRun(ProtocolRun):
    """Finds the extremes, by restarts on workers if there are any."""

    def __init__(self, session: Session, study: PlanStudy) -> None:
        self.session, self.study = session, study
        self.plan: ExtremesPlan | None = None
        self.seconds = self.compiling = 0.0

    def run(self) -> None:
        t, s = self.study, self.session
        s.monitor.show_planning()
        planner = finder(t.sizes, t.settings)
        with _restarts(s.runtime if planner == "anneal" else None) as run, s.deadline.interrupting():
            start = time.perf_counter()
            warm_up(planner, problem_of(t.similarity, t.sizes, t.settings))
            self.compiling = time.perf_counter() - start
            self.plan = plan(t.settings.similarity, t.similarity, t.sizes, t.settings, run)
            self.seconds = time.perf_counter() - start

    def export(self, reached: str | None) -> Exported:
        if self.plan is None:
            return Exported(None, None)
        t, folder = self.study, self.session.folder
        number = min(t.settings.random_sequences, max(1, MOST_ROWS // len(t.similarity)))
        drawn = [random_tasks(t.sizes, t.settings.seed, i) for i in range(number)]
        of = score(t.similarity, t.sizes, t.settings)
        values = tuple(of(tasks) for tasks in drawn)
        write_plans(folder.file(PLANS), [self.plan], [name for name, _ in t.classes.values()])
        named: list[tuple[str, str, Classes, float | None]] = []
        named += [(f"hard-{i}", "hard", e.tasks, e.value) for i, e in enumerate(self.plan.hard)]
        named += [(f"easy-{i}", "easy", e.tasks, e.value) for i, e in enumerate(self.plan.easy)]
        named += [(f"random-{i}", "random", d, v) for i, (d, v) in enumerate(zip(drawn, values, strict=True))]
        path = folder.file(SEQUENCES.file)
        written = in_names(path, write_sequences(path, run_info(folder, t.classes), map(self._sequence, named)))
        summary = PlanSummary(
            self.plan,
            values,
            self.seconds,
            tuple(written),
            self.compiling,
            t.settings.budget,
            peak_memory() - t.memory_before,
            t.similarity.values.nbytes,
        )
        return Exported((self.plan,), summary)

    def _sequence(self, named: tuple[str, Any, Classes, float | None]) -> Any:
        name, kind, tasks, value = named
        ids = list(self.study.classes)
        made = tuple(Task(tuple(ids[c] for c in t), "") for t in tasks)
        return TaskSequence(name, kind, (), self.study.settings.seed, made, (value,) * len(tasks))


def look(settings: EdgePlanSettings, directory: Path) -> None:
    """See `protocols.running.protocol.Protocol.look`."""
    if settings.similarity == "names":
        return
    path = file_of(settings, directory)
    if not path.is_file() or path.stat().st_size < LARGE:
        planned_on(settings, directory)


def prepare(settings: EdgePlanSettings, states: Path, device: str, directory: Path) -> PlanStudy:
    """See `protocols.running.protocol.Protocol.prepare`."""
    before = peak_memory()
    similarity, classes = planned_on(settings, directory)
    sizes = task_sizes(len(similarity), settings.tasks, settings.initial_classes)
    return PlanStudy(settings, similarity, classes, sizes, before)


def expected(study: PlanStudy) -> Expected:
    """Nothing is trained."""
    return Expected()


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    plans = read_plans(run)
    if not plans:
        raise UserError(f"{run} holds no {PLANS}: plan again into another --out")
    found = read_in_names(run / SEQUENCES.file)
    random = tuple(s.sequence.values[0] for s in found if s.sequence.sequence_id.startswith("random-"))
    return Exported(tuple(plans), PlanSummary(plans[0], random, sequences=tuple(found)))


@contextmanager
def _restarts(runtime: Runtime | None) -> Iterator[Callable[..., Any] | None]:
    """How restarts of the annealing are run: one after the other, or, with ``--workers``, on Ray; None: there are none."""
    if not runtime or not (runtime.engine.workers or runtime.engine.address):
        yield None
        return
    from actors.calls import on_ray

    with connected(runtime.engine):
        yield lambda starts: on_ray(anneal_start, starts)
