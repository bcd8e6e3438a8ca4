"""Pairs evaluated without text, without image and mismatched: against pairs put together by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core.bits import unpacked
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import HEAD, ClassifierCounts
from seqsearch.core.types import StateKey
from seqsearch.methods.base import Method
from seqsearch.methods.data import Batch
from seqsearch.pools.base import Rows
from seqsearch.training.altered_pairs import GREY, AlteredPairs, same
from seqsearch.training.scenarios.modalities import (
    IMAGE_ONLY,
    MISMATCHED_IMAGE,
    MISMATCHED_TEXT,
    TEXT_ONLY,
    mismatched,
)
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.conformance.lab import CAPTIONED, PAIRS, TASKS
from tests.conformance.pairs import small_flava

NETWORK = small_flava().module()
NAMES = (HEAD, IMAGE_ONLY, TEXT_ONLY, MISMATCHED_IMAGE, MISMATCHED_TEXT)


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    folder = tmp_path_factory.mktemp("world")
    return Trainer(World(CAPTIONED, 0, str(folder / "cache"), str(folder / "states"), scenario="modalities"))


def learned(trainer: Trainer, text: str, backbone: str = PAIRS) -> tuple[Method, StateKey]:
    spec = trainer.world.spec(parse_item(text, "method"), backbone)
    tasks = tuple(trainer.world.task(classes) for classes in TASKS[:2])
    method = trainer.fresh(StateKey(spec, 0, 0, tasks[:1]))
    for count in (1, 2):
        key = StateKey(spec, 0, 0, tasks[:count])
        trainer.scenario.learn(method, key)
    return method, key


class Hand:
    """One image of a row, or a grey one, with one text, which a backbone is asked for as it is."""

    def __init__(self, trainer: Trainer, image: int | None, text: str) -> None:
        self.source, self.text = trainer.source(PAIRS), text
        side = self.source.backbone.view.size
        grey = self.source.backbone.preprocess(np.full((1, 3, side, side), GREY, dtype=np.uint8))
        self.image = grey if image is None else self.source.images(np.array([image]))

    def images(self, rows: Rows) -> torch.Tensor:
        return self.image

    def tokens(self, rows: Rows, generator: torch.Generator | None = None) -> dict[str, torch.Tensor]:
        return self.source.tokens_of([self.text])

    def frozen(self, rows: Rows) -> torch.Tensor:
        with torch.no_grad():
            return NETWORK({"images": self.image, **self.tokens(rows)})


def by_hand(trainer: Trainer, method: Method, rows: Rows, partner: Rows) -> dict[str, list[int]]:
    """The best column of each pair, by what is left of it; with `MISMATCHED_TEXT` of the pair that its text went to."""

    def best(image: int | None, text: str) -> int:
        hand: Any = Hand(trainer, image, text)
        return int(method.predict(Batch(np.array([0]), hand)).argmax())

    texts = trainer.source(PAIRS).texts(rows)
    mixed = [best(int(row), texts[p]) for row, p in zip(rows, partner, strict=True)]
    given_to = {int(p): n for n, p in enumerate(partner)}
    return {
        HEAD: [best(int(row), text) for row, text in zip(rows, texts, strict=True)],
        IMAGE_ONLY: [best(int(row), "") for row in rows],
        TEXT_ONLY: [best(None, text) for text in texts],
        MISMATCHED_IMAGE: mixed,
        MISMATCHED_TEXT: [mixed[given_to[n]] for n in range(len(rows))],
    }


def right_of(counts: ClassifierCounts, n: int) -> list[bool]:
    return unpacked(counts.images, n).astype(bool).tolist()


@pytest.mark.parametrize("text", [pytest.param("mm_dpcf:epochs=2", marks=pytest.mark.long), "simplecil"])
def test_each_classifier_is_right_where_pairs_put_together_by_hand_are(trainer: Trainer, text: str) -> None:
    method, key = learned(trainer, text)
    evaluated = trainer.scenario.evaluate(method, key, "test")
    rows, labels = trainer.world.rows(trainer.world.class_ids(TASKS[0] + TASKS[1]), "test")
    found = by_hand(
        trainer,
        method,
        rows,
        mismatched(labels, seeded_numpy("mismatched", trainer.world.seed, key.seed, key.replicate, 2)),
    )
    assert tuple(c.name for c in evaluated.classifiers) == NAMES
    assert evaluated.counts == ((8,) * 4, (8,) * 3)
    told = set()
    for counts in evaluated.classifiers:
        expected = [a == b for a, b in zip(found[counts.name], labels.tolist(), strict=True)]
        assert right_of(counts, len(rows)) == expected, counts.name
        per_class = np.bincount(labels[expected], minlength=7).tolist()
        assert counts.correct == (tuple(per_class[:4]), tuple(per_class[4:]))
        assert all(
            m >= c for ms, cs in zip(counts.masked, counts.correct, strict=True) for m, c in zip(ms, cs, strict=True)
        )
        told.add(tuple(expected))
    assert len(told) == len(NAMES), "two of them say the same"


def test_texts_are_worth_nothing_to_what_does_not_read_them(trainer: Trainer) -> None:
    method, key = learned(trainer, "simplecil", "glyph_vit")
    found = {c.name: c for c in trainer.scenario.evaluate(method, key, "test").classifiers}
    assert found[IMAGE_ONLY].correct == found[HEAD].correct == found[MISMATCHED_IMAGE].correct
    assert found[IMAGE_ONLY].images == found[HEAD].images
    assert sum(map(sum, found[TEXT_ONLY].correct)) <= 8, "one class is right without an image"
    assert sum(map(sum, found[HEAD].correct)) > 28


def test_nothing_else_is_judged_otherwise(trainer: Trainer, tmp_path: Path) -> None:
    """The head, and the state, are those of class-incremental learning."""
    plain = Trainer(World(CAPTIONED, 0, str(tmp_path / "cache"), str(tmp_path / "states")))
    (method, key), (other, its_key) = (learned(t, "mm_dpcf:epochs=1") for t in (trainer, plain))
    ours, theirs = trainer.scenario.evaluate(method, key, "test"), plain.scenario.evaluate(other, its_key, "test")
    assert ours.counts == theirs.counts
    assert ours.classifiers[:1] == theirs.classifiers


def test_altered_pairs_are_what_they_are_said_to_be(trainer: Trainer) -> None:
    source, rows = trainer.source(PAIRS), np.array([3, 40, 41, 200])

    def others(asked: Rows) -> list[str]:
        return source.texts(rows[[np.flatnonzero(rows == one)[0] - 1 for one in asked]])

    silent, blind, mixed = (
        AlteredPairs(source, same, None),
        AlteredPairs(source, None, source.texts),
        AlteredPairs(source, same, others),
    )
    assert silent.texts(rows) == [""] * 4
    assert torch.equal(silent.images(rows), source.images(rows))
    assert blind.texts(rows) == source.texts(rows)
    assert float(blind.images(rows).std()) == 0
    assert mixed.texts(rows) == source.texts(rows[[3, 0, 1, 2]])
    for altered in (silent, blind, mixed):
        expected = source.backbone.module()({"images": altered.images(rows), **source.tokens_of(altered.texts(rows))})
        torch.testing.assert_close(altered.frozen(rows), expected.detach(), rtol=0, atol=1e-5)
        assert not torch.allclose(altered.frozen(rows), source.frozen(rows), atol=1e-3)


counts_of_classes = st.lists(st.integers(1, 12), min_size=2, max_size=8).filter(lambda c: 2 * max(c) <= sum(c))


@given(counts_of_classes, st.integers(0, 10**6))
def test_each_pair_gets_a_text_of_another_class_and_each_text_is_used(counts: list[int], seed: int) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    partner = mismatched(labels, np.random.default_rng(seed))
    assert sorted(partner.tolist()) == list(range(len(labels)))
    assert bool((labels[partner] != labels).all())
    assert partner.tolist() == mismatched(labels, np.random.default_rng(seed)).tolist()


def test_another_seed_mixes_otherwise() -> None:
    labels = np.repeat(np.arange(5), 6)
    one, two = (mismatched(labels, np.random.default_rng(seed)).tolist() for seed in (0, 1))
    assert one != two


def test_texts_of_a_class_go_to_images_of_all_others() -> None:
    labels = np.repeat(np.arange(5), 60)
    given_to = labels[mismatched(labels, np.random.default_rng(0))]
    counts = np.array([np.bincount(given_to[labels == c], minlength=5) for c in range(5)])
    assert (np.diag(counts) == 0).all()
    assert counts[~np.eye(5, dtype=bool)].min() >= 5


@pytest.mark.parametrize("counts", [(5,), (5, 4), (2, 9, 3)])
def test_a_class_with_more_than_half_of_the_pairs_is_refused(counts: tuple[int, ...]) -> None:
    labels = np.repeat(np.arange(len(counts)), counts)
    with pytest.raises(UserError, match=f"a class has {max(counts)} of {sum(counts)} evaluated pairs"):
        mismatched(labels, np.random.default_rng(0))
