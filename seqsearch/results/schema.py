"""The columns of a run's Parquet files: name, type, unit, meaning. A test holds ``docs/schema.md`` to them.

Types are plain (``string``, ``int64``, ``float64``, ``bool`` and lists of them), so that pandas, DuckDB and
``datasets`` need no code of ours. ``?`` behind a type says that the value may be missing (null).
"""

from __future__ import annotations

from dataclasses import dataclass

VERSION = 1
"""Raised when a column changes its meaning or goes; new columns do not raise it."""
PLANS, FITS, SIMILARITY, STATS, CHOSEN = "plan.json", "fit.json", "similarity.parquet", "stats.json", "chosen.yaml"
"""Files of a run that have no layout here: plans and fits of EDGE, the matrix that they were made on, counts and times, the
parameters that gtep chose."""


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    unit: str
    meaning: str
    added: bool = False
    """Files written before it was there are read without it, as null."""


@dataclass(frozen=True)
class Layout:
    """One file: its name in the run folder, its primary key (unique, tested) and its columns in order."""

    file: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]


_RUN = Column("run_id", "string", "-", "name of the run")
_SEQUENCE = Column("sequence_id", "string", "-", "name of the sequence, unique within the run")
_KIND = Column(
    "kind",
    "string",
    "-",
    "how the sequence came about: searched, random, hard, easy, named (an order of --heuristics), given, enumerated, heldout "
    "(random, of a pool that no search saw), regrouped or reordered (a found one), fitted (extreme by a fit to accuracies), "
    "retrained (another one again, with other seeds), or joint: all classes of another as one task",
)

SEQUENCES = Layout(
    "sequences.parquet",
    ("run_id", "sequence_id", "step", "position"),
    (
        _RUN,
        _SEQUENCE,
        _KIND,
        Column("method_ids", "list<string>", "-", "methods it was found for, or all that are evaluated on it"),
        Column("seed", "int64", "-", "study seed behind the search or the draw"),
        Column("step", "int64", "task", "place of the task in the sequence, from 1"),
        Column("class_id", "int64", "class index", "index of the class within its pool"),
        Column("class_name", "string?", "-", "name of the class; null for a class of another pool"),
        Column("group", "string?", "-", "group of the class; null for a class of another pool"),
        Column("pool_digest", "string", "-", "identity of the pool that class_id counts in"),
        Column(
            "value",
            "float64?",
            "accuracy or similarity",
            "of a search, J of the task when chosen (larger is harder), if evaluated; of seqsearch edge, S of the sequence",
        ),
        Column("position", "int64", "class", "place of the class within its task, from 0, in order of arrival"),
        Column("split_digest", "string", "-", "identity of the split into train, val, reward and test images"),
        Column(
            "shared",
            "bool?",
            "-",
            "of gtep, on pools that share classes with the pool tuned on (--allow-overlap): whether this one does; else null",
            added=True,
        ),
    ),
)

RESULTS = Layout(
    "results.parquet",
    ("run_id", "sequence_id", "role", "method_id", "seed", "split", "trained_step", "evaluated_step"),
    (
        _RUN,
        _SEQUENCE,
        _KIND,
        Column("role", "string", "-", "search (biased by selection) or rescore (fresh seeds; headline figures)"),
        Column("method_id", "string", "-", "label of the method"),
        Column("config_digest", "string", "-", "identity of source, parameters, backbone weights, versions"),
        Column("seed", "int64", "-", "training replicate"),
        Column("trained_step", "int64", "task", "number of tasks trained, from 1 (row t of the accuracy matrix)"),
        Column("evaluated_step", "int64", "task", "task that was evaluated, from 1 (column of the accuracy matrix)"),
        Column("split", "string", "-", "images evaluated: reward (what searches look at) or test (reported)"),
        Column("n", "int64?", "images", "images evaluated"),
        Column("correct", "int64?", "images", "of these classified right, with scores over all classes seen"),
        Column("accuracy", "float64?", "fraction", "correct / n; null where a failed rollout stopped"),
        Column(
            "masked_accuracy",
            "float64?",
            "fraction",
            "the same with scores restricted to the task's own classes; null of a command",
        ),
        Column("status", "string", "-", "of the whole rollout, on all its rows: ok, diverged, oom, timeout or failed"),
        Column("weight_tag", "string", "-", "backbone and weights that the method used; empty of a command"),
        Column("train_seconds", "float64", "s", "training time of the whole rollout, on all its rows"),
        Column(
            "backbone_bytes",
            "int64?",
            "bytes",
            "parameters of the backbone; null if it failed, or of a command",
            added=True,
        ),
        Column("params_bytes", "int64?", "bytes", "parameters beyond the backbone at the end; null if it failed"),
        Column("statistics_bytes", "int64?", "bytes", "stored statistics at the end; null if it failed"),
        Column("exemplar_bytes", "int64?", "bytes", "stored 8-bit images at the end; null if it failed"),
        Column(
            "class_n",
            "list<int64>?",
            "images",
            "images evaluated of each class of the task, in their order; of the last trained step, or as class_correct",
            added=True,
        ),
        Column(
            "right",
            "string?",
            "-",
            "which of these were classified right, class by class: bits (numpy.packbits) in base64; null where unknown",
            added=True,
        ),
        Column(
            "class_correct",
            "list<int64>?",
            "images",
            "of gtep, where test images are evaluated: of class_n classified right; else null",
            added=True,
        ),
    ),
)

