"""The columns of the list of images that ``seqsearch split`` writes (see `seqsearch.results.schema`)."""

from __future__ import annotations

from seqsearch.results.schema import Column, Layout

SPLIT = Layout(
    "split.parquet",
    ("pool_digest", "row"),
    (
        Column("pool", "string", "-", "name of the pool"),
        Column("pool_digest", "string", "-", "identity of the pool that class_id and row count in"),
        Column("split_digest", "string", "-", "identity of the split of this pool"),
        Column("class_id", "int64", "class index", "index of the class within its pool"),
        Column("class_name", "string", "-", "name of the class"),
        Column("group", "string", "-", "group of the class"),
        Column("part", "string", "-", "train, val, reward or test"),
        Column("row", "int64", "image", "number of the image within its pool, from 0"),
        Column(
            "path",
            "string?",
            "-",
            "of a folder, the file below it; of Parquet files, file and row; null where images have no files",
        ),
        Column(
            "in_sequences",
            "bool?",
            "-",
            "whether a sequence of the run has the class; null without a run, or one that has no sequences yet",
        ),
    ),
)
