"""A scenario of one's own: segments of a stream, learned by a toy method; and a learner that is given everything at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqsearch.core.bits import unpacked
from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, Segment, StateKey
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.fixed import FixedPlanner, FixedSequence
from seqsearch.training.world import World

SCENARIO = '''
import numpy as np
import torch

from seqsearch.core.bits import packed
from seqsearch.core.outcomes import ClassifierCounts
from seqsearch.methods.data import Batch, TaskData
from seqsearch.training.scenario import Evaluation, Scenario, checked_scores


class Stream(Scenario):
    """Training images of all classes in a drawn order; a class gets a column when it is first seen, and all seen are
    evaluated."""

    def order(self):
        rows, classes = self.world.rows(self.world.class_ids(range(len(self.world.images.classes))), "train")
        drawn = np.random.default_rng(self.world.seed).permutation(len(rows))
        return rows[drawn], classes[drawn]

    def columns(self, stop):
        return list(dict.fromkeys(self.order()[1][:stop].tolist()))

    def data(self, method, key):
        segment = key.prefix[-1]
        rows, classes = (x[segment.start:segment.stop] for x in self.order())
        seen = self.columns(segment.stop)
        labels = torch.tensor([seen.index(c) for c in classes.tolist()])
        batch = Batch(rows, self.source(key.method.backbone), labels)
        columns = range(method.n_seen, len(seen))
        return TaskData(batch, batch, columns, method.n_tasks, key.seed, key.replicate, frozenset(rows.tolist()))

    def evaluate(self, method, key, evaluated):
        seen = self.columns(key.prefix[-1].stop)
        rows, at = self.world.rows(self.world.class_ids(seen), evaluated)
        found = []
        for name, scores in method.classifiers(Batch(rows, self.source(key.method.backbone))).items():
            right = checked_scores(method, scores, len(rows)).argmax(1).numpy() == at
            correct = (tuple(np.bincount(at[right], minlength=len(seen)).tolist()),)
            found.append(ClassifierCounts(name, correct, correct, packed(right)))
        return Evaluation((tuple(np.bincount(at, minlength=len(seen)).tolist()),), tuple(found))


class AtOnce(Stream):
    """Every state is learned from nothing, with all that came before."""

    stepwise = False

    def data(self, method, key):
        from seqsearch.core.types import Segment, StateKey

        whole = Segment(key.prefix[0].stream, key.prefix[0].start, key.prefix[-1].stop)
        assert method.n_seen == 0
        return super().data(method, StateKey(key.method, key.seed, key.replicate, (whole,)))
'''

METHOD = '''
import torch

from seqsearch.methods.base import Caps, FitReport, Footprint, Method


class RunningMeans(Method):
    """Class means over whatever comes; a second classifier knows the last mean only, and a counter says how far means moved."""

    caps = Caps(input="frozen", trains_backbone=False)

    def __init__(self, context, config):
        super().__init__(context, config)
        self.sums, self.counts = torch.zeros(0, context.dim), torch.zeros(0)
        self.moved = 0.0

    def fit_task(self, task):
        x, y = task.train.frozen, task.train.targets
        more = task.columns.stop - len(self.sums)
        before = self.sums / self.counts.clamp(min=1)[:, None]
        self.sums = torch.cat([self.sums, torch.zeros(more, self.context.dim)]).index_add(0, y, x)
        self.counts = torch.cat([self.counts, torch.zeros(more)]).index_add(0, y, torch.ones(len(y)))
        after = self.sums / self.counts.clamp(min=1)[:, None]
        self.moved = float((after[: len(before)] - before).norm())
        return FitReport()

    def predict(self, batch):
        return -torch.cdist(batch.frozen, self.sums / self.counts[:, None])

    def classifiers(self, batch):
        last = torch.zeros(len(batch), self.n_seen)
        last[:, -1] = 1
        return {"head": self.predict(batch), "last": last}

    def counters(self):
        return {"moved": self.moved}

    def features(self, batch):
        return batch.frozen

    def state_dict(self):
        return {"sums": self.sums.clone(), "counts": self.counts.clone(), "moved": self.moved}

    def load_state_dict(self, state):
        self.sums, self.counts, self.moved = state["sums"], state["counts"], state["moved"]

    def memory_footprint(self):
        return Footprint(statistics=4 * self.sums.numel())
'''

CHUNK, CHUNKS = 12, 4


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "scenario.py").write_text(SCENARIO)
    (tmp_path / "method.py").write_text(METHOD)
    return tmp_path


def world_of(files: Path, scenario: str, states: str = "states") -> World:
    cache = str(files / "cache")
    pool = "glyphs:classes=6,train=10,reward=4,test=4"
    return World(pool, 0, cache, str(files / states), scenario=f"{files}/scenario.py:{scenario}")


def learn(files: Path, scenario: str, journal: Path, stop_after: int = 10**6, states: str = "states") -> Search:
    """Two sequences of segments that begin alike, with two training seeds for the first and one for the second."""
    world = world_of(files, scenario, states)
    spec = world.spec(parse_item(f"{files}/method.py:RunningMeans", "method"), "glyph_vit")
    segments = [Segment("drawn", i * CHUNK, (i + 1) * CHUNK) for i in range(CHUNKS)]
    given = [FixedSequence(tuple(segments), (5, 6)), FixedSequence(tuple(segments[:3]), (5,))]

    class Stopping(InlineEvaluator):
        left = stop_after

        def wait(self, timeout: float | None = None) -> Any:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return super().wait(timeout)

    search = Search(Stopping(world), Journal(journal))
    search.run([FixedPlanner("stream", lambda: given, [spec], 0)])
    return search


def results(search: Search) -> dict[str, EdgeResult]:
    return dict(search.journal._edges)


def test_segments_are_learned_judged_and_resumed(files: Path) -> None:
    search = learn(files, "Stream", files / "run")
    found = results(search)
    assert {r.status for r in found.values()} == {"ok"}, [r.message for r in found.values()]
    assert len(found) == 2 * CHUNKS, "the second sequence is the beginning of the first: nothing is learned twice"
    assert sum(len(r.trained) for r in found.values()) == 2 * CHUNKS
    with pytest.raises(KeyboardInterrupt):
        learn(files, "Stream", files / "cut", stop_after=3, states="others")
    again = results(learn(files, "Stream", files / "cut", states="others"))
    assert {d: (r.judged, r.classifiers, r.counters) for d, r in again.items()} == {
        d: (r.judged, r.classifiers, r.counters) for d, r in found.items()
    }
    assert sum(len(r.trained) for r in again.values()) == 2 * CHUNKS


def test_results_are_counts_by_class_classifier_and_image(files: Path) -> None:
    for result in results(learn(files, "Stream", files / "run")).values():
        assert [c.name for c in result.classifiers] == ["head", "last"]
        (evaluated,) = result.judged
        assert set(evaluated) == {4}
        assert result.counts == (sum(evaluated),)
        for c in result.classifiers:
            flags = np.split(unpacked(c.images, sum(evaluated)), np.cumsum(evaluated)[:-1])
            assert tuple(int(f.sum()) for f in flags) == c.correct[0]
        assert result.of("last").correct[0][-1] == 4, "it always says the last class"
        assert result.correct == (sum(result.of("head").correct[0]),)
        assert dict(result.counters)["moved"] >= 0
    with pytest.raises(KeyError):
        result.of("nme")


def test_the_journal_gives_them_back(files: Path) -> None:
    before = results(learn(files, "Stream", files / "run"))
    after = Journal(files / "run")
    assert {d: after.edge(d) for d in before} == before


def test_a_learner_that_is_given_everything_at_once_begins_anew(files: Path) -> None:
    """No state of a beginning is restored for it, and it has seen the same in the end."""
    at_once = results(learn(files, "AtOnce", files / "once", states="once"))
    assert {r.status for r in at_once.values()} == {"ok"}, [r.message for r in at_once.values()]
    stepwise = results(learn(files, "Stream", files / "steps", states="steps"))
    assert sorted(r.judged for r in at_once.values()) == sorted(r.judged for r in stepwise.values())
    world = world_of(files, "AtOnce", "alone")
    spec = world.spec(parse_item(f"{files}/method.py:RunningMeans", "method"), "glyph_vit")
    key = StateKey(spec, 0, 5, (Segment("drawn", 0, 12), Segment("drawn", 12, 24)))
    result = InlineEvaluator(world).trainer.train(Edge(key))
    assert result.trained == (key.digest,), "its parent was not trained on the way"


def test_a_scenario_is_a_part_of_a_methods_identity(files: Path) -> None:
    item = parse_item(f"{files}/method.py:RunningMeans", "method")
    one = world_of(files, "Stream").spec(item, "glyph_vit").digest
    (files / "scenario.py").write_text(SCENARIO + "CHANGED = 1\n")
    assert world_of(files, "Stream").spec(item, "glyph_vit").digest != one
