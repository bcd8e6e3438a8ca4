"""What every column of the protocols' tables is: for ``seqsearch metrics`` and docs/metrics.md, which a test holds to this."""

from __future__ import annotations

from dataclasses import dataclass

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief

CLDYB = "CLDyB: Towards Dynamic Benchmarking for Continual Learning"
EDGE = "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"
GTEP = "Hyperparameters in Continual Learning: A Reality Check"
MCIL = "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks"
OURS = "this program (docs/distribution.md)"
ROWS = ("", "Method", "Learner", "Pair", "sequence", "order", "estimate", "similarity", "scale", "feature", "status",
        "random sequences",
        "worst for", "window", "judged by", "planner")  # fmt: skip
"""Columns that name a row, or say how it ended."""


@dataclass(frozen=True)
class Column:
    """A column of a table of ``protocol``; ``headings`` as printed, ``...`` where they hold what a run says.

    ``over``: what its interval is over; empty where it has none.
    """

    protocol: str
    headings: tuple[str, ...]
    formula: str
    unit: str
    bounds: str
    source: str
    over: str = ""


COLUMNS = (
    Column("cldyb", ("Acc",), "mean over i <= T of a_Ti: all T tasks, after the last", "%", "0 to 100", CLDYB),
    Column("cldyb", ("AR",), "-AFM = mean over i < T of a_Ti - a_ii: retention; 0 for T = 1", "points", "-100 to 100",
           f"{CLDYB}, Eq. 2 with its sign turned"),
    Column("cldyb", ("AFM",),
           "mean over i < T of a_ii - a_Ti: average forgetting; no column, but in rewards and JSON", "points",
           "-100 to 100", f"{CLDYB}, Eq. 2"),
    Column("cldyb", ("ALA",), "mean over i <= T of a_ii: each task right after it was learned", "%", "0 to 100",
           f"{CLDYB}, Eq. 1"),
    Column("cldyb", ("worst",), "lowest Acc of the found sequences", "%", "0 to 100", OURS),
    Column("cldyb", ("Robust-ness",), "lowest Acc on the sequences found for any of the methods", "%", "0 to 100",
           CLDYB),
    Column("cldyb", ("Relative drop",), "(Acc random - Acc found) / Acc random", "%", "at most 100", OURS,
           "found and random sequences, training seeds and test images, as the caption says"),
    Column("cldyb", ("Drop",), "the relative drop on the sequences that were searched, not held out", "%",
           "at most 100", OURS),
    Column("cldyb", ("Size",), "parameters, statistics and exemplars beyond the backbone", "MB", "from 0", OURS),
    Column("edge", ("random", "sequences", "groups"), "how many the row is of", "count", "from 0", OURS),
    Column("edge", ("mean [95 %]", "mean"), "mean of final accuracy (Eq. 1), one training a sequence", "%",
           "0 to 100", EDGE,
           "class sequences and training seeds"),
    Column("edge", ("adjusted [95 %]",), "the same mean with S as control variate", "%", "0 to 100", OURS,
           "class sequences and training seeds"),
    Column("edge", ("sd",), "of single trainings (ddof 1); ddof 0 for RS and EDGE as published", "points", "from 0",
           EDGE),
    Column("edge", ("training",), "sd of trainings of one sequence", "points", "from 0", OURS),
    Column("edge", ("lowest", "highest", "lowest seen", "highest seen", "min", "max"),
           "least and greatest final accuracy; of a feature of the fit, its range", "%",
           "0 to 100", EDGE),
    Column("edge", ("beyond",), "1 - 0.05^(1/L): share below the lowest of L, or above the highest, at most", "%",
           "0 to 100",
           f"{OURS}; 95 % confidence"),
    Column("edge", ("hard", "easy"), "final accuracy of these sequences, mean over their seeds", "%", "0 to 100",
           EDGE),
    Column("edge", ("easy - hard [95 %]",), "of the first of each", "points", "-100 to 100", OURS,
           "training noise only"),
    Column("edge", ("paper: mean", "paper: sd"), "of the hard, one random and the easy sequence (ddof 0)", "%",
           "0 to 100", EDGE),
    Column("edge", ("accuracy",), "final accuracy of an order", "%", "0 to 100", f"{EDGE}, Eq. 1"),
    Column("edge", ("percentile [95 %]", "place [95 %]"), "random sequences that score lower, ties half", "%",
           "0 to 100", OURS,
           "random sequences"),
    Column("edge", ("S",), "mean similarity of the classes of neighbouring tasks, or --objective",
           "that of the similarity", "any",
           f"{EDGE}, Eq. 5"),
    Column("edge", ("from random", "beyond random"), "(S - mean of random S) / sd of random S", "sd", "any", OURS),
    Column("edge", ("bound",), "what S of no sequence goes beyond", "that of S", "any",
           "Hadley, Rendl and Wolkowicz 1992"),
    Column("edge", ("of the way", "of the way to it"), "(S - mean) / (bound - mean), or proven optimum", "%",
           "at most 100", OURS),
    Column("edge", ("overlap",), "share of its weight in pairs of classes that an earlier extreme weighs too", "%", "0 to 100",
           OURS),
    Column("edge", ("moves", "seconds"), "exchanges tried, and time spent on the search", "count, s", "from 0", OURS),
    Column("edge", ("JSD, nats",), "Jensen-Shannon divergence of the truth's histogram and the fitted normal", "nats",
           "0 to 0.693", f"{EDGE}, Table 1"),
    Column("edge", ("W1, points", "W2, points"), "Wasserstein distances of truth and fitted normal", "points",
           "from 0",
           f"{EDGE}, Table 1"),
    Column("edge", ("lambda",), "of the Box-Cox transformation", "1", "any", f"{EDGE}, Table A3"),
    Column("edge", ("Shapiro-Wilk", "D'Agostino", "KS", "Lilliefors", "p"), "p-value", "1", "0 to 1",
           f"{EDGE}, Table A3, Fig. 2"),
    Column("edge", ("Pearson [95 %]", "Spearman [95 %]"), "correlation of S and accuracy", "1", "-1 to 1",
           f"{EDGE}, Fig. 2",
           "sequences, or groups that share S"),
    Column("edge", ("predicted", "fitted", "worst, best: chosen at", "again"),
           "accuracy by the fit, on fresh seeds, when chosen, "
           "and trained again", "%", "0 to 100", OURS),
    Column("edge", ("fitted - again [95 %]", "fitted - objective's [95 %]"), "differences of these", "points",
           "-100 to 100", OURS,
           "training seeds"),
    Column("edge", ("effect",), "accuracy per sd of a feature, of the ridge regression", "points", "any", OURS),
    Column("gtep", ("Acc", "Acc (sd)", "...: Acc"),
           "test images of all classes right after the last task, pooled; sd over class orders",
           "%", "0 to 100", GTEP),
    Column("gtep", ("AvgAcc", "AvgAcc (sd)", "...: AvgAcc"), "mean over tasks t of Acc after task t", "%",
           "0 to 100", GTEP),
    Column("gtep", ("H [95 %]",), "2 Acc AvgAcc / (Acc + AvgAcc), of the means over class orders", "%", "0 to 100",
           GTEP,
           "class orders and training seeds"),
    Column("gtep", ("rank",), "place by H; * not told from the first", "1", "from 1", GTEP),
    Column("gtep", ("stored", "time"), "parameters beyond the backbone; time to train one class order", "MB, s",
           "from 0", OURS),
    Column("mcil", ("Avg [95 %]", "Avg"), "mean of A_1 to A_T", "%", "0 to 100", MCIL, "runs: class orders and seeds"),
    Column("mcil", ("A_1", "A_T", "..."),
           "A_t: mean over the classes seen of the share of a class's images that is right", "%",
           "0 to 100", f"{MCIL}, below Eq. 2"),
    Column("mcil", ("pooled",), "Avg of the share of all images that is right", "%", "0 to 100",
           f"{MCIL}, Eq. 2 as printed"),
    Column("mcil", ("PD A_1 - Avg", "PD A_1 - A_T"), "performance drop, as printed and as the text has it", "points",
           "-100 to 100",
           f"{MCIL}, Tables 2 to 4 and appendix B"),
    Column("mcil", ("forgetting",), "mean over i < T of max over t < T of a_ti, minus a_Ti", "points", "-100 to 100",
           "Riemannian Walk for Incremental Learning (Chaudhry et al., 2018), Eq. 3"),
    Column("mcil", ("transfer",), "mean over i < T of a_Ti - a_ii: backward transfer", "points", "-100 to 100",
           "Gradient Episodic Memory for Continual Learning (2017), Eq. 3"),
    Column("mcil", ("runs", "orders", "seeds"), "how many there are; of orders and seeds the sd of Avg by each",
           "count; points",
           "from 0", OURS),
    Column("mcil", ("parameters", "kept, MB", "of it exemplars", "training, s", "judging, s"),
           "what a run trains, keeps and takes",
           "as printed", "from 0", OURS),
    Column("mcil", ("difference [95 %]", "lost [95 %]"), "of Avg: of two methods, or without a modality", "points",
           "-100 to 100",
           OURS, "runs, paired"),
    Column("mcil", ("p",), "p-value of the row's comparison", "1", "0 to 1", OURS),
    Column("online", ("online [95 %]", "online"), "accuracy on each batch before it is learned", "%", "0 to 100",
           "Eq. of near-future accuracy with S = 0 (docs/online.md)", "blocks of the stream and seeds"),
    Column("online", ("S = ...", "S = ... [95 %]", "near future (S = 0)"),
           "near-future accuracy: on the batch that begins S samples "
           "after the last one learned", "%", "0 to 100", "docs/online.md, near-future accuracy",
           "blocks of the stream and seeds"),
    Column("online", ("drop [95 %]",), "online minus near-future accuracy", "points", "-100 to 100", OURS,
           "blocks of the stream and seeds"),
    Column("online", ("retention",), "accuracy of the final model on the holdout", "%", "0 to 100", "docs/online.md"),
    Column("online", ("updates", "ms"), "of learning, a step", "count, ms", "from 0", OURS),
    Column("online", ("in order: o", "shuffled: o", "s"),
           "accuracy of a learner trained in order (o) or shuffled (s)", "%",
           "0 to 100", OURS),
    Column("online", ("difference",), "o minus s", "points", "-100 to 100", OURS,
           "blocks of the stream, both of a row together"),
    Column("duel", ("... above", "alike", "lower at random"), "share of random sequences", "%", "0 to 100", OURS,
           "class sequences"),
    Column("duel", ("sign test p",), "p-value that either method is above as often", "1", "0 to 1", OURS),
    Column("duel", ("mean gap [95 %]", "median [95 %]"), "first minus second method, one training each", "points",
           "-100 to 100",
           OURS, "class sequences"),
    Column("duel", ("...",), "accuracy of each method on this sequence", "%", "0 to 100", OURS),
    Column("duel", ("when picked", "gap on fresh seeds [95 %]"),
           "gap of a sequence, when chosen (biased) and on fresh seeds", "points",
           "-100 to 100", OURS, "training noise"),
)  # fmt: skip


