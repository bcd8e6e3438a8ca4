"""``seqsearch check``: does an own method keep the contracts that every result rests on? Real training on two small tasks.

The contracts are those of ``docs/methods.md``. What is checked here are the ones that a run cannot notice: a method that breaks
them gives numbers, but not the same ones twice.
"""

from __future__ import annotations

import copy
import dataclasses
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from seqsearch.backbones.open import build_backbone
from seqsearch.core.deadline import ends_session
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import located
from seqsearch.core.types import MethodSpec, StateKey, Task
from seqsearch.methods.base import Method
from seqsearch.methods.data import Batch
from seqsearch.storage.files import cache_root
from seqsearch.study.check_command import command_findings
from seqsearch.study.check_interrupted import learned_twice
from seqsearch.study.check_learner import LONGER, accuracies, learner_findings
from seqsearch.study.check_made_for import is_learner, pool_for
from seqsearch.study.check_reported import reported
from seqsearch.study.findings import Finding, differing, disturbed
from seqsearch.training.device import pin_threads
from seqsearch.training.failures import line_of
from seqsearch.training.guard import NotAsLent
from seqsearch.training.scenario import checked_scores, learned, scores_of
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World


def check(text: str, backbone: str, weights: Mapping[str, str] | None = None, learner: bool = False) -> list[Finding]:
    """Check one method, given in the item grammar; ``weights``: files by backbone; ``learner``: it is a learner of streams, also
    if a method has its name.

    Raises:
        UserError: it cannot be loaded.
    """
    pin_threads()
    item = located(parse_item(text, "method"), Path.cwd())
    if learner or is_learner(item):
        return learner_findings(item, backbone, dict(weights or {}))
    with tempfile.TemporaryDirectory() as scratch:
        pool = pool_for(build_backbone(item.backbone or backbone, weights))
        world = World(pool, 0, str(cache_root()), scratch, weights=tuple((weights or {}).items()))
        subject = _Subject(world, world.spec(item, backbone))
        if subject.spec.command:
            return [Finding(*f) for f in command_findings(subject.trainer, subject.spec, subject.tasks)]
        return subject.findings()


def compared_accuracies(
    text: str, backbone: str, weights: Mapping[str, str] | None = None, learner: bool = False
) -> list[str]:
    """A line for a learner of streams and each of those that it is told beside; none for a method.

    Raises:
        UserError: it fails or diverges on a longer stream than that of the contracts.
    """
    item = located(parse_item(text, "method"), Path.cwd())
    if not (learner or is_learner(item)):
        return []
    try:
        found = accuracies(item, backbone, dict(weights or {}))
    except Exception as error:
        raise UserError(f"{text} failed on a stream of {LONGER.stream}: {line_of(error)}") from error
    return [
        f"{a.learner}: online accuracy {a.online:.3f}, near-future {a.near_future:.3f}, retention {a.retention:.3f}"
        for a in found
    ]