TRACE = Layout(
    "trace.parquet",
    ("run_id", "search_id", "step", "candidate"),
    (
        _RUN,
        Column("search_id", "string", "-", "name of the search"),
        Column("step", "int64", "task", "place in the sequence that the candidate stood for, from 1"),
        Column("candidate", "int64", "-", "number of the candidate within its step, from 0"),
        Column("class_ids", "list<int64>", "class index", "its classes, in order of arrival"),
        Column("pool_digests", "list<string>", "-", "identity of the pool that each class id counts in"),
        Column(
            "groups", "list<string>?", "-", "group of each class, in the same order; empty where unknown", added=True
        ),
        Column("value", "float64?", "accuracy", "J: mean return of its simulations (larger is harder), if valid"),
        Column("reward", "float64?", "accuracy", "the part of J that the candidate brought, without look-ahead"),
        Column(
            "noise",
            "float64?",
            "accuracy",
            "standard error of J: the candidate's own reward images and draws of look-ahead tasks; null if unknown",
            added=True,
        ),
        Column("visits", "int64", "simulations", "simulations spent on it"),
        Column("nll", "list<float64>", "nat", "k-NN negative log-likelihood by method; empty without clustering"),
        Column("train_seconds", "float64", "s", "training time behind its simulations"),
        Column("status", "string", "-", "ok, or the first trouble in one line"),
        Column("chosen", "bool", "-", "whether the search moved there"),
        Column(
            "predicted",
            "float64?",
            "sd of the step",
            "own reward within the step as a fit to the search's trace predicted it before training (--screen-to); else null",
            added=True,
        ),
        Column(
            "spared",
            "bool?",
            "-",
            "whether it was not trained, since others were predicted to be harder",
            added=True,
        ),
    ),
)

TRAININGS = Layout(
    "trainings.parquet",
    ("run_id", "training"),
    (
        _RUN,
        Column("training", "int64", "-", "number of the training, from 0, in order of arrival"),
        Column("state", "string", "-", "identity of the state trained; unique unless a lost state came again"),
        Column("method_id", "string", "-", "label of the method"),
        Column("seed", "int64", "-", "training replicate"),
        Column("depth", "int64", "tasks", "tasks that the state has learned; this training was the last of them"),
        Column("seconds", "float64", "s", "wall time of the training; 0 for a lost state trained on the way"),
        Column(
            "peak_bytes",
            "int64?",
            "byte",
            "peak memory: of the GPU, or of the worker's process so far; null if unknown",
        ),
        Column(
            "notes",
            "string",
            "-",
            "JSON: what is noted of this training, e.g. its last loss, RanPAC's lambda, how far features moved (moved)",
        ),
        Column("worker", "string", "-", "who trained it"),
        Column("session", "int64", "-", "1 for the first start of the run, one more for each resume"),
        Column(
            "origin",
            "string",
            "-",
            "where the state it started from was: ram, disk, store, another worker's name, trained (again), or empty",
        ),
    ),
)

