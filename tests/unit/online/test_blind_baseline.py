"""The blind baseline in the table of learners: evaluated in batches, as they are, and by sample, as the paper defines it."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from protocols.online.blind import baseline, chosen_windows
from protocols.online.reading import BY_SAMPLE, IN_BATCHES
from seqsearch.streams.playing import Played, Playing


def accuracies(played: Played) -> dict[tuple[str, int], float]:
    """On the common samples, or on all with a single shift, by label and shift."""
    study: Any = SimpleNamespace(played=played)
    return {
        (label, shift): dict(counts).get("common", counts[0][1]).accuracy for label, shift, counts in baseline(study)
    }


def by_hand(labels: list[int], k: int, shift: int, first: int) -> float:
    """Share of samples from ``first`` on that are the mode of the k labels before i - S, the most recent of those that tie."""
    right = 0
    for i in range(first, len(labels)):
        seen = labels[max(0, i - shift - k) : max(0, i - shift)]
        often = Counter(seen)
        said = max(often, key=lambda c: (often[c], max(j for j, v in enumerate(seen) if v == c))) if seen else -1
        right += said == labels[i]
    return right / (len(labels) - first)


def test_by_sample_it_is_the_mode_of_the_last_labels_of_each_sample() -> None:
    played = Played(Playing("glyphs:samples=900,classes=5,burst=6", 16, (0, 32), search=0.1, holdout=0.1))
    labels, found = played.labels.tolist(), accuracies(played)
    for shift, k in chosen_windows(played, by_sample=True).items():
        assert found[BY_SAMPLE, shift] == pytest.approx(by_hand(labels, k, shift, first=32))


def test_where_runs_of_a_label_are_shorter_than_a_batch_it_alone_shows_that_labels_repeat() -> None:
    """Runs of eight and batches of 128: each first sample of a batch is followed by fifteen other runs."""
    played = Played(Playing("glyphs:samples=4000,classes=10,burst=8", 128, (0, 256), search=0.2))
    found, chance = accuracies(played), 0.1
    assert found[IN_BATCHES, 0] < 2 * chance
    assert found[BY_SAMPLE, 0] > 0.7
    assert abs(found[BY_SAMPLE, 256] - chance) < chance, "256 samples ahead there is nothing left"
    assert np.isfinite(list(found.values())).all()