class _Subject:
    """The method under test, with tasks of four and three classes."""

    def __init__(self, world: World, spec: MethodSpec) -> None:
        self.world, self.spec, self.trainer = world, spec, Trainer(world)
        self.tasks = world.task(range(4)), world.task(range(4, 7))
        rows, _ = world.rows(self.tasks[0].classes, "reward")
        self.batch = Batch(rows, self.trainer.source(spec.backbone))
        self.not_as_lent = ""
        """What the first test changed that changed something of what is shared."""

    def findings(self) -> list[Finding]:
        tests: list[tuple[str, str, Callable[[], str]]] = [
            ("C1", "the same seed gives the same state", self._pure),
            ("C1", "what acts later changes nothing in the first task", self._later),
            ("C2", "predict and features change nothing", self._looking),
            ("C3", "a score depends on its own image alone", self._per_image),
            ("C4", "a restored method goes on as if never interrupted", self._restored),
            ("C4", "a training that is killed goes on as if never interrupted", self._interrupted),
            ("C9", "finite scores for seen classes only", self._scores),
            ("C9", "what it says of its state can be counted", self._reported),
            ("C10", "what is lent is left as it was", self._lent),  # the last: what any test found is told with it
        ]
        found = [self._found(*test) for test in tests]
        *others, last = found
        return [*others, replace(last, wrong=self.not_as_lent or last.wrong, tested=True)]

    def _found(self, contract: str, asks: str, test: Callable[[], str]) -> Finding:
        """What a test finds, or a method raises. What changes of what is shared is put back, and is a finding of C10, whichever
        test it was; one that was ended by that has not tested its own contract."""
        found, tested = "not tested: it changed what all jobs share, see C10", False
        try:
            with self.trainer.guard.job(self.spec.target):
                found, tested = test(), True
        except NotAsLent as error:
            self.not_as_lent = self.not_as_lent or str(error)
        except BaseException as error:
            if ends_session(error):
                raise
            found, tested = line_of(error), True
        return Finding(contract, asks, found, tested)

    def _key(self, *tasks: Task) -> StateKey:
        return StateKey(self.spec, 0, 0, tasks)

    def _learn(self, *tasks: Task, disturb: int = 0) -> Method:
        disturbed(disturb)
        method = self.trainer.fresh(self._key())
        for n in range(1, len(tasks) + 1):
            self.trainer.scenario.learn(method, self._key(*tasks[:n]))
        return method

    def _pure(self) -> str:
        names = differing(learned(self._learn(*self.tasks, disturb=1)), learned(self._learn(*self.tasks, disturb=2)))
        return (
            f"{names} differ: draw from task.generator(...), which goes on from round to round, never from a global one"
            if names
            else ""
        )

    def _later(self) -> str:
        first = self._learn(self.tasks[0])
        for f in dataclasses.fields(first.config):
            if not f.metadata.get("later"):
                continue
            value = another(f, getattr(first.config, f.name))
            spec = self.world.respecified(self.spec, {**dict(self.spec.params), f.name: value}, self.spec.label)
            other = _Subject(self.world, spec)._learn(self.tasks[0])
            if names := differing(learned(first), learned(other)):
                return f"{names} differ with {f.name}={value}: its param must not say later=True"
            if not torch.equal(first.predict(self.batch), other.predict(self.batch)):
                return f"scores differ with {f.name}={value}: its param must not say later=True"
        return ""

    def _looking(self) -> str:
        method = self._learn(self.tasks[0])
        before = copy.deepcopy(learned(method))
        method.predict(self.batch)
        method.features(self.batch)
        names = differing(before, learned(method))
        return f"{names} changed while predicting" if names else ""

    def _per_image(self) -> str:
        method = self._learn(self.tasks[0])
        together = method.predict(self.batch)
        alone = torch.cat([method.predict(self.batch.select(torch.tensor([i]))) for i in range(len(self.batch))])
        same = torch.allclose(together, alone, rtol=1e-3, atol=1e-4)
        return "" if same else "scores change with the batch: no batch statistics, network in eval mode"

    def _restored(self) -> str:
        straight = self._learn(self.tasks[0])
        state = copy.deepcopy(learned(straight))
        again = self.trainer.restore(self._key(self.tasks[0]), copy.deepcopy(state))
        if not torch.allclose(straight.predict(self.batch), again.predict(self.batch), rtol=1e-3, atol=1e-4):
            return "a restored method predicts otherwise: something that predict needs is not in state_dict"
        for method in (straight, again):
            disturbed(0)
            self.trainer.scenario.learn(method, self._key(*self.tasks))
        names = differing(learned(straight), learned(again))
        return (
            f"{names} differ after one more task: something that training needs is not in state_dict" if names else ""
        )

    def _interrupted(self) -> str:
        before = None
        for key in (self._key(self.tasks[0]), self._key(*self.tasks)):
            found = learned_twice(self.trainer, key, before)
            if names := differing(found.whole, found.resumed):
                return (
                    f"{names} differ after interruptions at checkpoints ({', '.join(found.phases)}): name all networks, and all "
                    "generators that losses draw from, to Live, and keep nothing else from epoch to epoch"
                )
            before = found.whole
        return ""

    def _scores(self) -> str:
        method = self._learn(*self.tasks)
        checked_scores(method.predict(self.batch), len(self.batch), 7)
        for scores in scores_of(method, self.batch).values():
            checked_scores(scores, len(self.batch), 7)
        return ""

    def _reported(self) -> str:
        return reported(self._learn(*self.tasks), self.batch)

    def _lent(self) -> str:
        method = self._learn(*self.tasks)
        method.predict(self.batch)
        method.features(self.batch)
        method.counters()
        return ""


def another(parameter: dataclasses.Field[Any], value: Any) -> Any:
    """Another value than ``value`` that a parameter's declaration allows; rules between parameters may still refuse it."""
    choices, low, high = (parameter.metadata.get(name) for name in ("choices", "minimum", "maximum"))
    if choices or isinstance(value, bool):
        return next(c for c in choices or (True, False) if c != value)
    if isinstance(value, str):
        return value + "x"
    tried = (2 * value + 1, value + 1, value - 1) if isinstance(value, int) else (2 * value, value / 2, value + 0.5)
    return next(v for v in tried if v != value and (low is None or v >= low) and (high is None or v <= high))