TRIALS = Layout(
    "trials.parquet",
    ("run_id", "pool", "method_id", "trial"),
    (
        _RUN,
        Column("method_id", "string", "-", "label of the method that was tuned (--tune-tasks, or seqsearch gtep)"),
        Column(
            "trial",
            "int64",
            "-",
            "number of the setting, from 0; with --tune-tasks 0 is what was given or else the defaults, in gtep all are drawn",
        ),
        Column("config_digest", "string", "-", "identity of source, parameters, backbone weights, versions"),
        Column("params", "string", "-", "JSON: its parameters, as far as they differ from the defaults"),
        Column("accuracy", "float64?", "fraction", "final accuracy on the reward images of the tasks tuned on"),
        Column("status", "string", "-", "ok, diverged, oom, timeout or failed"),
        Column(
            "train_seconds",
            "float64",
            "s",
            "training time of the whole trial; in gtep a first task that trials share counts in each",
        ),
        Column("trainings", "int64", "-", "trainings of the trial: tasks learned"),
        Column("chosen", "bool", "-", "whether the run goes on with it"),
        Column(
            "pool", "string?", "-", "of gtep: the pool that it was tried on, as it was named; else null", added=True
        ),
        Column(
            "average_accuracy",
            "float64?",
            "fraction",
            "of gtep: AvgAcc, mean over tasks learned and class orders of the accuracy over all images of the classes seen",
            added=True,
        ),
        Column(
            "harmonic_mean",
            "float64?",
            "fraction",
            "of gtep: of accuracy and average_accuracy, what is chosen by; null if an order diverged or it was left early",
            added=True,
        ),
        Column(
            "tasks",
            "int64?",
            "tasks",
            "of gtep: tasks that it learned on every order; fewer if it was left",
            added=True,
        ),
        Column(
            "passes",
            "float64?",
            "images",
            "of gtep: images that training was stepped on, over all orders (--select one-se); 0 without gradient steps",
            added=True,
        ),
        Column(
            "message",
            "string?",
            "-",
            "of gtep: the first class order that did not end well, the task, from 1, and what was said; else null",
            added=True,
        ),
    ),
)

TABLE = Layout(
    "table.parquet",
    ("run_id", "pool", "method_id", "use"),
    (
        _RUN,
        Column("pool", "string", "-", "pool that was evaluated on, as it was named"),
        Column("method_id", "string", "-", "label of the method"),
        Column(
            "use",
            "string",
            "-",
            "tuned (or given), original (defaults), or conventional (chosen on this very pool); fresh: tuned, and fresh "
            "original: original, on further orders of the pool that was tuned on",
        ),
        Column("params", "string", "-", "JSON: parameters of the setting, as far as they were chosen or given"),
        Column("orders", "int64", "orders", "class orders that ended well"),
        Column("diverged", "int64", "orders", "class orders that did not; then there is no mean"),
        Column("accuracy", "float64?", "fraction", "Acc: over all test images after the last task, mean over orders"),
        Column("accuracy_sd", "float64?", "fraction", "its standard deviation over orders"),
        Column("average_accuracy", "float64?", "fraction", "AvgAcc: mean over tasks of the accuracy over classes seen"),
        Column("average_accuracy_sd", "float64?", "fraction", "its standard deviation over orders"),
        Column("harmonic_mean", "float64?", "fraction", "of the two means"),
        Column("low", "float64?", "fraction", "lower end of the 95 % interval of the harmonic mean, over orders alone"),
        Column("high", "float64?", "fraction", "upper end; null where there are too few orders"),
        Column("rank", "int64?", "-", "by harmonic mean among the methods of this pool and use, from 1"),
        Column(
            "params_bytes", "int64?", "bytes", "parameters beyond the backbone after the last task, largest over orders"
        ),
        Column(
            "stored_bytes",
            "int64?",
            "bytes",
            "all that is kept beyond the backbone after the last task: parameters, "
            "statistics and exemplars, largest over orders",
            added=True,
        ),
        Column(
            "model_bytes",
            "int64?",
            "bytes",
            "parameters of the model after the last task, backbone included, largest over orders",
            added=True,
        ),
        Column("train_seconds", "float64", "s", "training time of one order, mean over orders"),
        Column(
            "shared_classes",
            "int64?",
            "classes",
            "classes of the pool, in play, that it shares with the pool tuned on (--allow-overlap); null if none, or not known",
            added=True,
        ),
        Column(
            "unshared_accuracy", "float64?", "fraction", "as accuracy, over images of the other classes", added=True
        ),
        Column(
            "unshared_average_accuracy",
            "float64?",
            "fraction",
            "as average_accuracy, over images of the other classes; over tasks after which any of the other classes was seen",
            added=True,
        ),
        Column("unshared_harmonic_mean", "float64?", "fraction", "of these two means", added=True),
        Column("unshared_low", "float64?", "fraction", "lower end of its 95 % interval, over orders alone", added=True),
        Column("unshared_high", "float64?", "fraction", "upper end; null where there are too few orders", added=True),
        Column("unshared_rank", "int64?", "-", "by it among the methods of this pool and use, from 1", added=True),
    ),
)

