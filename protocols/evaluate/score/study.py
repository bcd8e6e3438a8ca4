"""Checks the inputs of a score study, adds held-out sequences and references, and assigns methods to sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from protocols.cldyb.joint import trained_jointly
from protocols.evaluate.common.evaluations import Asked, Evaluations
from protocols.evaluate.common.placed import unique_names, view_of_sequences
from protocols.evaluate.common.source import Source, sequence_with_method_labels
from protocols.evaluate.common.study import SEEDS, EvaluateStudy
from protocols.evaluate.common.study import prepare as prepare_sequences
from protocols.evaluate.score.settings import ScoreSettings
from protocols.running.references import backbone_of
from seqsearch.backbones.base import FromScratch
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item
from seqsearch.core.types import MethodSpec
from seqsearch.methods.spec import hyperparameters
from seqsearch.planners.replicates import SCORING, scoring
from seqsearch.pools.union import class_names
from seqsearch.results.joint import at_once
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND
from seqsearch.study.classes import EVALUATE, world_of
from seqsearch.study.study import reads_frozen
from seqsearch.training.world import World


@dataclass(frozen=True)
class References:
    """References for methods on one backbone: one training each.

    Attributes:
        mean: the nearest-class-mean baseline on frozen features, task by task (`simplecil`).
        bound: the best of three ways to learn all classes of a sequence at once (`joint`).
    """

    backbone: str
    mean: MethodSpec
    bound: MethodSpec


@dataclass(frozen=True)
class ScoreStudy(EvaluateStudy):
    """A checked study; ``sequences`` hold the held-out ones and the unions that the bound is trained on, too.

    Attributes:
        asked: who is evaluated on what.
        references: by backbone; none unless asked for.
        remarks: what is to be said of labels and names.
        original: what the source calls methods that have a longer label here.
    """

    settings: ScoreSettings
    asked: tuple[Asked, ...]
    references: tuple[References, ...]
    remarks: tuple[str, ...]
    original: Mapping[str, str]

    @cached_property
    def evaluations(self) -> Evaluations:
        """Return the requested evaluations with their known results, and planners for the missing ones."""
        return Evaluations(self.source, self.asked, self.settings.seed)

    def identity(self) -> dict[str, Any]:
        return {
            **super().identity(),
            "references": {r.backbone: {"mean": r.mean.label, "bound": r.bound.label} for r in self.references},
            "reference_digests": {m.label: m.digest for r in self.references for m in (r.mean, r.bound)},
            "taken_over": self._taken_over(),
            "known": dict(Counter(m for _, m, _ in self.evaluations.known)),
            "remarks": list(self.remarks),
        }

    @property
    def trained(self) -> tuple[MethodSpec, ...]:
        return (*self.methods, *(m for r in self.references for m in (r.mean, r.bound)))

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        references = (m for r in self.references for m in (r.mean, r.bound))
        return {**hyperparameters(references), **super().hyperparameters()}

    def _taken_over(self) -> dict[str, str]:
        """Backbone by label of the methods whose results are the source's; empty where it does not say."""
        own = {m.label for m in self.methods}
        rows = {r["method_id"] for r in self.source.data.rows} if self.source.data and not self.source.named else set()
        config = self.source.data.config if self.source.data else {}
        return {m: backbone_of(config, self.original.get(m, m)) for m in sorted(rows - own)}


def prepare(settings: ScoreSettings, states: Path, device: str, directory: Path) -> ScoreStudy:
    """Resolve and check all names; files are looked for in ``directory``.

    Raises:
        UserError: see `common.study.prepare`; a held-out pool that is too small, or that the sequences are of.
    """
    base, remarks, original = _distinct_labels(prepare_sequences(settings, states, device, directory))
    heldout, shared = _heldout(settings, base, world_of(settings, states, device, directory))
    references = _references(base) if settings.references else ()
    whole = (*base.sequences, *heldout)
    view = view_of_sequences(base.world, whole)
    jointly = trained_jointly(base.methods, settings.joint)
    compared = _compared(base.sequences) if jointly else ()
    unions = tuple(at_once(s, view) for s in (whole if references else compared))
    unique_names(base.source.path, (*whole, *unions))
    asked = (
        *_asked(base, base.sequences),
        *_asked_heldout(base, heldout),
        *_asked_references(references, whole, unions),
        *(Asked(m, at_once(s, view), base.replicates(s)) for m in jointly for s in compared),
    )
    trained = [*base.methods, *(m for r in references for m in (r.mean, r.bound))]
    return ScoreStudy(
        settings,
        base.world,
        {EVALUATE: view},
        base.methods,
        base.weight_tags,
        reads_frozen(trained),
        base.source,
        (*whole, *unions),
        asked,
        references,
        (*remarks, *shared),
        original,
    )


