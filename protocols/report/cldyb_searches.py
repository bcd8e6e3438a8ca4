"""What a CLDyB summary says of how its sequences were searched for: with surrogates, screened, leaving out a method in turn."""

from __future__ import annotations

import math

from protocols.cldyb.screened import Screened
from protocols.cldyb.summary import Summary
from protocols.cldyb.surrogates import Agreement, Surrogates
from protocols.report.text import count, enumerated, percent, these
from seqsearch.distribution.contrast import IMAGES, SEEDS
from seqsearch.distribution.held_out import SEARCHES, HeldOut


def how_found(summary: Summary) -> str:
    """What the headline adds to its verdict; empty if the methods themselves were searched for, all or one by one."""
    if summary.surrogates:
        return f", found with surrogates ({', '.join(summary.surrogates.labels)})"
    if any(m.searched for m in summary.methods):
        return ", for methods that were left out of the search"
    return ""


def about_searches(summary: Summary) -> list[str]:
    """Notes."""
    return [
        *(_surrogates(summary.surrogates) if summary.surrogates else []),
        *(_screened(summary.screened) if summary.screened else []),
        *(_held_out(summary.held_out) if summary.held_out else []),
    ]


def _surrogates(s: Surrogates) -> list[str]:
    """Who searched, and how much that tells of the methods."""
    head = f"Searched with {', '.join(s.labels)}: the methods were trained only on what was found, and on random sequences."
    if s.tuned:
        return [f"{head} Hyperparameters of the methods were tuned, those of the surrogates were not."]
    if not s.agreements:
        return [f"{head} How the accuracies of both go together is not known: name a surrogate in --methods, too."]
    return [head, *(_agreement(a) for a in s.agreements)]


def _agreement(a: Agreement) -> str:
    c = a.coefficient.value
    known = math.isfinite(c.low)
    bounds = f"95 % interval {c.low:.2f} to {c.high:.2f}" if known else "no interval: too few, or all in one order"
    return (
        f"Final Acc of {a.surrogate} and {a.method}: rank correlation {c.value:.2f} ({bounds}) over "
        f"{count(a.sequences, 'random sequence')}, means over {count(a.seeds, 'training seed')}; conditional on the first task, "
        "the split and these seeds."
    )


def _screened(s: Screened) -> list[str]:
    """What was spared, and whether the prediction was any good."""
    said = (
        f"Screening (--screen-to): {s.spared} of {count(s.candidates, 'candidate')} were not trained, at {s.narrowed} of "
        f"{count(s.steps, 'step')}."
    )
    if s.predicted > s.narrowed:
        said += (
            f" At {s.predicted - s.narrowed} more all were judged, since the fit's leave-one-out predictions did not go with "
            "what the search had seen, or the share left none out."
        )
    if not s.correlations:
        return [said, "Whether prediction and J go together is not known: no step has three candidates with both."]
    low, mean, high = min(s.correlations), sum(s.correlations) / len(s.correlations), max(s.correlations)
    of = "the candidates judged, which were predicted to be hardest" if s.narrowed else "the candidates"
    return [
        said,
        f"Rank correlation of prediction and J among {of}: mean {mean:.2f} over {count(len(s.correlations), 'step')} "
        f"({low:.2f} to {high:.2f}; no interval: steps of a search share what was fitted).",
    ]


def _held_out(h: HeldOut) -> list[str]:
    """What being searched for costs, and over what the interval holds."""
    d = h.difference
    about = "Acc on sequences found without a method, minus on those found with it, mean over methods"
    if h.lacking:
        return [f"{about}: {percent(d.value)} points. No interval: {h.lacking}."]
    fixed = ["these methods", "the first task", "the split"]
    fixed += [f"these {h.groups * len(h.by_method)} found sequences"] * (SEARCHES not in h.parts)
    fixed += [these(h.seeds, "training seed")] * (SEEDS not in h.parts) + ["these test images"] * (
        IMAGES not in h.parts
    )
    said = (
        f"{about}: {percent(d.value)} points (95 % interval {percent(d.low)} to {percent(d.high)} over {enumerated(h.parts)}; "
        f"conditional on {enumerated(fixed)})."
    )
    c = h.conditional
    if {SEARCHES, SEEDS} & {*h.parts} and math.isfinite(c.low):
        said += f" Conditional on these searches and trainings as well: {percent(c.low)} to {percent(c.high)}."
    return [said]
