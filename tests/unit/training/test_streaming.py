"""A learner of streams in the engine: what is evaluated when, credit, and states that can be gone on from."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core.errors import AccessError
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, Segment, StateKey
from seqsearch.learners.base import Learner
from seqsearch.learners.ncm import NearestClassMean
from seqsearch.streams.playing import Playing
from seqsearch.training.streaming import Credit, SegmentData, StreamStep, checked_classes
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

STREAM = "glyphs:samples=500,classes=5,burst=6"


@pytest.fixture
def world(tmp_path, monkeypatch):
    def make(shifts=(0, 32, 96), windows=(128,), batch=32, **more):
        playing = Playing(STREAM, batch=batch, shifts=shifts, windows=windows, search=0.1, holdout=0.1, **more)
        return World(
            "", 0, str(tmp_path / "cache"), str(tmp_path / f"states-{len(shifts)}"), scenario="stream", playing=playing
        )

    return make


def key(world, window=0, size=5, learner="ncm"):
    spec = world.spec(parse_item(learner, "learner"), "glyph_vit")
    steps, identity = world.played.steps, world.played.identity(window)
    segments = tuple(Segment(identity, i, min(i + size, steps)) for i in range(0, steps, size))
    return StateKey(spec, 0, 0, segments)


def flags(trainer, key):
    from seqsearch.core.bits import unpacked

    result = trainer.train(Edge(key, "test"))
    assert result.status == "ok", result.message
    return np.split(unpacked(result.classifiers[0].images, sum(result.counts)), np.cumsum(result.counts)[:-1])


def by_hand(world, window=0):
    """For each view, whether each sample in order was right, by a plain loop over steps."""
    trainer = Trainer(world)
    played, source = world.played, trainer.source("glyph_vit")
    learner = trainer.fresh(key(world)).learner
    views = played.playing.views(window)
    right = {v: [] for v in views}
    n = len(played.main)
    order = played.played_at(window, np.arange(n))
    seen = set()
    for step in range(played.steps):
        for v in views:
            start = step * 32 + v.shift
            at = [p for p in played.played_at(v.window, np.arange(start, min(start + 32, n))) if p not in seen]
            if at:
                rows = played.rows(played.main[at])
                features = torch.from_numpy(np.array(source.features.rows(rows)))
                means = learner.sums / learner.sums.norm(dim=1, keepdim=True).clamp_min(1e-12)
                scores = (features @ means.T).masked_fill(learner.counts == 0, -torch.inf)
                said = scores.argmax(1).numpy() if learner.counts.any() else np.full(len(at), -1)
                right[v] += (said == played.labels[at]).tolist()
        batch = order[step * 32 : (step + 1) * 32]
        learner.learn(_Step(played, source, batch))
        seen |= set(batch.tolist())
    return right


class _Step:
    def __init__(self, played, source, positions):
        from seqsearch.methods.data import Batch

        labels = torch.from_numpy(played.labels[positions].astype(np.int64))
        self.batch = Batch(played.rows(played.main[positions]), source, labels)


@pytest.mark.parametrize("window", [0, 128])
def test_what_is_judged_is_what_a_plain_loop_judges(world, window):
    w = world()
    trainer, whole = Trainer(w), key(w, window)
    found = {v: [] for v in w.playing.views(window)}
    for n in range(1, len(whole.prefix) + 1):
        groups = flags(trainer, whole.after(n))
        segment = whole.prefix[n - 1]
        there = [v for v, m in zip(found, w.played.sizes(window, segment.start, segment.stop), strict=True) if m]
        for v, g in zip(there, groups, strict=False):
            found[v] += g.tolist()
    assert found == by_hand(w, window)
    assert len(found[w.playing.views(window)[0]]) == len(w.played.main)


def test_several_shifts_in_one_pass_are_what_single_passes_find(world):
    together = world()
    single = world(shifts=(0, 96), windows=())
    a, b = Trainer(together), Trainer(single)
    for n in range(1, len(key(together).prefix) + 1):
        of_a, of_b = flags(a, key(together).after(n)), flags(b, key(single).after(n))
        if len(of_b) == 3 or n < 3:  # while there is something to evaluate at each shift
            assert of_a[0].tolist() == of_b[0].tolist()
            assert of_a[2].tolist() == of_b[1].tolist()


def test_segments_of_any_size_find_the_same(world):
    w = world()
    online = []
    for size in (1, 4, 100):
        trainer, whole = Trainer(w), key(w, size=size)
        online.append(
            np.concatenate([flags(trainer, whole.after(n))[0] for n in range(1, len(whole.prefix) + 1)]).tolist()
        )
    assert online[0] == online[1] == online[2]


def test_a_result_that_was_lost_is_told_again_from_the_state(world):
    w = world()
    first = Trainer(w).train(Edge(key(w).after(2), "test"))
    again = Trainer(w).train(Edge(key(w).after(2), "test"))
    assert first.trained
    assert not again.trained
    assert again.classifiers == first.classifiers
    assert again.judged == first.judged


def test_the_holdout_is_judged_at_the_end_and_with_trace_on_the_way(world):
    for trace in (False, True):
        w = world(trace=trace)
        trainer, whole = Trainer(w), key(w, size=7)
        sizes = w.played.sizes(0, 0, 7)
        on_the_way, end = flags(trainer, whole.after(1)), flags(trainer, whole)
        assert (len(on_the_way) == len(sizes) + 1) == trace
        if trace:
            last = w.played.main[7 * 32 - 1]
            assert len(on_the_way[-1]) == (w.played.held_out <= last).sum() < len(w.played.held_out)
        assert len(end[-1]) == len(w.played.held_out)


def test_samples_to_come_cannot_be_read(world):
    w = world()
    data = SegmentData(w.played, Trainer(w).source("glyph_vit"), 0, 0, 3, 0, 0)
    step = StreamStep(data, 1, Credit(1.0))
    assert step.revealed == 64
    assert step.labels(np.arange(64)).tolist() == w.played.labels[:64].tolist()
    for positions in (np.array([64]), np.array([-1])):
        with pytest.raises(AccessError):
            step.samples(positions)
        with pytest.raises(AccessError):
            step.labels(positions)


def test_what_is_judged_has_no_labels(world):
    class Peeks(NearestClassMean):
        def predict(self, batch):
            return batch.targets

    w = world()
    data = SegmentData(w.played, Trainer(w).source("glyph_vit"), 0, 0, 3, 0, 0)
    step = StreamStep(data, 0, Credit(1.0))
    with pytest.raises(AccessError):
        Peeks.predict(None, step.unlabelled)
    assert step.batch.targets.tolist() == w.played.labels[:32].tolist()


@given(st.floats(0.05, 12), st.lists(st.floats(0.01, 15), min_size=1, max_size=5), st.integers(1, 60))
def test_credit_is_spent_and_not_saved_without_end(budget, costs, steps):
    credit, asked = Credit(budget), [costs[i % len(costs)] for i in range(steps)]
    for i, cost in enumerate(asked):
        credit.grant()
        while credit.afford(cost):
            pass
        assert -1e-6 <= credit.left <= max(budget, *asked[: i + 1]) + budget + 1e-6
    assert credit.spent <= budget * steps + 1e-6


@pytest.mark.parametrize(
    ("budget", "cost", "updates"), [(1, 1, 12), (1, 2, 6), (5, 1, 60), (0.5, 1, 6), (1, 3, 4), (1, 1 / 3, 36)]
)
def test_a_dear_update_is_made_at_every_so_many_steps(budget, cost, updates):
    credit = Credit(budget)
    for _ in range(12):
        credit.grant()
        while credit.afford(cost):
            pass
    assert credit.updates == updates


def predict(batch):
    """What wrong answers are said to be of."""


@pytest.mark.parametrize(
    ("said", "named"),
    [
        (torch.zeros(3), "float32 of shape (3,)"),
        (torch.zeros(2, dtype=torch.int64), "(2,)"),
        (np.zeros(3, dtype=np.int64), "ndarray of shape (3,)"),
        ([0, 0, 0], "list"),
    ],
)
def test_classes_must_be_classes(said, named):
    with pytest.raises(ValueError, match=re.escape(f"returned {named}, must be a tensor of int64 and shape (3,): ")):
        checked_classes(predict, said, 3, 5)


@pytest.mark.parametrize("odd", [5, -2])
def test_classes_must_be_there(odd):
    with pytest.raises(ValueError, match=f"must be classes from -1 to 4: it says {odd}"):
        checked_classes(predict, torch.tensor([0, -1, odd]), 3, 5)


def test_a_learner_must_define_its_hooks(world, tmp_path):
    from seqsearch.core.errors import UserError

    file = tmp_path / "mine.py"
    file.write_text("from seqsearch.learners.base import Learner\nclass Mine(Learner):\n    pass\n")
    with pytest.raises(UserError, match="does not define predict"):
        world().spec(parse_item(f"{file}:Mine", "learner"), "glyph_vit")
    assert Learner.kind == "learner"
