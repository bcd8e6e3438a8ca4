"""The small columns of several Parquet files of images as one: labels under one list of names, groups, a predefined split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.pools.parts.layout import SPLITS, with_test
from seqsearch.pools.parts.parquet_columns import BOUND, lenient
from seqsearch.storage.ranges import File


@dataclass
class Columns:
    """The small columns of all files ``[n]``: integer codes, and what they stand for."""

    rows: list[int]
    """In each file."""
    label: NDArray[np.int64]
    names: list[str]
    group: NDArray[np.int64]
    groups: list[str]
    grouped: bool
    """The files say the groups; else there is one, named after them."""
    split: NDArray[np.uint8] | None
    lengths: NDArray[np.int32] | None
    bound: NDArray[np.int64] | None
    """Number of the set that an image is of; -1: of none."""


def joined(files: Sequence[File], parts: list[dict[str, Any]], split: str) -> Columns:
    """One set of columns of all files."""
    labels, names = _labels(files, parts)
    group, groups = _texts(parts, "group", [printable(files[0].stem if len(files) == 1 else files[0].parent.name)])
    named, own = _texts(parts, "class_name", [])
    if own:
        names = _chosen_names(files[0], labels, names, named, own)
    lengths = [p["lengths"] for p in parts if "lengths" in p]
    given = None
    with lenient(split == "random"):
        given = _split(files, parts)
    return Columns(
        [p["rows"] for p in parts],
        labels,
        names,
        group,
        groups,
        any(p.get("group") is not None for p in parts),
        given,
        np.concatenate(lengths) if len(lengths) == len(parts) else None,
        _bound(parts),
    )


def _bound(parts: list[dict[str, Any]]) -> NDArray[np.int64] | None:
    """Sets of all files; None if none says them."""
    if all(p.get(BOUND) is None for p in parts):
        return None
    return np.concatenate([np.full(p["rows"], -1) if p.get(BOUND) is None else p[BOUND] for p in parts])


def _labels(files: Sequence[File], parts: list[dict[str, Any]]) -> tuple[NDArray[np.int64], list[str]]:
    """Labels ``[n]`` and the name of each: of the files' metadata, the texts themselves, or the numbers."""
    if any((p["label"][1] is None) != (parts[0]["label"][1] is None) for p in parts):
        raise UserError(f"pool {str(files[0].parent)!r}: some files have integer labels, others text")
    if parts[0]["label"][1] is not None:
        return _texts(parts, "label", [])
    for file, part in zip(files, parts, strict=True):
        if part["names"] != parts[0]["names"]:
            raise UserError(f"pool: {file} names its labels otherwise than {files[0]}: they are no one data set")
    labels = np.concatenate([p["label"][0] for p in parts])
    if (low := int(labels.min())) < 0:
        raise UserError(
            f"pool {str(files[0])!r} has label {low}: images without a label (as in hidden test sets) cannot be used, leave "
            "them out"
        )
    names = parts[0]["names"]
    if names is None:
        there, codes = np.unique(labels, return_inverse=True)  # labels may be any numbers, as large as they like
        return codes.astype(np.int64), [str(i) for i in there.tolist()]
    if (high := int(labels.max())) >= len(names):
        raise UserError(f"pool {str(files[0])!r} has label {high}, but names for {len(names)} labels only")
    return labels, names


def _texts(parts: list[dict[str, Any]], name: str, default: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Codes ``[n]`` into one sorted list of texts; ``default`` where a file does not have the column."""
    texts = sorted({t for p in parts for t in ((p.get(name) or (None, default))[1] or default)})
    place = {t: i for i, t in enumerate(texts)}
    codes = []
    for p in parts:
        if p.get(name) is None:
            codes.append(np.zeros(p["rows"], dtype=np.int64) + (place[default[0]] if default else 0))
        else:
            own, said = p[name]
            codes.append(np.array([place[t] for t in said], dtype=np.int64)[own])
    return np.concatenate(codes), texts


def _chosen_names(
    file: File, labels: NDArray[np.int64], names: list[str], named: NDArray[np.int64], own: list[str]
) -> list[str]:
    """Names of labels by the column ``class_name``, which must say one thing of each."""
    found = list(names)
    keys, first = np.unique(labels, return_index=True)
    of_label = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    of_label[keys] = named[first]
    if not np.array_equal(of_label[labels], named):
        row = int(np.flatnonzero(of_label[labels] != named)[0])
        raise UserError(f"pool {str(file)!r}: row {row} names its label otherwise than an earlier row (class_name)")
    for key in keys.tolist():
        found[key] = own[of_label[key]]
    return found


def _split(files: Sequence[File], parts: list[dict[str, Any]]) -> NDArray[np.uint8] | None:
    """The given split ``[n]``: positions in `seqsearch.pools.base.GIVEN`; None if there is none, or one part only.

    Raises:
        UserError: a split of another name, or only some files have one.
    """
    codes, missing = [], []
    for file, p in zip(files, parts, strict=True):
        if p.get("split") is not None:
            own, said = p["split"]
            if unknown := sorted(t for t in said if t.lower() not in SPLITS):
                raise UserError(
                    f"pool {str(file)!r}: unknown split {', '.join(map(repr, unknown[:5]))}: the column must hold train, "
                    "validation and test, or let the split be drawn (split=random)"
                )
            codes.append(np.array([SPLITS[t.lower()] for t in said], dtype=np.uint8)[own])
        elif "file_split" in p:
            codes.append(np.full(p["rows"], p["file_split"], dtype=np.uint8))
        else:
            missing.append(file)
    if not codes:
        return None
    if missing:
        has = next(f for f in files if f not in missing)
        raise UserError(
            f"pool {str(files[0].parent)!r}: {has.name} has a split, {missing[0].name} has none: give it one (train-*, "
            "validation-*, test-*), leave it out, or let the split be drawn (split=random)"
        )
    found = np.concatenate(codes)
    return with_test(found) if len(np.unique(found)) > 1 else None
