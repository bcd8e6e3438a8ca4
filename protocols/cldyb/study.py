"""Checks the inputs of a CLDyB study: the first task, classes kept aside for tuning, enough classes for look-ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from protocols.cldyb.classes import classes_in_play
from protocols.cldyb.joint import trained_jointly
from protocols.cldyb.settings import CldybSettings
from seqsearch.core.types import MethodSpec, Task, Tasks
from seqsearch.methods.spec import check_memory, hyperparameters
from seqsearch.planners.fixed import first_task
from seqsearch.study.classes import EVALUATE, TUNE
from seqsearch.study.encoder import encoder_items, with_encoder
from seqsearch.study.study import Study, reads_frozen, resolved
from seqsearch.study.trained_with import described


@dataclass(frozen=True)
class CldybStudy(Study):
    """A checked study.

    Attributes:
        first: the first task of every sequence.
        surrogates: methods to search with instead of ``methods``, if there are some.
    """

    settings: CldybSettings
    first: Task
    surrogates: tuple[MethodSpec, ...] = ()

    @property
    def searchers(self) -> tuple[MethodSpec, ...]:
        """The methods that a joint search trains."""
        return self.surrogates or self.methods

    @property
    def jointly(self) -> tuple[MethodSpec, ...]:
        """The methods that learn all classes of each found and random sequence at once, too."""
        s = self.settings
        everything = s.joint or s.reward == "gap-to-joint"
        if not everything and not (s.random_sequences and s.tasks > 1):
            return ()  # nothing to compare
        return trained_jointly(self.methods, True if everything else s.joint)

    @property
    def tuning(self) -> Tasks:
        """Random tasks of classes outside the run to tune hyperparameters on; none unless asked for."""
        view, k = self.views.get(TUNE), self.settings.classes_per_task
        if view is None:
            return ()
        return tuple(view.task(view.class_ids[n : n + k]) for n in range(0, len(view.class_ids), k))

    def identity(self) -> dict[str, Any]:
        instead = {"surrogates": described(self.surrogates)} if self.surrogates else {}
        return {**super().identity(), "first_task": self.first.digest, **instead}

    @property
    def trained(self) -> tuple[MethodSpec, ...]:
        return (*self.methods, *self.surrogates)

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """Those of methods that are tuned are not known yet."""
        own = {} if self.settings.tune_tasks else super().hyperparameters()
        return {**hyperparameters(self.surrogates), **own}


def prepare(settings: CldybSettings, states: Path, device: str, directory: Path | None = None) -> CldybStudy:
    """Resolve and check all names; files are looked for in ``directory`` (default: the current one).

    Raises:
        UserError: an unknown name, too few classes, a class too small to split, weights that do not load.
    """
    surrogates, items = settings.surrogate_items(), settings.items()
    directory = directory or Path.cwd()
    encoder = encoder_items(settings, directory)
    others = [i for i in dict.fromkeys((*surrogates, *encoder)) if i not in items]
    world, specs, tags = resolved(settings, states, device, directory, settings.tasks, others)
    of_item = dict(zip((*items, *others), specs, strict=True))
    methods, instead, looking = (tuple(of_item[i] for i in some) for some in (items, surrogates, encoder))
    views = {name: with_encoder(v, world, looking) for name, v in classes_in_play(world, settings).items()}
    check_memory(specs, settings.tasks * settings.classes_per_task)
    first = first_task(views[EVALUATE], settings.classes_per_task, settings.seed)
    return CldybStudy(settings, world, views, methods, tags, reads_frozen(specs), first, instead)


def with_methods(study: CldybStudy, methods: Sequence[MethodSpec]) -> CldybStudy:
    """The same study of other methods or settings; surrogates stay what they are."""
    encoder = [study.view.encoder.method] if study.view.encoder else []
    return replace(study, methods=tuple(methods), frozen=reads_frozen((*methods, *study.surrogates, *encoder)))
