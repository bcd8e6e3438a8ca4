"""Summary of an ``explain`` run: reasons why found sequences are hard.

It has effects by method and measure, ranks among random sequences, and common properties of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protocols.evaluate.explain.common import Common
from protocols.evaluate.explain.conditions import Compared, compared
from protocols.evaluate.explain.figures import MEASURES, Measure, averaged, conditions, image_index
from protocols.evaluate.explain.study import EXPLAINED
from protocols.running.protocol import resume_command
from protocols.running.provenance import Provenance, biases, provenance
from protocols.running.references import reference_of
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults
from seqsearch.stats.accuracy import acc
from seqsearch.stats.effects import Effects, effects
from seqsearch.stats.interval import AGREE
from seqsearch.stats.quantiles import OrderPercentile, percentile
from seqsearch.stats.rank_test import rank_test


@dataclass(frozen=True)
class Rank:
    """A found sequence among random ones, by the final Acc of one training each, all with the same seed.

    Attributes:
        beats: random sequences that are more accurate: it is harder than these; ``ties``: as accurate.
        random: how many there are.
        p: of `seqsearch.stats.rank_test`.
        place: the share of random sequences, with this seed, that are less accurate, and its interval.
    """

    sequence: str
    beats: int
    ties: int
    random: int
    p: float
    place: OrderPercentile


@dataclass(frozen=True)
class MethodEffects:
    """One method, or the mean over all: effects by measure, and ranks of its found sequences (none of a mean).

    ``bounds`` are the kinds of joint training (`protocols.evaluate.explain.study.BoundKind`) that its gap is to.
    """

    method: str
    measures: Mapping[Measure, Effects]
    ranks: tuple[Rank, ...] = ()
    bounds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """A run that explains another.

    ``biases`` are those of the source's sequences. ``mean`` is over methods, None if there is one only, or if they were not all
    evaluated alike. ``unfinished``: how far it came, and what continues it; it has no figures then.
    """

    run: str
    source: str
    methods: tuple[MethodEffects, ...]
    mean: MethodEffects | None
    common: Common
    stats: dict[str, Any] | None
    troubles: tuple[str, ...]
    provenance: Provenance
    biases: tuple[str, ...]
    unfinished: str = ""
    resume: str = ""

    @property
    def overall(self) -> MethodEffects | None:
        """Return the effects that the headline reports; None if there are no figures."""
        return self.mean or next(iter(self.methods), None)


@dataclass(frozen=True)
class Explained:
    """The results of a run that explains another: what it measured, and what the found classes have in common."""

    run: RunResults
    common: Common


def summarise(run: Path, explained: Explained) -> Summary:
    """Compute the summary of the results of a run; of one that was stopped, how far it came."""
    data = explained.run
    name, origin = str(data.config.get("run_id", run.resolve().name)), provenance(data.config)
    inherited = tuple(biases(data.config))
    source = str(data.setting("source") or "")
    if not data.finished:
        reached = str((data.stats or {}).get("reached") or "unknown")
        resume = resume_command(run, data.config.get("protocol"))
        return Summary(name, source, (), None, explained.common, data.stats, (), origin, inherited, reached, resume)
    troubles: list[str] = []
    said = data.config.get("identity")
    own = said.get("methods") if isinstance(said, dict) else None
    named = own if isinstance(own, dict) else {}
    found = [s for s in data.sequences if s.kind in EXPLAINED]
    labels = [m for m in data.methods if m in named and any(m in s.method_ids for s in found)]
    sides = [side for m in labels if (side := compared(data, m, troubles))]
    methods = tuple(
        MethodEffects(side.method, _effects(data, [side]), _ranks(data, side), _bounds(data, [side])) for side in sides
    )
    mean = None
    if len(labels) > 1 and len(sides) == len(labels) and all(side.shape == sides[0].shape for side in sides):
        mean = MethodEffects("mean", _effects(data, sides), bounds=_bounds(data, sides))
    elif len(labels) > 1:
        troubles.append("No mean over methods: they were not all evaluated on as many sequences with the same seeds.")
    return Summary(name, source, methods, mean, explained.common, data.stats, tuple(troubles), origin, inherited)


def _bounds(data: RunResults, sides: Sequence[Compared]) -> tuple[str, ...]:
    """Kinds of the upper bounds of methods; runs of before do not say: theirs were all ``full``."""
    known = [s.method for s in sides if reference_of(data.config, s.method, "bounds", "label")]
    return tuple(dict.fromkeys(reference_of(data.config, m, "bounds", "kind") or "full" for m in known))


def _effects(data: RunResults, sides: Sequence[Compared]) -> dict[Measure, Effects]:
    """By measure, of the mean over methods; measures that are not known of all of them are missing."""
    index, found = image_index(data, sides), {}
    for measure in MEASURES:
        made = [conditions(data, side, measure, index) for side in sides]
        known = [c for c in made if c is not None]
        if len(known) == len(made):
            classes = index.classes if index else None
            found[measure] = effects(averaged(known), classes, accuracies=measure in ("accuracy", "masked"))
    return found


def _ranks(data: RunResults, side: Compared) -> tuple[Rank, ...]:
    """Of each found sequence; none without random ones."""
    if not side.ranked:
        return ()

    def final(sequence: TaskSequence) -> float:
        return acc(data.rollouts[sequence.sequence_id, side.method, side.seeds[0]].accuracy)

    random = np.array([final(s) for s in side.ranked])
    ranks = []
    for s in side.found:
        own, test = final(s), rank_test([final(s)], random)
        ties = int((np.abs(random - own) <= AGREE).sum())
        place = percentile([own], random).orders[0]
        ranks.append(Rank(s.sequence_id, len(random) - test.as_extreme, ties, len(random), test.p, place))
    return tuple(ranks)