def _distinct_labels(base: EvaluateStudy) -> tuple[EvaluateStudy, list[str], dict[str, str]]:
    """The study with labels that mean one method each, and sequences that say who was searched with.

    A method that the source calls like one here, and that is another by its digest, keeps its results under a longer label. A
    sequence that surrogates searched was found with these, whomever it was found for.
    """
    source, others = base.source, {}
    if source.data is not None:
        drawn = {s.sequence_id for s in base.sequences if s.kind != "heldout"}
        known: dict[str, set[str]] = {}
        for row in source.data.rows:
            if row["sequence_id"] in drawn:
                known.setdefault(row["method_id"], set()).add(row["config_digest"])
        run = str(source.data.config.get("run_id", source.path.name))
        others = {m.label: f"{m.label} of {run}" for m in base.methods if known.get(m.label, {m.digest}) != {m.digest}}
    remarks = [
        f"{label} is not what {source.path} calls so (code, parameters, backbone, weights, precision, versions or device "
        f"differ): its results there stand as {other!r}."
        for label, other in others.items()
    ]
    sequences = tuple(_searched_with(sequence_with_method_labels(s, others), source.surrogates) for s in base.sequences)
    study = replace(base, source=source.with_method_labels(others), sequences=sequences)
    return study, remarks, {other: label for label, other in others.items()}


def _searched_with(s: TaskSequence, surrogates: tuple[str, ...]) -> TaskSequence:
    return replace(s, method_ids=surrogates) if surrogates and s.kind in FOUND else s


def _asked(base: EvaluateStudy, sequences: Sequence[TaskSequence]) -> Iterator[Asked]:
    for m in base.methods:
        for s in sequences:
            yield Asked(m if s.kind != "heldout" else _in(base.world, m), s, base.replicates(s))


def _asked_heldout(base: EvaluateStudy, heldout: Sequence[TaskSequence]) -> Iterator[Asked]:
    seeds = tuple(scoring(base.settings.score_seeds or _seeds(base.source) or SEEDS))
    for m in base.methods:
        for s in heldout:
            yield Asked(_in(base.world, m), s, seeds)


def _compared(sequences: Sequence[TaskSequence]) -> tuple[TaskSequence, ...]:
    """Those that joint training stands beside: found and random ones, where there are both."""
    kinds = {"searched", "random"}
    there = tuple(s for s in sequences if s.kind in kinds and len(s.tasks) > 1)
    return there if {s.kind for s in there} == kinds else ()


def _asked_references(
    references: Sequence[References], whole: Sequence[TaskSequence], unions: Sequence[TaskSequence]
) -> Iterator[Asked]:
    for r in references:
        yield from (Asked(r.mean, s, (SCORING,)) for s in whole)
        yield from (Asked(r.bound, s, (SCORING,)) for s in unions)


def _in(world: World, m: MethodSpec) -> MethodSpec:
    """A method as it is in a world of further pools, whose code feeds it, too."""
    return world.respecified(m, dict(m.params), m.label)


def _seeds(source: Source) -> int:
    """How many scoring seeds the source has."""
    return sum(r < SCORING + 1000 for r in source.data.seeds) if source.data else 0


def _heldout(
    settings: ScoreSettings, base: EvaluateStudy, own: World
) -> tuple[tuple[TaskSequence, ...], tuple[str, ...]]:
    """Random sequences of the held-out pool, of as many tasks and classes as the others; none if the source has some."""
    if not settings.heldout_pool:
        return (), ()
    names, theirs = class_names(base.world.images), {p.digest for p in own.images.parts}
    parts = [base.world.images.parts[base.world.images.part_of_class(i)[0]].digest for i in range(len(names))]
    indices = [i for i, digest in enumerate(parts) if digest not in theirs]
    called = {c.name for c, digest in zip(base.world.images.classes, parts, strict=True) if digest in theirs}
    shared = sorted({base.world.images.classes[i].name for i in indices} & called)
    remarks = (_may_be_seen(shared),) if shared else ()
    if any(s.kind == "heldout" for s in base.sequences):
        return (), remarks
    sizes = [len(t.classes) for t in base.sequences[0].tasks]
    if len(indices) < sum(sizes):
        raise UserError(
            f"--heldout-pool {settings.heldout_pool}: has {len(indices)} classes, sequences have {sum(sizes)}: name a larger one"
        )
    ends = [sum(sizes[: t + 1]) for t in range(len(sizes))]
    drawn = []
    for number in range(settings.heldout_sequences):
        order = seeded_numpy("heldout", settings.seed, number).permutation(indices)
        tasks = tuple(base.world.task(sorted(order[e - n : e].tolist())) for e, n in zip(ends, sizes, strict=True))
        labels = tuple(m.label for m in base.methods)
        drawn.append(TaskSequence(f"heldout-{number}", "heldout", labels, settings.seed, tasks, (None,) * len(tasks)))
    return tuple(drawn), remarks


def _may_be_seen(names: Sequence[str]) -> str:
    return (
        f"{len(names)} classes of the held-out pool are called like classes of the other, e.g. {names[0]!r}: they may not be "
        "unseen."
    )


def _references(base: EvaluateStudy) -> tuple[References, ...]:
    found = []
    for backbone in dict.fromkeys(m.backbone for m in base.methods if not m.command):
        if isinstance(base.world.backbone(backbone), FromScratch):
            raise UserError(
                f"--references: backbone {backbone!r} begins from scratch, nearest means of its features say nothing: leave it "
                "out, and name joint among --methods for the upper bound"
            )
        mean, bound = (
            base.world.spec(Item(f"{name}@{backbone}", name, backbone, ()), backbone) for name in ("simplecil", "joint")
        )
        found.append(References(backbone, mean, bound))
    return tuple(found)
