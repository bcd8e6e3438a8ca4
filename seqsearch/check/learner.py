"""Does a learner of streams keep the contracts of ``docs/learners.md``? Tests on a few steps of a small stream.

The tests are of contracts that a run cannot notice: a learner that breaks them gives numbers, but not the same ones twice, or not
honest ones.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from seqsearch.check.finding import Finding
from seqsearch.check.findings import DTYPES, Crashed, differing, disturbed, not_flat
from seqsearch.core.deadline import ends_session
from seqsearch.core.errors import AccessError
from seqsearch.core.grammar import Item
from seqsearch.core.types import MethodSpec, StateKey
from seqsearch.storage.files import cache_root
from seqsearch.streams.playing import Playing
from seqsearch.training.failures import line_of
from seqsearch.training.guard import SharedStateChanged
from seqsearch.training.scenario import learned
from seqsearch.training.streaming import Credit, SegmentData, StreamedLearner, StreamStep, checked_classes
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

SHORT = Playing("glyphs:samples=175,classes=6,burst=4", batch=24)
"""Six steps and a last one with a short batch."""
RAISING = ("L5", "L6")
"""As `seqsearch.check.contracts.RAISING`."""
TYPES = (*DTYPES, torch.int32)
"""Of the tensors of a state; graphs of neighbours have 32-bit numbers."""


def learner_findings(item: Item, backbone: str, weights: dict[str, str]) -> list[Finding]:
    """Check one learner.

    Raises:
        UserError: it cannot be loaded.
    """
    with tempfile.TemporaryDirectory() as states:
        world = stream_world(SHORT, states, weights)
        return LearnerSubject(world, world.spec(item, backbone)).findings()


def stream_world(playing: Playing, states: str, weights: dict[str, str]) -> World:
    """Of a small stream, with states in a folder."""
    return World("", 0, str(cache_root()), states, weights=tuple(weights.items()), scenario="stream", playing=playing)


class WatchedStep(StreamStep):
    """Notes samples that are asked for too early, also if the learner ignores the refusal."""

    early = -1

    def _check(self, positions: Any) -> None:
        try:
            super()._check(positions)
        except AccessError:
            self.early = int(np.max(positions, initial=self.early))
            raise


class Refusing(Credit):
    """No update may be made."""

    def afford(self, cost: float) -> bool:
        return False


class LearnerSubject:
    """The learner under test."""

    def __init__(self, world: World, spec: MethodSpec) -> None:
        self.world, self.spec, self.trainer = world, spec, Trainer(world)
        self.steps, self.early = world.played.steps, -1
        self.shared_changed = ""

    def findings(self) -> list[Finding]:
        """One for each contract."""
        tests: list[tuple[str, str, Callable[[], str]]] = [
            ("L1", "the same seed gives the same state", self._pure),
            ("L2", "a prediction depends on its own sample alone", self._alone),
            ("L2", "predicting changes nothing", self._looking),
            ("L3", "restored after any step, it goes on as if never interrupted", self._restored),
            ("L4", "samples that are not revealed are not asked for", self._early),
            ("L5", "classes are int64, from -1 (none) to the last", self._classes),
            ("L6", "no update that step.afford refuses", self._refused),
            ("L7", "shared resources are left unchanged", self._whole),  # the last: it reports what any test found
        ]
        if wrong := self._form():
            untested = "not tested: states must have another form first, see L3"
            return [Finding(c, asks, wrong if c == "L3" else untested, c == "L3") for c, asks, _ in tests]
        *others, last = [self._found(*test) for test in tests]
        return [*others, replace(last, wrong=self.shared_changed or last.wrong, tested=True)]

    def _form(self) -> str:
        """The entry of its state, fresh or after a step, that could not be stored.

        Raises:
            Crashed: it fails before.
        """
        try:
            with self.trainer.guard.job(self.spec.target):
                method = self.fresh()
                return not_flat(method.learner.state_dict(), TYPES) or not_flat(
                    self.learn(method, 0, 1).learner.state_dict(), TYPES
                )
        except SharedStateChanged as error:
            self.shared_changed = str(error)
        except BaseException as error:
            if ends_session(error):
                raise
            raise Crashed(self.spec.label, error, self.spec.target) from error
        return ""

    def _found(self, contract: str, asks: str, test: Callable[[], str]) -> Finding:
        found, tested = "not tested: it changed what all jobs share, see L7", False
        try:
            with self.trainer.guard.job(self.spec.target):
                found, tested = test(), True
        except SharedStateChanged as error:
            self.shared_changed = self.shared_changed or str(error)
        except BaseException as error:
            if ends_session(error):
                raise
            if contract not in RAISING:
                raise Crashed(self.spec.label, error, self.spec.target) from error
            found, tested = line_of(error, self.spec.target), True
        return Finding(contract, asks, found, tested)

    def fresh(self) -> StreamedLearner:
        found = self.trainer.fresh(StateKey(self.spec, 0, 0, ()))
        assert isinstance(found, StreamedLearner)
        return found

    def learn(self, method: StreamedLearner, begin: int, end: int) -> StreamedLearner:
        """Evaluate and learn steps ``begin .. end-1``; the last of all is short."""
        data = SegmentData(self.world.played, self.trainer.source(self.spec.backbone), 0, begin, end, 0, 0)
        for number in range(begin, end):
            step = WatchedStep(data, number, method.credit)
            method.predict(step.unlabelled)
            method.credit.grant()
            method.learner.learn(step)
            self.early = max(self.early, step.early)
        return method

    def batch(self) -> Any:
        """The first 40 samples, to predict."""
        played = self.world.played
        data = SegmentData(played, self.trainer.source(self.spec.backbone), 0, 0, 0, 0, 0)
        return data.at(np.arange(40))

    def _pure(self) -> str:
        states = []
        for seed in (1, 2):
            disturbed(seed)
            states.append(learned(self.learn(self.fresh(), 0, self.steps)))
        names = differing(*states)
        advice = "draw from step.generator(...) or step.draws(...), never from torch's or numpy's global generator"
        return f"{names} differ: {advice}" if names else ""

    def _alone(self) -> str:
        method, batch = self.learn(self.fresh(), 0, 3), self.batch()
        together = method.predict(batch)
        alone = torch.cat([method.predict(batch.select(torch.tensor([i]))) for i in range(len(batch))])
        backward = method.predict(batch.select(torch.arange(len(batch)).flip(0))).flip(0)
        if torch.equal(together, alone) and torch.equal(together, backward):
            return ""
        return "classes change with the batch or its order: no batch statistics, network in eval mode"

    def _looking(self) -> str:
        method = self.learn(self.fresh(), 0, 2)
        before = copy.deepcopy(learned(method))
        method.predict(self.batch())
        names = differing(before, learned(method))
        return f"{names} changed while predicting" if names else ""

    def _restored(self) -> str:
        straight, cut = self.fresh(), self.fresh()
        for number in range(self.steps):
            disturbed(number)
            self.learn(straight, number, number + 1)
            disturbed(number + 1000)
            self.learn(cut, number, number + 1)
            state, cut = copy.deepcopy(learned(cut)), self.fresh()
            own = {name: value for name, value in state.items() if not name.startswith("_n_")}
            cut.load_state_dict(own)
            if names := differing(learned(straight), learned(cut)):
                return (
                    f"{names} differ after step {number}: state_dict or load_state_dict leaves out what learning needs"
                )
            if not torch.equal(straight.predict(self.batch()), cut.predict(self.batch())):
                return (
                    f"classes differ after step {number}: state_dict or load_state_dict leaves out what predict needs"
                )
        return ""

    def _early(self) -> str:
        self.learn(self.fresh(), 0, self.steps)
        return f"sample {self.early} was asked for before it was revealed" if self.early >= 0 else ""

    def _classes(self) -> str:
        for end in (0, 1, self.steps):
            method = self.learn(self.fresh(), 0, end)
            checked_classes(method.learner.predict, method.predict(self.batch()), 40, self.world.played.stream_classes)
        for name, value in method.counters().items():
            if not np.isfinite(float(value)):
                return f"counters()[{name!r}] is {value}"
        return ""

    def _refused(self) -> str:
        method = self.fresh()
        if not hasattr(method.config, "budget"):
            return ""
        before = copy.deepcopy(method.learner.state_dict())
        method.credit = Refusing(0.0)
        self.learn(method, 0, 2)
        changed = differing(before, method.learner.state_dict())
        return f"{changed} changed although step.afford said no" if changed else ""

    def _whole(self) -> str:
        method = self.learn(self.fresh(), 0, self.steps)
        method.predict(self.batch())
        method.counters()
        return ""
