"""GTEP: settings are chosen on one pool, and evaluated on others that had no part in the choice."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from protocols.gtep.export import export
from protocols.gtep.near_duplicates import near_duplicates_line
from protocols.gtep.plans import Evaluated, Plans, Results, Use
from protocols.gtep.scenario import Phase, Side, sequence_id
from protocols.gtep.settings import TUNED, evaluated_settings
from protocols.gtep.spaces import Setting, setting_of
from protocols.gtep.study import GtepStudy
from protocols.gtep.sweep import Chosen, Rounds, Sweep, Tried
from protocols.running.monitor import Monitor
from protocols.running.protocol import Exported, ProtocolRun
from protocols.running.session import Session
from protocols.running.snapshot import Expected
from seqsearch.core.outcomes import Result
from seqsearch.core.types import MethodSpec, Request, Rollout
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Counts
from seqsearch.engine.trials import Trial, next_edge, passed
from seqsearch.features.store import UnionFeatures
from seqsearch.planners.base import PlannerProgress
from seqsearch.planners.step import AllFailed
from seqsearch.study.near_duplicates import near_duplicates


class GtepRun(ProtocolRun):
    """One session of a GTEP run, and its progress."""

    def __init__(self, session: Session, study: GtepStudy) -> None:
        self.session, self.study = session, study
        self.plans = Plans(study, Results(session.journal))
        self._troubles: dict[str, str] = {}  # trials that did not end well, each with its traceback

    def run(self) -> None:
        """Try, choose, evaluate; each phase after the features that its trials would else compute one by one."""
        self._look()
        self._tune(None)
        self._check_chosen()
        self.session.extract_features(self.study.read(*self.study.evaluated_on), trials=True)
        self._evaluate()
        if self.study.gtep.conventional:
            for number in range(len(self.study.evaluated_on)):
                self._tune(number)
            self._evaluate_conventionally()
        self._drop(r for j in self.plans.evaluated for r in j.rollouts)

    def _look(self) -> None:
        """Compare images of both phases, if asked for; the result is reported and changes nothing."""
        s, study, world = self.session, self.study, self.study.world
        if not study.look:
            return
        features = UnionFeatures(
            Path(world.cache), world.images, world.backbone(study.look), torch.device(world.device)
        )
        s.trials(world)  # started before its time begins
        with s.deadline.interrupting():
            for number, side in enumerate(study.evaluated_on):
                found = near_duplicates(world.images, features.rows, study.tuned_on.classes, side.classes, world.device)
                self.plans.near_duplicates[number] = found
                s.monitor.say(
                    "look-alikes", near_duplicates_line(found, study.tuned_on.text, side.text), near=found.near
                )

    def _tune(self, number: int | None) -> None:
        """The first phase of all methods side by side, on one pool."""
        study, live = self.study, dict[str, Rounds]()
        if study.gtep.params != TUNED:
            return
        side = study.tuned_on if number is None else study.evaluated_on[number]
        self.session.extract_features(study.read(side), trials=True)
        for m in study.methods:
            sweep = Sweep(study.gtep, study.world, study.scenario, m, side, self.plans.known, number)
            self.plans.sweeps[m.label, number], live[m.label] = sweep, sweep.rounds()
        while live:
            asked = list[Tried]()
            for label, rounds in list(live.items()):
                try:
                    asked += next(rounds)
                except StopIteration as end:
                    self._choose(label, number, end.value)
                    del live[label]
            if asked:
                self._do("tuning" if number is None else "tuning conventionally", [t.trial for t in asked])
        self._drop(t for (_, n), sweep in self.plans.sweeps.items() if n == number for t in sweep.asked)

    def _choose(self, label: str, number: int | None, chosen: Chosen) -> None:
        self.plans.chosen[label, number] = chosen
        if chosen.setting is None:
            text = self.plans.sweeps[label, number].side.text
            self.session.monitor.say("none-chosen", f"method {label!r}: none of its settings ended well on {text}")

    def _check_chosen(self) -> None:
        """Raises AllFailed: there is nothing to evaluate."""
        study, chosen = self.study, self.plans.chosen
        if study.gtep.params == TUNED and all(c.setting is None for c in chosen.values()):
            ended = Counter(s for c in chosen.values() for t in c.tried for s in self.plans.statuses(t.rollouts))
            how = ", ".join(f"{n} {status}" for status, n in sorted(ended.items()))
            raise AllFailed(
                f"no setting of any method ended well on every class order of {study.tuned_on.text} (rollouts: {how}): "
                f"{self.session.failure()}"
            )

    def _evaluate(self) -> None:
        """Evaluate the chosen or given settings on every pool.

        With ``--originals``, evaluate these settings and the original ones on fresh orders of the tuning pool, too.
        """
        for m in self.study.methods:
            for setting, use in self._to_evaluate(m):
                for number, side in enumerate(self.study.evaluated_on):
                    self._plan(m, use, number, side, setting, "judge")
                if self.study.gtep.originals:
                    self._plan(m, use, None, self.study.tuned_on, setting, "fresh")
        self._train_evaluated()

    def _to_evaluate(self, m: MethodSpec) -> Iterator[tuple[Setting, Use]]:
        study = self.study
        if study.gtep.params != TUNED:
            yield setting_of(study.world, m, 0, study.given[m.label]), "tuned"
        elif (chosen := self.plans.chosen[m.label, None].setting) is not None:
            yield chosen, "tuned"
        if study.gtep.conventional or study.gtep.originals:
            yield setting_of(study.world, m, -1, {}), "original"

    def _evaluate_conventionally(self) -> None:
        """Evaluate the settings chosen on each pool on the same pool, as conventional protocols do.

        Unless ``--originals`` has done so, evaluate the tuned settings on fresh orders of the tuning pool.
        """
        study = self.study
        for m in study.methods:
            for number, side in enumerate(study.evaluated_on):
                if (own := self.plans.chosen[m.label, number].setting) is not None:
                    self._plan(m, "conventional", number, side, own, "judge")
            if not study.gtep.originals and (tuned := self.plans.chosen[m.label, None].setting) is not None:
                self._plan(m, "tuned", None, study.tuned_on, tuned, "fresh")
        self._train_evaluated()

    def _plan(self, m: MethodSpec, use: Use, number: int | None, side: Side, setting: Setting, phase: Phase) -> None:
        study = self.study
        rollouts = study.scenario.rollouts(study.world, side, phase, setting.spec, study.gtep.evaluated_orders, "test")
        self.plans.evaluated.append(Evaluated(m, use, number, setting, rollouts))

    def _train_evaluated(self) -> None:
        """One trial an order, so that they run side by side."""
        self.session.folder.record_hyperparameters(self.plans.hyperparameters())
        trials = [
            Trial(f"{j.setting.spec.label} ({j.use}, {name})", (r,), (name,))
            for j in self.plans.evaluated
            for n, r in enumerate(j.rollouts)
            for name in [sequence_id("fresh" if j.side is None else "judge", j.side, n)]
        ]
        self._do("evaluation", trials)

    def _do(self, phase: str, trials: Sequence[Trial]) -> None:
        """Run trials: first what several of them begin with, once, then all."""
        s, journal, trials = self.session, self.session.journal, without_repeats(trials)
        self.plans.rollouts.update({r.digest: r for t in trials for r in t.rollouts})
        s.edges = self.plans.edges
        runner = s.trials(self.study.world)
        for part, name in ((shared_beginnings(trials), f"{phase}: first tasks"), (trials, phase)):
            if part:
                shown = _Shown(s.monitor, part, journal, self._troubles)
                s.monitor.begin_phase([shown], name, len(part))
                runner.run(part, journal, shown.observe, s.deadline)
                shown.over()

    def _drop(self, rollouts: Iterable[Rollout]) -> None:
        """All states of these: nothing that is asked from now on begins as they do."""
        if gone := {digest for r in rollouts for digest in passed(r, whole=True)}:
            self.session.trials(self.study.world).drop(sorted(gone))

    def export(self, reached: str | None) -> Exported:
        return export(self.session, self.plans, reached)


class _Shown:
    """Trials as those who watch see them: a planner that says how many are done."""

    name, done, frees_parents = "trials", False, True

    def __init__(self, monitor: Monitor, trials: Sequence[Trial], journal: Journal, troubles: dict[str, str]) -> None:
        self._monitor, self._left, self._journal, self._troubles = monitor, list(trials), journal, troubles
        self._count, self._at = len(trials), 0.0
        self._counts = Counts(trained=journal.trained, troubles=troubles)

    def observe(self, counts: Counts) -> None:
        """Something has happened; the trials are looked at once a second at most."""
        self._troubles |= counts.troubles
        self._counts = replace(counts, troubles=self._troubles)
        if time.monotonic() - self._at >= 1.0:
            self._at = time.monotonic()
            self._left = [t for t in self._left if next_edge(t, self._journal) is not None]
        self._monitor.update(replace(self._counts, rollouts={self.name: self._count - len(self._left)}))

    def over(self) -> None:
        """They are all done."""
        self._left = []
        self._monitor.update(replace(self._counts, rollouts={self.name: self._count}))

    def ask(self) -> list[Request]:
        return []

    def tell(self, request: Request, result: Result) -> None:
        return

    def obsolete(self) -> list[str]:
        return []

    def progress(self) -> PlannerProgress:
        return PlannerProgress()


def without_repeats(trials: Sequence[Trial]) -> list[Trial]:
    """Each rollout in the first trial that asks for it; others find its result, as where the chosen setting is the original."""
    taken: set[str] = set()
    found = []
    for trial in trials:
        left = [n for n, r in enumerate(trial.rollouts) if r.digest not in taken]
        taken |= {r.digest for r in trial.rollouts}
        if left:
            rollouts, orders = tuple(trial.rollouts[n] for n in left), tuple(trial.orders[n] for n in left)
            found.append(replace(trial, rollouts=rollouts, orders=orders))
    return found


def shared_beginnings(trials: Sequence[Trial]) -> list[Trial]:
    """First tasks that more than one of these trials begins with, each as a trial of its own."""
    times: dict[str, list[tuple[Rollout, str]]] = {}
    for trial in trials:
        for rollout, order in zip(trial.rollouts, trial.orders, strict=True):
            times.setdefault(rollout.edges()[0].digest, []).append((rollout, order))
    found = []
    for same in times.values():
        if len({r.digest for r, _ in same}) > 1:
            first, order = same[0]
            key = first.key.after(1)
            name = f"{key.method.label} and others that begin alike ({order})"
            found.append(Trial(name, (Rollout(key, first.judged),), (order,)))
    return found


def expected(study: GtepStudy) -> Expected:
    """Return an upper bound of the rollouts and trainings."""
    s = study.gtep
    tried = s.most_trials * s.orders * (1 + s.conventional * len(study.evaluated_on))
    rollouts = (tried + s.evaluated_orders * evaluated_settings(s, len(study.evaluated_on))) * len(study.methods)
    return Expected(rollouts, rollouts * s.tasks, s.tasks)
