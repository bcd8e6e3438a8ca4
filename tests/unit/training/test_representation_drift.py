"""How far training moves features: the note on each training, what it is measured by, and that it changes nothing else."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from protocols.report.common_notes import HARDLY_MOVED, cost
from protocols.running.folder import RunFolder
from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import REPRESENTATION_DRIFT, EdgeResult
from seqsearch.core.types import Edge, StateKey, Task
from seqsearch.methods.data import Batch
from seqsearch.training.representation_drift import MOST, relative
from seqsearch.training.scenario import Scenario
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.studies import execute, small_settings

STILL = "finetune:backbone_lr=0,epochs=1"

OWN = """
import torch
from seqsearch.methods.finetune import build as Finetune

class Own(Finetune):
    def predict(self, batch):
        return self.head(Finetune.features(self, batch))

class Mute(Own):
    def features(self, batch):
        raise RuntimeError("this method has no features of images")

class Narrow(Own):
    def features(self, batch):
        return super().features(batch)[:, :7]

class Nothing(Own):
    def features(self, batch):
        return super().features(batch) * float("nan")

class Restless(Finetune):
    def features(self, batch):
        with torch.no_grad():
            for parameter in self.backbone.parameters():
                parameter.add_(torch.rand(()))
        return super().features(batch)
"""


class Bench:
    """A trainer with nothing in its folders, and keys of two tasks."""

    def __init__(self, folder: Path) -> None:
        self.world = World("glyphs:classes=6,train=6,reward=2,test=4", 0, str(folder / "cache"), str(folder / "states"))
        self.trainer, self.folder = Trainer(self.world), folder
        (folder / "own.py").write_text(OWN)

    def key(self, method: str) -> StateKey:
        spec = self.world.spec(parse_item(method.replace("OWN", f"{self.folder}/own.py"), "method"), "glyph_vit")
        return StateKey(spec, 0, 0, (self.world.task([0, 1, 2]), self.world.task([3, 4])))

    def trained(self, method: str) -> tuple[EdgeResult, EdgeResult]:
        """Results after one and after two tasks."""
        key = self.key(method)
        first, second = self.trainer.train(Edge(key.after(1), keep=True)), self.trainer.train(Edge(key, keep=True))
        assert (first.status, second.status) == ("ok", "ok"), (first.message, second.message)
        return first, second

    def by_hand(self, method: str) -> float:
        """The figure after two tasks, from the state that was kept."""
        key = self.key(method)
        state, task = self.trainer.states.get(key.digest), key.prefix[-1]
        assert state is not None
        assert isinstance(task, Task)
        a, b = (self.world.split.rows(self.world.class_index(c), "train") for c in task.classes)
        batch = Batch(np.array([a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3]]), self.trainer.source("glyph_vit"))
        found = self.trainer.restore(key, state).features(batch).detach().numpy()
        frozen = np.tile(batch.frozen.numpy(), found.shape[1] // batch.frozen.shape[1])
        return float(np.mean(np.linalg.norm(found - frozen, axis=1) / np.linalg.norm(frozen, axis=1)))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def noted(result: EdgeResult) -> float:
    return dict(result.notes)[REPRESENTATION_DRIFT]


@pytest.mark.parametrize(
    "method", ["finetune:epochs=2", "dualprompt:epochs=1", "aper_adapter:epochs=2", "ease:epochs=1"]
)
def test_it_is_the_distance_from_the_frozen_features_of_the_first_images_of_each_class(
    bench: Bench, method: str
) -> None:
    _, second = bench.trained(method)
    assert noted(second) == pytest.approx(bench.by_hand(method), rel=1e-3)
    assert noted(second) > 1e-4


def test_of_a_network_that_stands_still_it_is_rounding(bench: Bench) -> None:
    first, second = bench.trained(STILL)
    assert max(noted(first), noted(second)) < 1e-5


def test_what_adapts_to_the_first_task_alone_is_no_head_on_frozen_features_ever_after(bench: Bench) -> None:
    first, second = bench.trained("ranpac:adapt=full,backbone_lr=0.01,epochs=3,M=32")
    assert noted(first) > HARDLY_MOVED
    assert noted(second) > HARDLY_MOVED


@pytest.mark.parametrize("method", ["simplecil", "ranpac:M=32", "OWN:Mute", "OWN:Narrow", "OWN:Nothing"])
def test_of_frozen_features_or_none_nothing_is_noted(bench: Bench, method: str) -> None:
    assert not any(REPRESENTATION_DRIFT in dict(result.notes) for result in bench.trained(method))


@pytest.mark.parametrize("method", ["er:epochs=1", "mos:epochs=1", "ease:epochs=1", "OWN:Restless:epochs=1"])
def test_it_changes_no_state_and_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Not even of a method that breaks C2 and trains itself when it is looked at."""
    with_it = Bench(tmp_path)
    measured = with_it.trained(method)
    assert all(REPRESENTATION_DRIFT in dict(r.notes) for r in measured)
    states = [_bits(with_it, r) for r in measured]
    shutil.rmtree(tmp_path / "states")
    monkeypatch.setattr(Scenario, "representation_drift", lambda *_: ())
    without = Bench(tmp_path)
    plain = without.trained(method)
    assert all(r.trained for r in plain), "trained again"
    assert [_bits(without, r) for r in plain] == states
    assert [(r.classifiers, r.counters, r.footprint) for r in plain] == [
        (r.classifiers, r.counters, r.footprint) for r in measured
    ]
    assert [n for r in plain for n in r.notes] == [n for r in measured for n in r.notes if n[0] != REPRESENTATION_DRIFT]


