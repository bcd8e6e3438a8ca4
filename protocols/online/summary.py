"""Summary of an online run, computed from the rows of its files; all outputs show this one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from protocols.online.intervals import Blocks, Estimate, blocks_of, difference, mean
from protocols.online.reading import BY_SAMPLE, OnlineResults, read_run
from protocols.running.protocol import Exported
from seqsearch.results.rows import Row
from seqsearch.stats.interval import Interval

HELD_OUT = -1
"""Value of the column ``shift`` for the holdout."""
Flip = Literal["flips", "same", "not told"]
UNDECIDED: Literal["not told"] = "not told"
"""As in `--json`."""


@dataclass(frozen=True)
class Figure:
    """An accuracy: ``estimate`` its mean over training seeds with its interval, ``by_seed [seeds]``, ``n`` samples evaluated."""

    estimate: Estimate
    by_seed: tuple[float, ...]
    n: int

    @property
    def accuracy(self) -> float:
        """The mean."""
        return self.estimate.interval.value


@dataclass(frozen=True)
class Learned:
    """One learner, in order of time.

    Attributes:
        status: ``ok``, or how the first of its runs that did not come to its end ended.
        seeds: training seeds.
        at: accuracy by shift, all on the samples that are evaluated at every shift; 0 is online accuracy.
        as_published: the same on all samples evaluated at each shift.
        drop: online minus near-future accuracy, on the same samples; None if one of them is not known.
        retention: of the final model on the holdout; None if there is none.
        updates: a step; ``spent``: their cost; ``seconds``: of learning, a step; None where nothing was measured.
        state_bytes: of what it keeps at the end.
    """

    label: str
    status: str
    seeds: int
    at: Mapping[int, Figure]
    as_published: Mapping[int, Figure]
    drop: Estimate | None
    retention: Figure | None
    updates: float | None
    spent: float | None
    seconds: float | None
    state_bytes: int | None


@dataclass(frozen=True)
class Pair:
    """Two learners: ``online`` and ``future``, first minus second, on the same samples. All intervals of a run hold together.

    ``flips``: whether near-future accuracy turns their order round, beyond noise on both sides, with these training seeds;
    ``flips_over_seeds``: with others as well, "not told" below three seeds.
    """

    first: str
    second: str
    online: Estimate
    future: Estimate

    @property
    def flips(self) -> Flip:
        """See the class."""
        return _order(self.online.interval, self.future.interval)

    @property
    def flips_over_seeds(self) -> Flip:
        """See the class."""
        return _order(self.online.over_seeds, self.future.over_seeds)


def _order(online: Interval, future: Interval) -> Flip:
    a, b = online.sign, future.sign
    return UNDECIDED if not (a and b) else "same" if a == b else "flips"


@dataclass(frozen=True)
class Shuffled:
    """Effect of the order of samples on one learner, without a shift.

    The learner is trained in order of time, and shuffled within ``window``.

    Attributes:
        cells: accuracy by (trained, evaluated), each ``ordered`` or ``shuffled``. Both cells of a column are evaluated
            on the same samples, which neither run had seen.
        ordered, shuffled: accuracy trained in order minus accuracy trained shuffled. Both are evaluated in the named
            order, on the same samples, at the same age of the model. It is the effect of having learned the very last
            samples. In ``ordered`` they are neighbours of the evaluated samples, in ``shuffled`` they are not.
    """

    label: str
    window: int
    cells: Mapping[tuple[str, str], float]
    ordered: Estimate
    shuffled: Estimate


@dataclass(frozen=True)
class Summary:
    """Results of an online run.

    Attributes:
        shift: S, in samples.
        by_sample: the blind baseline evaluated by sample; None in runs of earlier versions. No learner is compared with
            it, because it sees labels within a batch.
    """

    run: OnlineResults
    shift: int
    learners: tuple[Learned, ...]
    pairs: tuple[Pair, ...]
    shuffled: tuple[Shuffled, ...]
    by_sample: Learned | None = None

    @property
    def stream(self) -> dict[str, Any]:
        """Return the recorded description of the stream."""
        return self.run.identity("stream")

    def ranked(self, shift: int) -> list[Learned]:
        """Learners that came to their end, by accuracy at a shift, highest first."""
        return sorted((x for x in self.learners if shift in x.at), key=lambda x: (-x.at[shift].accuracy, x.label))


Key = tuple[int, int, int, str, int]
"""Learned window, evaluated window, shift, samples, window that they are unseen for."""
ByKey = Mapping[Key, Sequence[Row]]


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    results = read_run(run)
    return Exported(results, summarise(results))


def summarise(run: OnlineResults) -> Summary:
    """From rows to figures."""
    by_label: dict[str, dict[Key, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for r in run.figures:
        key = r["learned_window"], r["judged_window"], r["shift"], r["samples"], r["unseen_by"]
        by_label[r["method_id"]][key].append(r)
    shift, apart = run.shift["shift"], by_label.pop(BY_SAMPLE, None)
    learners = tuple(_learned(label, rows, shift) for label, rows in by_label.items())
    pairs = _pairs(by_label, shift)
    shuffled = [s for label, rows in by_label.items() for s in _shuffled(label, rows, shift)]
    by_sample = _learned(BY_SAMPLE, apart, shift) if apart else None
    return Summary(run, shift, learners, tuple(pairs), tuple(shuffled), by_sample)


def _common(rows: ByKey, shift: int) -> Blocks | None:
    """In order of time, on the samples that are evaluated at every shift; with a single shift these are all."""
    found = rows.get((0, 0, shift, "common", 0)) or rows.get((0, 0, shift, "all", 0))
    return blocks_of(found) if found else None


def _learned(label: str, rows: ByKey, shift: int) -> Learned:
    flat = [r for key, found in rows.items() if not key[0] for r in found]
    shifts = sorted({s for learned, evaluated, s, _, _ in rows if not learned and not evaluated and s != HELD_OUT})
    at = {s: _figure(b, max(s, shift)) for s in shifts if (b := _common(rows, s)) is not None}
    published = {
        s: _figure(blocks_of(rows[0, 0, s, "all", 0]), max(s, shift)) for s in shifts if (0, 0, s, "all", 0) in rows
    }
    now, later = _common(rows, 0), _common(rows, shift)
    held_out = rows.get((0, 0, HELD_OUT, "holdout", 0))
    return Learned(
        label,
        next((r["status"] for r in flat if r["status"] != "ok"), "ok"),
        len({r["seed"] for r in flat}),
        at,
        published,
        difference(now, later, shift, same_trainings=True) if shift and now and later else None,
        _figure(blocks_of(held_out), shift) if held_out else None,
        _a_step(flat, "updates"),
        _a_step(flat, "spent"),
        _a_step(flat, "learning_seconds"),
        max((r["state_bytes"] for r in flat if r["state_bytes"] is not None), default=None),
    )


def _figure(blocks: Blocks, shift: int) -> Figure:
    return Figure(mean(blocks, shift), tuple(blocks.by_seed.tolist()), int(blocks.n.sum()))


def _a_step(rows: Sequence[Row], name: str) -> float | None:
    """Mean over training seeds; None where it is not known."""
    by_seed = {r["seed"]: r for r in rows}
    values = [r[name] / r["steps"] for r in by_seed.values() if r[name] is not None and r["steps"]]
    return float(np.mean(values)) if values else None


def _pairs(by_label: Mapping[str, ByKey], shift: int) -> list[Pair]:
    """All pairs of learners that came to their end, online and near-future; intervals of all of them hold together."""
    whole = {
        label: (now, later)
        for label, rows in by_label.items()
        if (now := _common(rows, 0)) and (later := _common(rows, shift))
        if all(r["status"] == "ok" for found in rows.values() for r in found if not r["learned_window"])
    }
    together = len(whole) * (len(whole) - 1)  # each pair, online and near-future
    return [
        Pair(a, b, *(difference(whole[a][i], whole[b][i], shift, together) for i in (0, 1)))
        for a, b in combinations(whole, 2)
    ]


def _shuffled(label: str, rows: ByKey, shift: int) -> list[Shuffled]:
    """For each window; both columns of the two by two, each on samples that neither learner had seen."""
    found = []
    for window in sorted({key[0] for key in rows if key[0]}):
        keys: dict[tuple[str, str], Key] = {
            ("ordered", "ordered"): (0, 0, 0, "unseen", window), ("shuffled", "ordered"): (window, 0, 0, "all", 0),
            ("ordered", "shuffled"): (0, window, 0, "all", 0), ("shuffled", "shuffled"): (window, window, 0, "unseen", window),
        }  # fmt: skip
        if all(rows.get(k) and all(r["status"] == "ok" for r in rows[k]) for k in keys.values()):
            cells = {name: blocks_of(rows[k]) for name, k in keys.items()}
            gains = (difference(cells["ordered", j], cells["shuffled", j], shift, 2) for j in ("ordered", "shuffled"))
            found.append(Shuffled(label, window, {name: b.accuracy for name, b in cells.items()}, *gains))
    return found
