"""Summary of a duel.

It is computed from the run's files alone, so that ``seqsearch show`` reports the same figures as the run. Accuracies
are final ones on test images (Acc, mean over tasks). A gap is A's accuracy minus B's on one sequence with one training
seed. All figures hold for these classes, this split and these test images, which all sequences share.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protocols.evaluate.duel.pairs import Pairs, Table, pairs_of, table_of
from protocols.running.protocol import Exported, resume_command
from protocols.running.provenance import SEPARATED, Provenance, biases, provenance
from seqsearch.core.errors import UserError
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults, read_results
from seqsearch.stats.components import order_sd, training_sd
from seqsearch.stats.interval import AGREE, Interval
from seqsearch.stats.mean import DIFFERENCE, mean_interval
from seqsearch.stats.paired import Paired, Side, paired
from seqsearch.stats.power import Needed, needed_for_claims
from seqsearch.stats.quantiles import percentile, running_share
from seqsearch.stats.rank_test import ExtremesTest, extremes_test


@dataclass(frozen=True)
class Again:
    """A sequence that both methods were trained on with the scoring seeds: found, given, or the worst of the random ones.

    Attributes:
        side: the method that it is worst for; empty for given ones.
        seen: the gap that a random one was chosen for, a selected extreme; None for others.
        a, b: mean final accuracies over the seeds.
        gap: mean over the seeds, with the interval of training noise, for this sequence.
        place: share of random sequences with a lower gap (one training each, ties half); None where it is not placed.
    """

    side: Side
    sequence: str
    seeds: int
    seen: float | None
    a: float
    b: float
    gap: Interval
    place: Interval | None = None


@dataclass(frozen=True)
class Running:
    """With ``--until``: pairs in all, and shares with bounds that hold however often one looks."""

    pairs: int
    above: Interval
    below: Interval

    @property
    def on_most(self) -> Side:
        return "a" if self.above.low > 0.5 else "b" if self.below.low > 0.5 else ""


@dataclass(frozen=True)
class Spread:
    """Sd of the gap in points of accuracy: of sequences with training noise taken off, and of trainings of one sequence; from
    ``sequences`` random ones times ``seeds``."""

    order: float
    training: float
    sequences: int
    seeds: int


@dataclass(frozen=True)
class Facts:
    """Facts about the sequences that a reader needs to interpret the figures.

    Attributes:
        asked: random sequences that the user asked for.
        drawn: random sequences that were drawn.
        fixed_first: whether random sequences share their first task.
        source: the source of ``--on``.
    """

    asked: int
    drawn: int
    fixed_first: bool
    source: str


@dataclass(frozen=True)
class DuelSummary:
    """A run in figures; what could not be computed is None. Nothing is claimed of a run that is not finished.

    Attributes:
        methods: labels of A and B.
        pairs: accuracies on every random sequence that both were evaluated on.
        sample: the comparison over those that were asked for; ``--until`` adds others, which depend on what was seen.
        running: with ``--until``.
        needed_most, needed_average: sequences for the claims that the method above on more sequences (A where as many) is so on
            most, and on average.
        worst: the widest gap of random sequences each way, trained again.
        test: ranks of the found sequences among the random ones.
        unfinished: how far it came, rollouts evaluated so far, and the command that goes on.
    """

    run: str
    methods: tuple[str, str]
    pairs: Pairs
    sample: Paired | None
    running: Running | None
    needed_most: Needed | None
    needed_average: Needed | None
    spread: Spread | None
    worst: tuple[Again, ...]
    found: tuple[Again, ...]
    given: tuple[Again, ...]
    test: ExtremesTest | None
    facts: Facts
    stats: dict[str, Any] | None
    troubles: tuple[str, ...]
    provenance: Provenance
    unfinished: tuple[str, int, str] | None = None

    @property
    def leader(self) -> Side:
        """The method that is above the other on more of the random sequences; A where as many."""
        return "a" if self.sample is None or self.sample.counts[0] >= self.sample.counts[2] else "b"

    @property
    def on_most(self) -> Side:
        """The method that is shown to be above the other on most sequences."""
        return self.running.on_most if self.running else self.sample.on_most if self.sample else ""


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    results = read_results(run)
    return Exported(results, summarise(run, results))


def summarise(run: Path, data: RunResults) -> DuelSummary:
    """Compute the summary of the results of a run; of one that was stopped, how far it came.

    Raises:
        UserError: its files are not those of a duel.
    """
    labels = _labels(run, data)
    name, origin, facts = str(data.config.get("run_id", run.resolve().name)), provenance(data.config), _facts(data)
    nothing = (None,) * 5
    if not data.finished:
        reached = str((data.stats or {}).get("reached") or "unknown")
        done = sum(r.complete for r in data.rollouts.values())
        unfinished = reached, done, resume_command(run, data.config.get("protocol"))
        return DuelSummary(name, labels, Pairs(), *nothing, (), (), (), None, facts, data.stats, (), origin, unfinished)
    of_others = bool(data.setting("on"))
    troubles = [b for b in biases(data.config) if of_others or (b != SEPARATED and data.setting("find") != "none")]
    pairs = pairs_of(data, labels, troubles)
    asked = pairs.first(facts.asked)
    sample = paired(asked.a, asked.b) if len(asked) else None
    every = paired(pairs.a, pairs.b) if len(pairs) else None
    running = None
    if every and data.setting("until") == "verdict":
        above, _, below = (running_share(n, every.L) for n in every.counts)
        running = Running(every.L, above, below)
    most, average = needed_for_claims(sample) if sample else (None, None)
    found, given = (_evaluated(data, labels, kind, asked, troubles) for kind in ("searched", "given"))
    return DuelSummary(
        name,
        labels,
        pairs,
        sample,
        running,
        most,
        average,
        _spread(data, labels, pairs),
        _worst(data, labels, pairs, every, troubles),
        tuple(a for a, _ in found),
        tuple(a for a, _ in given),
        _test(found, asked),
        facts,
        data.stats,
        tuple(troubles),
        origin,
    )


def _labels(run: Path, data: RunResults) -> tuple[str, str]:
    """Of A and B: all sequences are of both but what this run searched, which is of the method that it is worst for."""
    found = [s for s in data.sequences if _searched(data, s)]
    said = {s.method_ids for s in data.sequences if not _searched(data, s)}
    labels = said.pop() if len(said) == 1 else ()
    if len(labels) != 2 or any(s.method_ids not in ((labels[0],), (labels[1],)) for s in found):
        raise UserError(f"{run}: its sequences are not all of the same two methods: restore its files")
    return labels[0], labels[1]


def _searched(data: RunResults, s: TaskSequence) -> bool:
    """A sequence of this run's own search, not of that behind ``--on``."""
    return s.kind == "searched" and not data.setting("on")