def matching(name: str) -> list[Column]:
    """The columns of a protocol, or those whose heading begins with ``name``, whatever its case.

    Raises:
        UserError: there is none.
    """
    wanted = name.lower()
    found = [c for c in COLUMNS if c.protocol == wanted or any(h.lower().startswith(wanted) for h in c.headings)]
    if not found or not wanted:
        raise UserError(f"{brief(name)}: no such column or protocol; seqsearch metrics lists them all")
    return found


def text(columns: tuple[Column, ...] | list[Column] = COLUMNS) -> str:
    """For a terminal: a paragraph a column."""
    return "\n\n".join(
        f"{' | '.join(c.headings)} ({c.protocol})\n  {c.formula}\n  in {c.unit}, {c.bounds}; from: {c.source}"
        + (f"\n  interval over: {c.over}" if c.over else "")
        for c in columns
    )


def page() -> str:
    """docs/metrics.md."""
    lines = [
        "# Metrics", "",
        "What the columns of the tables are; `seqsearch metrics [NAME]` prints the same of a column or a protocol. "
        "`seqsearch metrics --markdown` wrote this page.", "",
        "a_ti is the accuracy on task (experience) i after task t was learned, T the last one; shown in percent. "
        "`...` stands for what a run says, as a method or a pool.",
    ]  # fmt: skip
    for protocol in dict.fromkeys(c.protocol for c in COLUMNS):
        lines += [
            "",
            f"## {protocol}",
            "",
            "| column | formula | unit | range | source | interval over |",
            "|---|---|---|---|---|---|",
        ]
        for c in (c for c in COLUMNS if c.protocol == protocol):
            cells = (", ".join(f"`{h}`" for h in c.headings), c.formula, c.unit, c.bounds, c.source, c.over or "-")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
