"""Checks the inputs of a duel: two methods that differ, and the sequences that they are paired on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from protocols.cldyb.costs import costs_of_commands
from protocols.cldyb.settings import CldybSettings
from protocols.evaluate.common.placed import placed, view_of_sequences
from protocols.evaluate.common.source import Source
from protocols.evaluate.duel.inputs import classes_in_play, source_of
from protocols.evaluate.duel.settings import DuelSettings
from protocols.running.provenance import biases
from seqsearch.core.errors import UserError
from seqsearch.core.types import MethodSpec, Task
from seqsearch.methods.command import commands
from seqsearch.methods.spec import check_memory
from seqsearch.planners.fixed import first_task, own_first_task, random_sequence
from seqsearch.planners.settings import SearchSettings
from seqsearch.results.rows import TaskSequence
from seqsearch.study.classes import EVALUATE, check_images, view_of
from seqsearch.study.encoder import encoder_items, with_encoder
from seqsearch.study.study import Study, reads_frozen, resolved


@dataclass(frozen=True)
class DuelStudy(Study):
    """A checked study.

    Attributes:
        first: the first task of what is searched, and of all random sequences with ``--fixed-first``; None with ``--on``.
        source: of ``--on``.
        drawn: the random sequences of ``--on``.
        given: its other ones.
    """

    settings: DuelSettings
    first: Task | None
    source: Source | None = None
    drawn: tuple[TaskSequence, ...] = ()
    given: tuple[TaskSequence, ...] = ()

    @property
    def labels(self) -> tuple[str, str]:
        """Of A and B."""
        a, b = self.methods
        return a.label, b.label

    @property
    def asked(self) -> int:
        """Random sequences to begin with."""
        return len(self.drawn) if self.source else self.settings.sequences

    @property
    def length(self) -> int:
        """Tasks of a sequence."""
        return len((*self.drawn, *self.given)[0].tasks) if self.source else self.settings.tasks

    def random(self, number: int) -> TaskSequence:
        """A random sequence."""
        if self.source:
            return self.drawn[number]
        s = self.settings
        first = self.first if s.fixed_first else None
        first = first or own_first_task(self.view, s.classes_per_task, s.seed, number)
        tasks = random_sequence(first, self.view, s.tasks, s.classes_per_task, number, s.seed)
        return TaskSequence(f"random-{number}", "random", self.labels, s.seed, tasks, (None,) * len(tasks))

    def identity(self) -> dict[str, Any]:
        first, source = self.first, self.source
        more = {"first_task": first.digest if first else None, "source": source.digest if source else None}
        inherited = biases(source.data.config) if source and source.data else []
        return {**super().identity(), **more, "biases": inherited}


def costs_of_search(settings: DuelSettings, methods: Sequence[MethodSpec]) -> str:
    """Describe the trainings that a search of ``--find`` takes with commands in it; empty if there are none."""
    named = commands(methods)
    if not (named and settings.directions):
        return ""
    return f"--find, each way: {costs_of_commands(as_search(settings), 2, named)}"


def as_search(settings: DuelSettings) -> CldybSettings:
    """A search of ``--find`` as if it were one of CLDyB."""
    shared = {f.name: getattr(settings, f.name) for f in fields(SearchSettings)}
    return CldybSettings(**shared, methods=settings.methods, pool=settings.pool, random_sequences=0)


def prepare(settings: DuelSettings, states: Path, device: str, directory: Path | None = None) -> DuelStudy:
    """Resolve and check all names; files are looked for in ``directory`` (default: the current one).

    Raises:
        UserError: an unknown name, the same method twice, too few classes, a class too small to split, sequences that cannot be
            read or are of other classes.
    """
    directory = directory or Path.cwd()
    source = source_of(settings, directory)
    length = max(len(s.tasks) for s in (source.named or source.sequences)) if source else settings.tasks
    encoder = [i for i in encoder_items(settings, directory) if not source]
    world, specs, tags = resolved(settings, states, device, directory, length, encoder)
    methods, looking = specs[:2], specs[2:]
    if methods[0].digest == methods[1].digest:
        raise UserError(
            f"{methods[0].label!r} and {methods[1].label!r} are one method with the same parameters: a duel needs two that differ"
        )
    if not settings.search_commands and (said := costs_of_search(settings, methods)):
        raise UserError(f"{said}; add --search-commands if that is meant")
    labels = tuple(m.label for m in methods)
    if source:
        there = [replace(s, method_ids=labels) for s in placed(source, world)]
        check_memory(methods, max(sum(len(task.classes) for task in s.tasks) for s in there))
        view = view_of_sequences(world, there)
        drawn = tuple(s for s in there if s.kind == "random")
        given = tuple(s for s in there if s.kind != "random")
        return DuelStudy(
            settings, world, {EVALUATE: view}, methods, tags, reads_frozen(methods), None, source, drawn, given
        )
    kept, k = classes_in_play(world, settings), settings.classes_per_task
    check_memory(methods, settings.tasks * k)
    check_images(world, kept)
    view = with_encoder(view_of(world, kept), world, looking)
    first = first_task(view, k, settings.seed)
    return DuelStudy(settings, world, {EVALUATE: view}, methods, tags, reads_frozen(specs), first)