NEAR_DUPLICATES = Layout(
    "look_alikes.parquet",
    ("run_id", "pool", "number"),
    (
        _RUN,
        Column("pool", "string", "-", "evaluation pool, as it was named"),
        Column("number", "int64", "-", "place of the pair, closest first, from 0"),
        Column("tuned_class", "string", "-", "class of the image to tune on, by a name of its own"),
        Column("tuned_row", "int64", "image", "its place among the images of that class, from 0"),
        Column("judged_class", "string", "-", "class of the evaluation image"),
        Column("judged_row", "int64", "image", "its place among the images of that class, from 0"),
        Column("distance", "float64", "cosine distance", "between the features of the two"),
        Column(
            "own_distance",
            "float64",
            "cosine distance",
            "of the evaluation image to the nearest other one of its own pool",
        ),
        Column("backbone", "string", "-", "backbone and weights that the features are of"),
        Column("tuned_images", "int64", "images", "compared, of the pool tuned on"),
        Column("judged_images", "int64", "images", "compared, of this pool"),
        Column("near_images", "int64", "images", "of this pool, nearer than near_below to one tuned on"),
        Column(
            "near_below",
            "float64",
            "cosine distance",
            "99 % of the images of both pools lie farther from the nearest other image of their own pool",
        ),
        Column(
            "median_within", "float64", "cosine distance", "to the nearest other image of its own pool, of both pools"
        ),
        Column("median_across", "float64", "cosine distance", "of images of this pool to the nearest one tuned on"),
    ),
)

ESTIMATES = Layout(
    "estimates.parquet",
    ("run_id", "method_id", "about", "figure"),
    (
        _RUN,
        Column("method_id", "string", "-", "label of the method"),
        Column(
            "about",
            "string",
            "-",
            "what it speaks of: random (sequences), seen, extremes, paper (its estimator), rs, truth, order NAME, fit, ...",
        ),
        Column(
            "figure",
            "string",
            "-",
            "mean, sd, order_sd, training_sd, share_beyond, p_hard, percentile, jsd, w1, pearson, ... (docs/edge.md)",
        ),
        Column(
            "value",
            "float64?",
            "by figure",
            "the figure: accuracies, their sd, w1, w2, shares, percentiles and p-values are fractions; sequences, "
            "crossed_sequences, training_sequences, crossed_seeds, needed and clusters are counts; jsd is in nats, jsd_bits in "
            "bits; pearson, spearman and box_cox_lambda have no unit",
        ),
        Column("low", "float64?", "by figure", "lower end of its 95 % interval, where it has one"),
        Column("high", "float64?", "by figure", "upper end"),
    ),
)

EFFECTS = Layout(
    "effects.parquet",
    ("run_id", "method_id", "measure", "figure"),
    (
        _RUN,
        Column("method_id", "string", "-", "label of the method, or mean: over methods"),
        Column("measure", "string", "-", "accuracy, masked, confusion (accuracy - masked) or gap (accuracy - joint)"),
        Column("figure", "string", "-", "a condition (random, regrouped, ...): its mean; an effect (content, ...)"),
        Column("value", "float64", "fraction", "the mean, or the effect: positive where found sequences lose"),
        Column("low", "float64?", "fraction", "lower end of its 95 % interval, by itself; null if it has none"),
        Column("high", "float64?", "fraction", "upper end"),
        Column(
            "low_together", "float64?", "fraction", "the same at the level at which a measure's effects hold together"
        ),
        Column("high_together", "float64?", "fraction", "upper end"),
        Column("over", "list<string>", "-", "what the interval is over; it is conditional on everything else"),
        Column("lacking", "string", "-", "what there is too little of for an interval; else empty"),
        Column("found_sequences", "int64", "sequences", "found ones; below 3 the interval is conditional on these"),
        Column("seeds", "int64", "-", "training seeds behind it"),
    ),
)

ACCURACIES = Layout(
    "accuracy.parquet",
    ("column", "method_id"),
    (
        Column(
            "column",
            "string",
            "-",
            "what it is measured on: RUN (its found sequences), random, held-out, RUN: random, ...",
        ),
        Column("method_id", "string", "-", "label of the method"),
        Column("accuracy", "float64", "fraction", "final Acc, mean over sequences and training seeds"),
        Column("half_width", "float64?", "fraction", "half the width of its 95 % interval; null if it has none"),
    ),
)

LAYOUTS = (SEQUENCES, RESULTS, TRACE, TRAININGS, TRIALS, TABLE, NEAR_DUPLICATES, ESTIMATES, EFFECTS, ACCURACIES)
