"""Delayed evaluation agrees with River's progressive validation, sample by sample: a delay of S + 1 there is a shift S here."""

from __future__ import annotations

import numpy as np
import pytest
from river import base, evaluate, metrics, stream

from seqsearch.core.bits import unpacked
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, Segment, StateKey
from seqsearch.streams.playing import Playing
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

SHIFTS = (0, 1, 7, 40)


class NearestMean(base.Classifier):
    """The nearest of the class means by cosine, in numpy, for River."""

    def __init__(self, features: np.ndarray) -> None:
        self.features = features

    def _reset(self) -> None:
        self.sums: dict[int, np.ndarray] = {}

    def predict_one(self, x: dict[str, int]) -> int:
        if not getattr(self, "sums", None):
            return -1
        f = self.features[x["at"]]
        return max(sorted(self.sums), key=lambda c: float(f @ (self.sums[c] / np.linalg.norm(self.sums[c]))))

    def learn_one(self, x: dict[str, int], y: int) -> None:
        if not hasattr(self, "sums"):
            self._reset()
        self.sums[y] = self.sums.get(y, 0.0) + self.features[x["at"]]


def test_near_future_accuracy_is_progressive_validation_with_a_delay(tmp_path):
    playing = Playing("glyphs:samples=260,classes=5,burst=6", 1, SHIFTS, search=0.1, holdout=0.0)
    world = World("", 0, str(tmp_path / "cache"), str(tmp_path / "states"), scenario="stream", playing=playing)
    played, trainer = world.played, Trainer(world)
    spec = world.spec(parse_item("ncm", "learner"), "glyph_vit")
    identity, n = played.identity(0), len(played.main)
    segments = tuple(Segment(identity, i, min(i + 60, n)) for i in range(0, n, 60))
    ours: dict[int, list[bool]] = {s: [] for s in SHIFTS}
    for count in range(1, len(segments) + 1):
        result = trainer.train(Edge(StateKey(spec, 0, 0, segments[:count]), "test"))
        flags, sizes = unpacked(result.classifiers[0].images, sum(result.counts)), result.counts
        for shift, own in zip(SHIFTS, np.split(flags, np.cumsum(sizes)[:-1]), strict=False):
            ours[shift] += own.tolist()

    features = trainer.source("glyph_vit").features.rows(played.rows(played.main)).astype(np.float64)
    labels = played.labels.tolist()
    for shift in SHIFTS:
        model, theirs = NearestMean(features), [False] * n
        for i, x, y in stream.simulate_qa([({"at": i}, labels[i]) for i in range(n)], None, shift + 1):
            if y is None:
                theirs[i] = model.predict_one(x) == labels[i]
            else:
                model.learn_one(x, y)
        assert ours[shift] == theirs[shift:], shift  # the first `shift` samples are never evaluated here
        progressive = evaluate.progressive_val_score(
            [({"at": i}, labels[i]) for i in range(n)], NearestMean(features), metrics.Accuracy(), delay=shift + 1
        )
        assert progressive.get() == pytest.approx(np.mean(theirs))
