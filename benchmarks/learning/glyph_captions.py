"""Value of captions of glyphs, of their images, and of both: nearest class means on classes that no network has seen.

    python -m benchmarks.learning.glyph_captions [--write]

A task is 10 or 50 random classes of `glyphs:captions=...`. It is learned from the 20 images of each class that are
trained and validated on, and tested on the 10 test images of each. Text alone uses words, pairs and triples of words.
They are weighted by the logarithm of their rarity among the training texts. Image alone uses features of `glyph_vit`.
Both uses the sum of the two cosines with a class's means. The last rows use the features of `glyph_flava`, which reads
both. They are for pairs, and with a blank text or a blank image.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.common.results import write_rows
from seqsearch.backbones.glyph_flava import build as build_flava
from seqsearch.backbones.glyph_vit import build as build_vit
from seqsearch.core.digests import seeded_numpy
from seqsearch.pools.base import Policy, Split
from seqsearch.pools.glyphs import build as build_pool
from tools.pretrain import features_of
from tools.pretrain_flava import MODES, TRIED, evaluated

Floats = NDArray[Any]
POLICIES: tuple[Policy, ...] = ("first", "concat")
SPEED = 10_000
"""Captions that are timed."""


def bags(learned: list[str], asked: list[str]) -> tuple[Floats, Floats]:
    """Words, pairs and triples of them, of the texts to learn from and of those to evaluate."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(ngram_range=(1, 3), token_pattern=r"\w+|[^\w\s]", smooth_idf=False)
    return words.fit_transform(learned).toarray(), words.transform(asked).toarray()


def scores(learned: Floats, asked: Floats, ways: int) -> Floats:
    """Cosines ``[n, ways]`` with the means of unit vectors; those to learn from come class by class."""

    def unit(x: Floats) -> Floats:
        found: Floats = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
        return found

    means = unit(unit(learned).reshape(ways, -1, learned.shape[1]).mean(axis=1))
    return unit(asked) @ means.T


def compared(policy: Policy, ways: int, draws: int) -> dict[str, Any]:
    """Accuracies of text alone, image alone and both, means over ``draws`` tasks."""
    pool: Any = build_pool(captions=policy)
    backbone, split, found = build_vit(), Split(pool, seed=0), []
    for draw in range(draws):
        members = seeded_numpy("evaluate", ways, draw).choice(len(pool.classes), ways, replace=False)
        known = np.concatenate([split.rows(c, part) for c in members for part in ("train", "val")])
        asked = np.concatenate([split.rows(c, "test") for c in members])
        truth = np.repeat(np.arange(ways), len(asked) // ways)
        text = scores(*bags(pool.texts(known), pool.texts(asked)), ways)
        image = scores(features_of(backbone, pool, known), features_of(backbone, pool, asked), ways)
        found.append([np.mean(of.argmax(axis=1) == truth) for of in (text, image, text + image)])
    names = "bag of words", "glyph_vit", "bag of words and glyph_vit"
    return {"captions": policy, "ways": ways, "draws": draws, **dict(zip(names, np.mean(found, axis=0), strict=True))}


def measured() -> list[dict[str, Any]]:
    """A row for each policy and number of classes."""
    rows = []
    for policy in POLICIES:
        known = {(ways, what): right for ways, what, right in evaluated(build_flava(), build_pool(captions=policy))}
        for ways, draws in TRIED:
            row = compared(policy, ways, draws)
            rows.append({**row, **{f"glyph_flava, {mode}": known[ways, mode] for mode in MODES}})
    return rows


def seconds() -> float:
    """Of a core, for `SPEED` captions of random images, when the outlines have been looked at."""
    pool: Any = build_pool(captions="first")
    rows = seeded_numpy("captions").integers(sum(c.count for c in pool.classes), size=SPEED)
    pool.texts(rows[:1])
    started = time.process_time()
    pool.texts(rows)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/glyph_captions.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    result: dict[str, Any] = {"seconds for 10,000 captions": round(seconds(), 3), "accuracy": measured()}
    for row in result["accuracy"]:
        print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    print(f"{SPEED} captions: {result['seconds for 10,000 captions']} cpu-seconds")
    if options.write:
        write_rows("glyph_captions", result)


if __name__ == "__main__":
    main()
