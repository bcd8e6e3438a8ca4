"""The columns of the Parquet files of ``seqsearch online`` (see `seqsearch.results.schema`)."""

from __future__ import annotations

from seqsearch.results.schema import Column, Layout

_RUN = Column("run_id", "string", "-", "name of the run")
_METHOD = Column(
    "method_id",
    "string",
    "-",
    "label of the learner, with sampler and budget; 'blind (k chosen)': the blind baseline; "
    "'blind by sample (k chosen)': evaluated by sample",
)
_SEED = Column("seed", "int64", "-", "training replicate")
_LEARNED = Column(
    "learned_window", "int64", "samples", "window within which the stream was shuffled for learning; 0: order of time"
)
_EVALUATED = Column("judged_window", "int64", "samples", "the same of the order in which it was evaluated")
_SHIFT = Column(
    "shift", "int64", "samples", "S: how far ahead it was evaluated; 0 is online accuracy; -1: the holdout (retention)"
)

FIGURES = Layout(
    "figures.parquet",
    ("run_id", "method_id", "seed", "learned_window", "judged_window", "shift", "samples", "unseen_by"),
    (
        _RUN,
        _METHOD,
        Column("config_digest", "string", "-", "identity of source, parameters, backbone weights, versions"),
        _SEED,
        _LEARNED,
        _EVALUATED,
        _SHIFT,
        Column(
            "samples",
            "string",
            "-",
            "which samples: all evaluated; common: those evaluated at every shift; unseen: those that neither a learner in "
            "order of time nor one in the order of the window unseen_by had seen; holdout",
        ),
        Column("unseen_by", "int64", "samples", "see samples; else 0"),
        Column("n", "int64", "samples", "evaluated"),
        Column("correct", "int64", "samples", "of these classified right"),
        Column("accuracy", "float64?", "fraction", "correct / n"),
        Column(
            "block",
            "int64",
            "samples",
            "length of a block, in the order that was evaluated; of the holdout, in order of time",
        ),
        Column("block_n", "list<int64>", "samples", "evaluated, by block"),
        Column("block_correct", "list<int64>", "samples", "of these right, by block"),
        Column("status", "string", "-", "of the whole run: ok, diverged, oom, timeout, failed, or unfinished"),
        Column("steps", "int64", "steps", "learned"),
        Column("updates", "float64?", "updates", "made"),
        Column(
            "spent",
            "float64?",
            "updates",
            "their cost: 1 is forward and backward of the whole network over a batch of the stream",
        ),
        Column("learning_seconds", "float64?", "s", "learning, all steps; null if some of them were not measured"),
        Column("judging_seconds", "float64?", "s", "evaluation on the way, all steps"),
        Column("state_bytes", "int64?", "bytes", "of what was learned, at the end"),
    ),
)

CURVES = Layout(
    "curves.parquet",
    ("run_id", "method_id", "seed", "learned_window", "judged_window", "shift", "measure", "position"),
    (
        _RUN,
        _METHOD,
        _SEED,
        _LEARNED,
        _EVALUATED,
        _SHIFT,
        Column(
            "measure",
            "string",
            "-",
            "accuracy: up to this position, and within the window of the curve that ends there; retention: of the final model on "
            "the holdout up to this time; trace: of the model at this time on the holdout up to this time",
        ),
        Column("position", "int64", "samples", "end of the window, in the main part; of retention in the holdout"),
        Column("accuracy", "float64?", "fraction", "of all samples up to here"),
        Column("window_accuracy", "float64?", "fraction", "of the samples since the point before"),
    ),
)

BLIND = Layout(
    "blind.parquet",
    ("run_id", "part", "form", "k", "shift"),
    (
        _RUN,
        Column("part", "string", "-", "search (on which k and S are chosen) or main"),
        Column(
            "form",
            "string",
            "-",
            "sample: what was revealed S samples before; batch: what a learner knows that is evaluated in batches",
        ),
        Column("k", "int64", "samples", "labels whose mode is predicted"),
        _SHIFT,
        Column("n", "int64", "samples", "evaluated, the same for all k and shifts of a part"),
        Column("correct", "int64", "samples", "of these right"),
        Column("accuracy", "float64", "fraction", "correct / n"),
        Column(
            "chance",
            "float64",
            "fraction",
            "accuracy if predictions and labels were independent, each as frequent as it is",
        ),
        Column("kappa", "float64", "-", "(accuracy - chance) / (1 - chance)"),
    ),
)

SHIFT = "shift.json"
"""How the shift was chosen; it has no layout here."""

STREAM_LAYOUTS = (FIGURES, CURVES, BLIND)
