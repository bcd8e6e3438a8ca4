"""The report of an online run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protocols.online.intervals import Estimate
from protocols.online.reading import OnlineResults
from protocols.online.summary import Figure, Learned, Summary
from protocols.report.figures import SERIES
from protocols.report.notes import findings
from protocols.report.online import blind, notes
from protocols.report.online.figures import figures
from protocols.report.online.tables import absent, baseline, checked, has_bounds, key, status, tables, whole
from protocols.report.view import View, progress, run_name
from seqsearch.stats.interval import AGREE

HOW = (
    'The protocol of "Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?": at each step seqsearch '
    "evaluates a learner on the next batch (online accuracy, S = 0) and on the batch that begins S samples after the last one "
    "learned (near-future accuracy). The learner then learns the next batch. Both accuracies are of the samples that are "
    "evaluated at every shift. Retention is the accuracy of the final model on a holdout, up to each time in its chart.",
    "The blind baseline predicts the most frequent of the last k labels, S samples ahead; k is the best on the search part. All "
    "cells of a map of k and S are of the same samples.",
    "Differences of learners are of the same samples, so that a trend that two learners share cancels. A cost of 1 is a forward "
    "and a backward pass of the whole network over one batch of the stream; evaluation is not counted.",
    "figures.parquet has the counts by block that all figures and intervals are made of. curves.parquet has the curves, "
    "blind.parquet the blind classifier over k and S, and shift.json how S came about.",
)
SHUFFLED = (
    "Trained and evaluated in order and shuffled: all cells are of samples that neither learner had seen, and no S is needed. A "
    "gain from having learned the very last samples shows in order, and not shuffled: there the learner that was trained "
    "shuffled has seen more of the window. Both differences of a row hold together (95 %)."
)


def view(s: Summary, results: OnlineResults | None = None) -> View:
    """Headline, tables, figures and notes. Accuracy over the stream stands beside the ranking, unless it needs many charts."""
    return View(
        section="online",
        name=run_name(s.run.config),
        kind="online continual learning",
        headline=notes.headline(s),
        tiles=tuple(notes.tiles(s)),
        key=(key(s),),
        tables=tables(s),
        notes=tuple(notes.notes(s)),
        draws=lambda: figures(s),
        key_figures=2 if len(s.learners) <= len(SERIES) + 1 else 1,
        how=(*HOW, *([SHUFFLED] if checked(s) else [])),
        configs=(s.run.config,),
        data=_data(s),
    )


def _data(s: Summary) -> dict[str, Any]:
    return {
        **progress(s.run.config, s.run.finished, s.run.stats),
        "findings": findings(notes.notes(s)),
        "stats": s.run.stats,
        "stream": s.stream,
        "shift": s.shift,
        "shift_choice": s.run.shift,
        "learners": [_learner(s, x) for x in s.learners],
        "without_figures": absent(s),
        "ranking": [x.label for x in whole(s)],
        "ranking_online": [x.label for x in sorted(whole(s), key=lambda x: (-x.at[0].accuracy, x.label))],
        "pairs": [
            {
                "first": p.first,
                "second": p.second,
                "online": _estimate(p.online),
                "future": _estimate(p.future),
                "order": p.flips,
                "order_over_seeds": p.flips_over_seeds,
            }
            for p in s.pairs
        ],
        "shuffled": [
            {
                "learner": x.label,
                "window": x.window,
                "accuracy": [{"trained": t, "judged": j, "accuracy": v} for (t, j), v in x.cells.items()],
                "judged_ordered": _estimate(x.ordered),
                "judged_shuffled": _estimate(x.shuffled),
            }
            for x in checked(s)
        ],
        "blind": _blind(s),
        "blind_by_sample": _by_sample(s),
    }


def _learner(s: Summary, x: Learned) -> dict[str, Any]:
    return {
        "label": x.label,
        "baseline": x.label == baseline(s),
        "status": x.status,
        "said": status(s, x),
        "seeds": x.seeds,
        "online": _figure(x.at.get(0)),
        "near_future": _figure(x.at.get(s.shift)),
        "drop": _estimate(x.drop),
        "retention": _figure(x.retention),
        "at": {str(shift): _figure(f) for shift, f in x.at.items()},
        "as_published": {str(shift): _figure(f) for shift, f in x.as_published.items()},
        "ranks": _ranks(s, x),
        "updates": x.updates,
        "spent": x.spent,
        "seconds": x.seconds,
        "state_bytes": x.state_bytes,
    }


def _ranks(s: Summary, x: Learned) -> dict[str, int | None]:
    """1 for the highest of the learners that came to their end, the baseline left out; None for others."""
    there = {o.label: o for o in whole(s) if o.label != baseline(s)}
    if x.label not in there:
        return dict.fromkeys(("online", "near_future", "retention"))
    others = there.values()
    return {
        "online": _rank(x.at[0], [o.at[0] for o in others]),
        "near_future": _rank(x.at[s.shift], [o.at[s.shift] for o in others]),
        "retention": _rank(x.retention, [o.retention for o in others]),
    }


def _rank(own: Figure | None, among: Sequence[Figure | None]) -> int | None:
    return None if own is None else 1 + sum(f is not None and f.accuracy > own.accuracy + AGREE for f in among)


def _figure(f: Figure | None) -> dict[str, Any] | None:
    return None if f is None else {**(_estimate(f.estimate) or {}), "by_seed": list(f.by_seed), "n": f.n}


def _estimate(t: Estimate | None) -> dict[str, Any] | None:
    return (
        None
        if t is None
        else {
            "value": t.interval.value,
            "low": t.interval.low,
            "high": t.interval.high,
            "lacking": t.unavailable_because,
            "over_seeds": {"low": t.over_seeds.low, "high": t.over_seeds.high} if has_bounds(t.over_seeds) else None,
        }
    )


def _blind(s: Summary) -> list[dict[str, Any]]:
    """The k of the baseline at each shift, and its row of the sweep of the main part in batches, if there is one."""
    names = ("n", "correct", "accuracy", "chance", "kappa")
    rows = ((shift, k, blind.standing(s, shift)) for shift, k in blind.chosen(s).items())
    return [{"shift": shift, "k": k, **{name: r[name] if r else None for name in names}} for shift, k, r in rows]


def _by_sample(s: Summary) -> dict[str, dict[str, Any]]:
    """The blind classifier by sample, as the paper defines it: at each shift, on the main part, with the k that does best on the
    search part; none where one of the two is too short."""
    search, main = blind.swept(s, "search", "sample"), blind.swept(s, "main", "sample")
    names, found = ("n", "correct", "accuracy", "chance", "kappa"), {}
    for shift in blind.chosen(s):
        at = {k: r["accuracy"] for (k, other), r in sorted(search.items()) if other == shift and (k, shift) in main}
        if at:
            k = max(at, key=lambda k: at[k])
            found[str(shift)] = {"k": k, **{name: main[k, shift][name] for name in names}}
    return found
