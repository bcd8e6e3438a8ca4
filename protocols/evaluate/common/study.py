"""Existing sequences in the world that methods are evaluated in; checked before any compute is spent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from protocols.evaluate.common.placed import placed, unique_names, view_of_sequences
from protocols.evaluate.common.settings import EvaluateSettings
from protocols.evaluate.common.source import Source, read_source
from protocols.running.provenance import Search, search_of
from seqsearch.core.types import MethodSpec
from seqsearch.methods.spec import check_memory
from seqsearch.planners.replicates import scoring
from seqsearch.pools.open import located_pools
from seqsearch.results.frozen import source_path
from seqsearch.results.rows import TaskSequence
from seqsearch.study.classes import EVALUATE
from seqsearch.study.study import Study, reads_frozen, resolved
from seqsearch.training.world import World

SEEDS = 3
"""Training seeds, where neither the run nor the user says how many."""


@dataclass(frozen=True)
class EvaluateStudy(Study):
    """A checked study.

    Attributes:
        source: where the sequences come from, and what is known of them.
        sequences: in this world.
    """

    settings: EvaluateSettings
    source: Source
    sequences: tuple[TaskSequence, ...]

    def identity(self) -> dict[str, Any]:
        search = search_of(self.source.data.config) if self.source.data else Search()
        stated = {} if search == Search() else {"search": asdict(search)}
        return {**super().identity(), "source": self.source.digest, "biases": list(self.source.biases), **stated}

    def replicates(self, sequence: TaskSequence) -> tuple[int, ...]:
        """Training seeds that a sequence is evaluated with: as many as asked for, or those that the run has evaluated it with."""
        if self.settings.score_seeds or self.source.data is None:
            return tuple(scoring(self.settings.score_seeds or SEEDS))
        known = {r for name, _, r in self.source.data.rollouts if name == sequence.sequence_id}
        return tuple(sorted(known)) or tuple(scoring(SEEDS))


def prepare(settings: EvaluateSettings, states: Path, device: str, directory: Path) -> EvaluateStudy:
    """Resolve and check all names; files are looked for in ``directory``.

    Raises:
        UserError: sequences that cannot be read, of other images or another split, classes that are not in the pool; an unknown
            name, weights that do not load.
    """
    source = read_source(source_path(directory, settings.source), settings.which, settings.by_name)
    if not settings.further_pools():
        source = replace(source, sequences=tuple(s for s in source.sequences if s.kind != "heldout"))
    if source.data is not None and source.data.config.get("protocol") == "duel":
        source = replace(
            source, data=None
        )  # some random sequences have more seeds than others: picked by what they had shown
    length = max(len(s.tasks) for s in (source.named or source.sequences))
    world, methods, tags = resolved(settings, states, device, directory, length)
    methods = tuple(_tuned(world, m, source) for m in methods)
    own = world
    if settings.further_pools():
        world = replace(world, pool=f"{world.pool},{located_pools(settings.further_pools(), directory)}")
    sequences = placed(source, own if source.named else world)
    unique_names(source.path, sequences)
    check_memory(methods, max(sum(len(task.classes) for task in s.tasks) for s in sequences))
    view = view_of_sequences(world, sequences)
    return EvaluateStudy(settings, world, {EVALUATE: view}, methods, tags, reads_frozen(methods), source, sequences)


def _tuned(world: World, method: MethodSpec, source: Source) -> MethodSpec:
    """A method of the run as it was tuned there."""
    params = source.tuned.get(method.label)
    return method if params is None else world.respecified(method, params, method.label)