def _bits(bench: Bench, result: EdgeResult) -> dict[str, Any]:
    state = bench.trainer.states.get(result.state)
    assert state is not None
    return {n: v.numpy().tobytes() if isinstance(v, torch.Tensor) else v for n, v in state.items()}


def test_a_state_that_was_there_already_is_not_looked_at_again(bench: Bench) -> None:
    bench.trained(STILL)
    again = bench.trainer.train(Edge(bench.key(STILL)))
    assert again.trained == ()
    assert REPRESENTATION_DRIFT not in dict(again.notes)


def test_images_are_the_first_of_each_class_then_the_second(bench: Bench) -> None:
    key = bench.key(STILL)
    task = key.prefix[-1]
    assert isinstance(task, Task)
    a, b = (bench.world.split.rows(bench.world.class_index(c), "train") for c in task.classes)
    assert bench.trainer.scenario.some(key, 3).tolist() == [a[0], b[0], a[1]]
    assert len(bench.trainer.scenario.some(key, 1000)) == len(a) + len(b)
    assert len(bench.trainer.scenario.some(key, MOST)) == MOST


def test_parts_of_the_backbones_width_are_compared_one_by_one() -> None:
    frozen = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
    assert relative(frozen, frozen) == 0
    assert relative(2 * frozen, frozen) == 1
    assert relative(torch.cat([frozen, 2 * frozen], 1), frozen) == pytest.approx(math.sqrt(0.5))
    for strange in (torch.zeros(2, 3), torch.zeros(2, 0), torch.zeros(1, 2), torch.zeros(2)):
        assert math.isnan(relative(strange, frozen))


# ------------------------------------------------------------------------------------------------ what a run says


@pytest.mark.long
def test_a_run_says_whose_training_hardly_moves_features(tmp_path: Path) -> None:
    settings = small_settings(
        methods=f"{STILL},finetune:epochs=2,simplecil",
        pool="glyphs:classes=12,train=6,reward=3,test=3",
        tasks=2,
        simulations=2,
        score_seeds=1,
        random_sequences=0,
    )
    folder = RunFolder.create(tmp_path / "run", settings)
    assert execute(folder, settings)
    folder.close()
    stats = json.loads((tmp_path / "run/stats.json").read_text())
    assert set(stats["moved"]) == {STILL, "finetune:epochs=2"}
    assert stats["moved"][STILL][0] < HARDLY_MOVED < stats["moved"]["finetune:epochs=2"][0]
    assert stats["moved"][STILL][1] > 1
    page = (tmp_path / "run/report.html").read_text()
    assert page.count("so it is nearly a classifier on frozen features") == 1
    assert f"{STILL}: training changes its features by " in page


def test_the_note_has_median_and_number() -> None:
    [found] = [
        n
        for n in cost({"moved": {"er": [0.5, 3], "mos": [0.0034, 12], "l2p": [HARDLY_MOVED, 1]}})
        if n.code == "cost.moved"
    ]
    assert found.values == {"method": "mos", "moved": 0.0034, "trainings": 12}
    assert "cost.moved" not in {n.code for n in cost({})}, "a run that did not measure it"
