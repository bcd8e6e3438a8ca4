"""The columns of the Parquet files of ``seqsearch mcil`` that no other protocol has (see `seqsearch.results.schema`)."""

from __future__ import annotations

from seqsearch.results.schema import Column, Layout

_WHO = (
    Column("run_id", "string", "-", "name of the run"),
    Column("sequence_id", "string", "-", "name of the class order, as in sequences.parquet"),
    Column("order", "int64", "-", "number of the class order, from 0"),
    Column("method_id", "string", "-", "label of the method"),
    Column("config_digest", "string", "-", "identity of source, parameters, backbone weights, versions"),
    Column("seed", "int64", "-", "training replicate"),
    Column(
        "classifier",
        "string",
        "-",
        "head: what the method says; others are beside it, such as image_only with --modalities",
    ),
    Column(
        "text_at_test",
        "string?",
        "-",
        "texts of the test images: full, class-free or none (--text-at-test); null in files of older versions, which are full",
        added=True,
    ),
)

EXPERIENCES = Layout(
    "experiences.parquet",
    ("run_id", "sequence_id", "method_id", "seed", "classifier", "experience"),
    (
        *_WHO,
        Column("experience", "int64", "experiences", "learned so far, from 1 (t)"),
        Column("sizes", "list<int64>", "classes", "of each experience so far"),
        Column("classes", "int64", "classes", "seen so far"),
        Column("images", "int64", "images", "test images of these, all evaluated"),
        Column("correct", "int64", "images", "of these classified right, with scores over all classes seen"),
        Column("class_n", "list<int64>", "images", "of each class, in the order of sequences.parquet"),
        Column("class_correct", "list<int64>", "images", "of these classified right"),
        Column("balanced", "float64", "fraction", "A_t: mean over classes of the share that is right"),
        Column("pooled", "float64", "fraction", "correct / images: equation 2 as it is printed"),
        Column("by_experience", "list<float64>", "fraction", "balanced accuracy on the classes of each experience"),
        Column("train_seconds", "float64", "s", "training of this experience"),
        Column("judge_seconds", "float64", "s", "evaluation after it, of all classifiers together"),
    ),
)

RUN_FIGURES = Layout(
    "run_figures.parquet",
    ("run_id", "sequence_id", "method_id", "seed", "classifier"),
    (
        *_WHO,
        Column("status", "string", "-", "of the run: ok, diverged, oom, timeout, failed, or unfinished"),
        Column("experiences", "int64", "experiences", "learned and evaluated; figures are of these"),
        Column("average", "float64", "fraction", "Avg: mean of A_t, balanced"),
        Column("average_pooled", "float64", "fraction", "the same of pooled accuracy"),
        Column("first", "float64", "fraction", "A_1, balanced"),
        Column("last", "float64", "fraction", "A_T, balanced"),
        Column("pd_printed", "float64", "fraction", "A_1 - Avg, balanced: the PD that the paper's tables hold"),
        Column("pd_final", "float64", "fraction", "A_1 - A_T, balanced: the PD that its text defines"),
        Column("pd_printed_pooled", "float64", "fraction", "as pd_printed, of pooled accuracy"),
        Column("pd_final_pooled", "float64", "fraction", "as pd_final, of pooled accuracy"),
        Column(
            "forgetting", "float64", "fraction", "mean over earlier experiences of their best minus their last accuracy"
        ),
        Column(
            "backward_transfer",
            "float64",
            "fraction",
            "mean over earlier experiences of their last accuracy minus that right after they were learned",
        ),
        Column("backbone_bytes", "int64?", "bytes", "parameters of the backbone; null if it did not end", added=True),
        Column("params_bytes", "int64?", "bytes", "parameters beyond the backbone at the end; null if it did not end"),
        Column("statistics_bytes", "int64?", "bytes", "stored statistics at the end"),
        Column("exemplar_bytes", "int64?", "bytes", "stored 8-bit images and texts at the end"),
        Column("train_seconds", "float64", "s", "training, all experiences"),
        Column("judge_seconds", "float64", "s", "evaluation, all experiences and classifiers"),
    ),
)

EXPERIENCE_LAYOUTS = (EXPERIENCES, RUN_FIGURES)
