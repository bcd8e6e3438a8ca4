"""Checks the inputs for explaining a run; prepares regroupings and reorderings of its sequences, and upper bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from protocols.evaluate.common.evaluations import Asked, Evaluations
from protocols.evaluate.common.study import EvaluateStudy
from protocols.evaluate.common.study import prepare as prepared
from protocols.evaluate.explain.settings import ExplainSettings
from seqsearch.backbones.base import FromScratch
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item
from seqsearch.core.text import counted
from seqsearch.core.types import MethodSpec, Tasks
from seqsearch.methods.command import commands
from seqsearch.methods.spec import capabilities_of, hyperparameters
from seqsearch.planners.regrouped import regrouped, regroupings, reordered, reorderings
from seqsearch.planners.step import PoolView
from seqsearch.results.joint import at_once
from seqsearch.results.rows import SequenceKind, TaskSequence
from seqsearch.study.classes import kept_classes, view_of
from seqsearch.study.study import reads_frozen
from seqsearch.training.world import World

EXPLAINED = ("searched", "given")
"""Kinds of sequences that are explained."""
JOINT = "joint"
BoundKind = Literal["frozen", "full"]
LEARNERS: Mapping[BoundKind, tuple[tuple[str, str], ...]] = {"frozen": (("learner", "ranpac"),), "full": ()}
"""Parameters of `JOINT`: ridge regression on frozen features, in closed form; or the best of three learners, of which one
fine-tunes the network."""


@dataclass(frozen=True)
class ExplainStudy(EvaluateStudy):
    """A checked study.

    Attributes:
        population: the classes that the run drew from, groups that were left out not among them.
        bounds: joint training by backbone; none with ``--no-bound``.
        kinds: of ``bounds``, by backbone.
        drawn: regroupings and reorderings of the found sequences.
    """

    settings: ExplainSettings
    population: PoolView
    bounds: Mapping[str, MethodSpec]
    kinds: Mapping[str, BoundKind]
    drawn: tuple[TaskSequence, ...]

    def identity(self) -> dict[str, Any]:
        bounds = {b: {"label": m.label, "digest": m.digest, "kind": self.kinds[b]} for b, m in self.bounds.items()}
        return {**super().identity(), "bounds": bounds}

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        return {**hyperparameters(self.bounds.values()), **super().hyperparameters()}

    @property
    def trained(self) -> tuple[MethodSpec, ...]:
        return (*self.methods, *self.bounds.values())

    @property
    def found(self) -> tuple[TaskSequence, ...]:
        return tuple(s for s in self.sequences if s.kind in EXPLAINED)

    @property
    def random(self) -> tuple[TaskSequence, ...]:
        return tuple(s for s in self.sequences if s.kind == "random")

    @property
    def pretrained(self) -> str:
        """The first backbone of a method whose features say something before any training; empty if all begin from scratch."""
        backbones = (m.backbone for m in self.methods)
        return next((b for b in backbones if not isinstance(self.world.backbone(b), FromScratch)), "")

    @cached_property
    def at_once(self) -> tuple[TaskSequence, ...]:
        """All classes of each found sequence, and of each random one that is a condition, as one task, for upper bounds."""
        compared = (*self.found, *self.random[: self.settings.draws])
        return tuple(at_once(s, self.view) for s in (compared if self.bounds else ()))

    @cached_property
    def evaluations(self) -> Evaluations:
        """Return the requested evaluations and the planners for the missing ones.

        Every method is evaluated on random sequences. All other sequences are evaluated with the methods that they were
        found for.
        """
        asked = [
            Asked(m, s, self.replicates(self.origin(s)))
            for s in (*self.found, *self.random, *self.drawn)
            for m in self.methods
            if concerns(s, m.label)
        ]
        bounds = [Asked(m, s, self.replicates(self.origin(s))) for s in self.at_once for m in self.bounds.values()]
        return Evaluations(self.source, [*asked, *bounds], self.settings.seed)

    def replicates(self, sequence: TaskSequence) -> tuple[int, ...]:
        """As of any sequence, but that the first ``--draws`` random ones have all the seeds of the found ones, as a condition."""
        known = super().replicates(sequence)
        if sequence not in self.random[: self.settings.draws]:
            return known
        return tuple(dict.fromkeys((*known, *(r for s in self.found for r in super(ExplainStudy, self).replicates(s)))))

    def origin(self, sequence: TaskSequence) -> TaskSequence:
        """The sequence of the run that another was made of, or itself."""
        return {s.sequence_id: s for s in self.sequences}[origin(sequence)]


def origin(sequence: TaskSequence) -> str:
    """The name of the sequence that one was made of, or its own."""
    made = sequence.kind in ("regrouped", "reordered", "joint")
    return sequence.sequence_id.rpartition("/")[0] if made else sequence.sequence_id


def concerns(sequence: TaskSequence, method: str) -> bool:
    """Whether a method is evaluated on a sequence: on those that were found for others it is not."""
    return sequence.kind == "random" or method in sequence.method_ids


def prepare(settings: ExplainSettings, states: Path, device: str, directory: Path) -> ExplainStudy:
    """Resolve and check all names; files are looked for in ``directory``.

    Raises:
        UserError: see `protocols.evaluate.common.study.prepare`; no sequence that can be explained, none of those named methods,
            classes that come later than task 2.
    """
    base = prepared(settings, states, device, directory)
    found = [s for s in base.sequences if s.kind in EXPLAINED]
    if named := commands(base.methods):
        raise UserError(
            f"{named[0]} is a command, which does not say its masked accuracy: name other --methods to explain"
        )
    _check(settings.source, found, base)
    backbones = dict.fromkeys(m.backbone for m in base.methods) if settings.bound else ()
    kinds = {b: _bound_kind(settings.bound_kind, base, b) for b in backbones}
    bounds = {b: _bound(base.world, b, kind) for b, kind in kinds.items()}
    fields = {f.name: getattr(base, f.name) for f in dataclasses.fields(base)}
    fields["frozen"] = reads_frozen((*base.methods, *bounds.values()))
    found = _for_whom(found, [m.label for m in base.methods])
    sequences = (*found, *(s for s in base.sequences if s.kind == "random"))
    drawn = tuple(d for s in found for d in _drawn(s, base.view, settings))
    population = view_of(base.world, kept_classes(base.world, settings))
    fields["sequences"] = sequences
    study = ExplainStudy(**fields, population=population, bounds=bounds, kinds=kinds, drawn=drawn)
    _check_names(study)
    return study


def _bound_kind(asked: Literal["auto", BoundKind], study: EvaluateStudy, backbone: str) -> BoundKind:
    """As asked for; else that of the methods on a backbone, which is ``full`` if one of them trains its network.

    Raises:
        UserError: bounds on frozen features of a network that begins from scratch.
    """
    if asked == "frozen" and isinstance(study.world.backbone(backbone), FromScratch):
        raise UserError(
            f"--bound-kind frozen: backbone {backbone!r} begins from scratch, so that its frozen features say nothing: leave "
            "--bound-kind out, or give --no-bound"
        )
    if asked != "auto":
        return asked
    caps = [capabilities_of(m) for m in study.methods if m.backbone == backbone]
    return "full" if any(c.input == "images" and c.trains_backbone for c in caps) else "frozen"


def _bound(world: World, backbone: str, kind: BoundKind) -> MethodSpec:
    target = ":".join([JOINT, *(f"{name}={value}" for name, value in LEARNERS[kind])])
    return world.spec(Item(f"{target}@{backbone}", JOINT, backbone, LEARNERS[kind]), backbone)


def _check(source: str, found: Sequence[TaskSequence], study: EvaluateStudy) -> None:
    kinds = sorted({s.kind for s in study.sequences})
    if not found or {"hard", "easy"} & set(kinds):
        raise UserError(
            f"{source}: has no sequence that was searched task by task ({', '.join(kinds)} only): explain a run of "
            "seqsearch cldyb, or a file of sequences"
        )
    for s in found:
        if len(s.tasks) < 3 or not reorderings(s.tasks) or not regroupings(s.tasks):
            raise UserError(
                f"{source}: sequence {s.sequence_id!r} has {counted(len(s.tasks), 'task')}, the last of "
                f"{counted(len(s.tasks[-1].classes), 'class')}: "
                "after the first they have no other order, or no other grouping; explain 3 tasks of 2 classes, or more"
            )
    _check_arrivals(source, found, study.view)
    random = [s for s in study.sequences if s.kind == "random"]
    if other := next((s for s in (*found, *random) if s.tasks[0] != found[0].tasks[0]), None):
        raise UserError(
            f"{source}: sequences {found[0].sequence_id!r} and {other.sequence_id!r} begin with different tasks: only what comes "
            "after the same first task can be compared; explain them one at a time"
        )


def _check_names(study: ExplainStudy) -> None:
    """That sequences made of others are called like no other: neither here nor in the source, whose results are taken over."""
    data, where = study.source.data, study.settings.source
    there = {s.sequence_id: s.tasks for s in (data.sequences if data and not study.source.named else study.sequences)}
    for s in (*study.drawn, *study.at_once):
        if there.get(s.sequence_id, s.tasks) != s.tasks:
            raise UserError(
                f"{where}: has another sequence {s.sequence_id!r}, as one that is to be made is called: explain the run that it "
                "is of, or give the --draws that it was made with"
            )
        there[s.sequence_id] = s.tasks


def _check_arrivals(source: str, found: Sequence[TaskSequence], view: PoolView) -> None:
    """That every class is there from task 2 on, where a regrouping or a reordering may put it."""
    arrivals = dict(zip(view.class_ids, view.arrivals, strict=True))
    for s in found:
        if (last := max(arrivals[c] for t in s.tasks[1:] for c in t.classes)) > 2:
            raise UserError(
                f"{source}: sequence {s.sequence_id!r} has classes that are there from task {last} on (--grow): regrouped, or in "
                "another order, they would come earlier; explain runs of a pool that does not grow, or only at task 2"
            )


def _for_whom(found: Sequence[TaskSequence], labels: Sequence[str]) -> list[TaskSequence]:
    """The sequences found for any of these methods; those for which none was found are evaluated on all."""
    searched = {m for s in found for m in s.method_ids}
    strangers = [m for m in labels if m not in searched]
    ours = [replace(s, method_ids=(*(m for m in s.method_ids if m in labels), *strangers)) for s in found]
    return [s for s in ours if s.method_ids]


def _drawn(s: TaskSequence, view: PoolView, settings: ExplainSettings) -> list[TaskSequence]:
    def named(kind: SequenceKind, sequences: Sequence[Tasks]) -> list[TaskSequence]:
        return [
            replace(s, sequence_id=f"{s.sequence_id}/{kind}-{i}", kind=kind, tasks=tasks, values=(None,) * len(tasks))
            for i, tasks in enumerate(sequences)
        ]

    digest = "/".join(t.digest for t in s.tasks)
    return [
        *named("regrouped", regrouped(s.tasks, view, settings.draws, settings.seed, digest)),
        *named("reordered", reordered(s.tasks, settings.draws, settings.seed, digest)),
    ]
