"""Scenarios whose test pairs have other texts: against texts put together by hand; training is unchanged."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import HEAD
from seqsearch.core.types import StateKey
from seqsearch.methods.base import Method
from seqsearch.methods.data import Batch
from seqsearch.training.scenarios.class_free_texts import words_of
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.conformance.lab import CAPTIONED, PAIRS, TASKS, same
from tests.conformance.pairs import WORDS

SCENARIOS = ("class_incremental", "class_free_texts", "without_texts")


@pytest.fixture(scope="module")
def trainers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trainer]:
    folder = tmp_path_factory.mktemp("world")
    return {
        s: Trainer(World(CAPTIONED, 0, str(folder / "cache"), str(folder / "states"), scenario=s)) for s in SCENARIOS
    }


def learned(trainer: Trainer, text: str) -> tuple[Method, StateKey]:
    spec = trainer.world.spec(parse_item(text, "method"), PAIRS)
    tasks = tuple(trainer.world.task(classes) for classes in TASKS[:2])
    method = trainer.fresh(StateKey(spec, 0, 0, tasks[:1]))
    for count in (1, 2):
        key = StateKey(spec, 0, 0, tasks[:count])
        trainer.scenario.learn(method, key)
    return method, key


class Texts:
    """Images of a pool with texts that are given by row."""

    def __init__(self, trainer: Trainer, texts: dict[int, str]) -> None:
        self.source, self._texts = trainer.source(PAIRS), texts

    def images(self, rows: np.ndarray) -> torch.Tensor:
        return self.source.images(rows)

    def tokens(self, rows: np.ndarray, generator: torch.Generator | None = None) -> dict[str, torch.Tensor]:
        return self.source.tokens_of([self._texts[r] for r in rows.tolist()])

    def frozen(self, rows: np.ndarray) -> torch.Tensor:
        with torch.no_grad():
            found: torch.Tensor = self.source.backbone.module()({"images": self.images(rows), **self.tokens(rows)})
        return found


def test_class_free_texts_keep_what_no_class_says_more_often(trainers: dict[str, Trainer]) -> None:
    """Each class has two words of its own; "very" comes by the number of the image."""
    world = trainers["class_free_texts"].world
    found = words_of(world)
    assert found.kept == {"very"}
    assert found.of == len(WORDS) + 1
    rows, _ = world.rows(world.class_ids(range(16)), "test")
    texts = found(world.images.texts(rows))
    assert {w for text in texts for w in text.split()} == {"very"}
    assert "" in texts


@pytest.mark.parametrize("text", ["simplecil", pytest.param("mm_dpcf:epochs=2", marks=pytest.mark.long)])
def test_what_is_right_is_what_is_right_with_these_texts(trainers: dict[str, Trainer], text: str) -> None:
    counts = {}
    for name in SCENARIOS[1:]:
        trainer = trainers[name]
        method, key = learned(trainer, text)
        [evaluated] = trainer.scenario.evaluate(method, key, "test").classifiers
        rows, labels = trainer.world.rows(trainer.world.class_ids(TASKS[0] + TASKS[1]), "test")
        whole = trainer.world.images.texts(rows)
        own = words_of(trainer.world)(whole) if name == "class_free_texts" else [""] * len(rows)
        by_hand = method.predict(Batch(rows, Texts(trainer, dict(zip(rows.tolist(), own, strict=True))))).argmax(1)
        right = np.bincount(labels[by_hand.numpy() == labels], minlength=7).tolist()
        assert (evaluated.name, evaluated.correct) == (HEAD, (tuple(right[:4]), tuple(right[4:])))
        counts[name] = right
    assert counts["class_free_texts"] != counts["without_texts"]


def test_training_is_unchanged_and_states_are_kept_apart(trainers: dict[str, Trainer]) -> None:
    found = {name: learned(trainer, "mm_dpcf:epochs=1") for name, trainer in trainers.items()}
    states = [method.state_dict() for method, _ in found.values()]
    assert same(states[0], states[1])
    assert same(states[0], states[2])
    assert len({key.digest for _, key in found.values()}) == 3
    right = {name: trainers[name].scenario.evaluate(*of, "test").classifiers[0].images for name, of in found.items()}
    assert len(set(right.values())) == 3


def test_what_reads_no_texts_is_unchanged(trainers: dict[str, Trainer]) -> None:
    counts = set()
    for trainer in trainers.values():
        spec = trainer.world.spec(parse_item("simplecil", "method"), "glyph_vit")
        key = StateKey(spec, 0, 0, (trainer.world.task(TASKS[0]),))
        method = trainer.fresh(key)
        trainer.scenario.learn(method, key)
        counts.add(trainer.scenario.evaluate(method, key, "test").classifiers[0].images)
    assert len(counts) == 1
