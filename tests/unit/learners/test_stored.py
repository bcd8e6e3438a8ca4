"""Learners whose states go through the folder of states between segments: as if the stream had been learned in one go."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, Segment, StateKey
from seqsearch.storage.files import cache_root
from seqsearch.streams.playing import Playing
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

PLAYING = Playing("glyphs:samples=90,classes=6,burst=4", batch=12, shifts=(0, 24))


def played_through(folder: Path, text: str, backbone: str, length: int) -> list[EdgeResult]:
    """Each segment by a trainer of its own, which finds its parent's state in the folder."""
    world = World("", 0, str(cache_root()), str(folder), scenario="stream", playing=PLAYING)
    spec, steps = world.spec(parse_item(text, "learner"), backbone), world.played.steps
    begins = range(0, steps, length)
    segments = [Segment(world.played.identity(0), a, min(a + length, steps)) for a in begins]
    keys = [StateKey(spec, 0, 0, tuple(segments[: n + 1])) for n in range(len(segments))]
    return [Trainer(world).train(Edge(key, keep=True)) for key in keys]


@pytest.mark.parametrize("text", ["acm", "slda:refresh=3", "random", "blind:k=5", "cosine_fc:budget=0.5"])
def test_segments_through_stored_states_are_one_go(tmp_path: Path, text: str) -> None:
    pin_threads()
    backbone = "scratch:tiny-8" if text.startswith("cosine") else "glyph_vit"
    parts = played_through(tmp_path / "parts", text, backbone, 2)
    (whole,) = played_through(tmp_path / "whole", text, backbone, 100)
    assert {r.status for r in (*parts, whole)} == {"ok"}, [r.message for r in parts]
    assert [len(r.trained) for r in parts] == [1] * len(parts), "no state was trained twice"
    online = sum(r.classifiers[0].correct[0][0] for r in parts)
    assert online == whole.classifiers[0].correct[0][0]
    assert parts[-1].classifiers[0].correct[-1] == whole.classifiers[0].correct[-1], "retention"
    assert parts[-1].counters == whole.counters