def _facts(data: RunResults) -> Facts:
    asked, drawn, source = data.setting("sequences"), len(data.random()), str(data.setting("on") or "")
    whole = asked if isinstance(asked, int) and not source else drawn
    return Facts(whole, drawn, bool(data.setting("fixed_first")), source)


def _spread(data: RunResults, labels: tuple[str, str], pairs: Pairs) -> Spread | None:
    """From the random sequences that were trained with the scoring seeds, too; not the worst, which were chosen."""
    crossed = data.setting("crossed_orders")
    names = [n for i, n in zip(pairs.numbers, pairs.names, strict=True) if isinstance(crossed, int) and i < crossed]
    tables = [t for n in names if (t := table_of(data, labels, n)) is not None]
    if len(tables) < 2 or tables[0].shape[1] < 2:
        return None
    gaps = np.array([t[0] - t[1] for t in tables])
    return Spread(order_sd(gaps), training_sd(gaps), *gaps.shape)


def _worst(
    data: RunResults, labels: tuple[str, str], pairs: Pairs, every: Paired | None, troubles: list[str]
) -> tuple[Again, ...]:
    if every is None or every.worst_b.value - every.worst_a.value <= AGREE:
        return ()
    found = []
    for side, gap in (("a", every.worst_a), ("b", every.worst_b)):
        name = pairs.names[gap.number]
        table = table_of(data, labels, name)
        if table is None:
            troubles.append(f"{name} failed when it was trained again, and is left out.")
        else:
            found.append(_again("a" if side == "a" else "b", name, gap.value, table))
    return tuple(found)


def _evaluated(
    data: RunResults, labels: tuple[str, str], kind: str, asked: Pairs, troubles: list[str]
) -> list[tuple[Again, float]]:
    """Found (``searched``) sequences of this run, or given ones, with the gap of their first seed."""
    evaluated = []
    for s in data.sequences:
        searched = _searched(data, s)
        if s.kind == "random" or searched != (kind == "searched"):
            continue
        table = table_of(data, labels, s.sequence_id)
        if table is None:
            troubles.append(f"{s.sequence_id} failed with some seed, and is left out.")
            continue
        first = float(table[0, 0] - table[1, 0])
        side: Side = "" if not searched else "b" if s.method_ids == labels[1:] else "a"
        place = percentile([_unit(first)], _unit(asked.gaps)).orders[0].share if len(asked) else None
        evaluated.append((_again(side, s.sequence_id, None, table, place), first))
    return evaluated


def _again(side: Side, name: str, seen: float | None, table: Table, place: Interval | None = None) -> Again:
    a, b = table.mean(axis=1).tolist()
    return Again(side, name, table.shape[1], seen, a, b, mean_interval(table[0] - table[1], DIFFERENCE), place)


def _test(found: list[tuple[Again, float]], asked: Pairs) -> ExtremesTest | None:
    """Is a found gap more extreme than those of random sequences? One fresh training each."""
    by_side = {again.side: first for again, first in found}
    if not by_side or not len(asked):
        return None
    low, high = (None if (g := by_side.get(side)) is None else float(_unit(g)) for side in ("a", "b"))
    return extremes_test(low, high, _unit(asked.gaps))


def _unit(gap: Any) -> Any:
    """From -1 ... 1 to 0 ... 1: ranks are the same."""
    return (gap + 1) / 2
