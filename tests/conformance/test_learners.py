"""Every learner of streams there is keeps the contracts of ``docs/learners.md``, which `seqsearch check` asks of own ones."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator

import pytest
import torch

from seqsearch.check.learner import LearnerSubject
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import load, names
from seqsearch.core.types import Edge, Segment, StateKey
from seqsearch.learners.base import Learner
from seqsearch.methods.config import build_config
from seqsearch.storage.files import cache_root
from seqsearch.streams.playing import Playing
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.conformance.lab import TEMPLATES

EXAMPLE = str(TEMPLATES / "learner.py") + ":FadingMeans"
TINY, EMBEDDED = "scratch:tiny-16", "glyph_vit"
PLAYING = Playing("glyphs:samples=100,classes=6,burst=4", batch=14)
VARIANTS = (
    "er:sampler=fifo,budget=2.5",
    "er:sampler=mixed,cost_by=flops,train_batch=5,momentum=0",
    "er:train_batch=1",
    "ace:present=batch",
    "cosine_fc:budget=0.5",
    "fc_only:cost_by=flops",
    "fc_only:sampler=mixed,train_batch=1",
    "slda:refresh=3",
    "acm:index=exact",
    "acm:k=5",
    "blind:k=10",
)
CASES = [
    *names("learner"),
    *(pytest.param(v, marks=pytest.mark.long) if v == "er:train_batch=1" else v for v in VARIANTS),
    EXAMPLE,
]
each = pytest.mark.parametrize("text", CASES)


def backbone_of(text: str) -> str:
    """The small network for what trains one, else the embedded one."""
    build = load("learner", parse_item(text, "learner").target)
    return TINY if build.caps.trains_backbone else EMBEDDED


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    pin_threads()
    with tempfile.TemporaryDirectory() as states:
        yield World("", 0, str(cache_root()), states, scenario="stream", playing=PLAYING)


@each
def test_it_keeps_the_contracts(world: World, text: str) -> None:
    assert len(world.played.main) % PLAYING.batch, "the last batch must be short"
    findings = LearnerSubject(world, world.spec(parse_item(text, "learner"), backbone_of(text))).findings()
    assert len(findings) == 8
    assert not [f for f in findings if f.wrong]


@each
def test_states_are_plain(world: World, text: str) -> None:
    subject = LearnerSubject(world, world.spec(parse_item(text, "learner"), backbone_of(text)))
    for value in subject.learn(subject.fresh(), 0, 2).learner.state_dict().values():
        if isinstance(value, torch.Tensor):
            assert value.device.type == "cpu"
            assert value.is_contiguous()
        else:
            assert isinstance(value, (str, int, float, bool))


@each
def test_it_reads_no_more_than_it_says(world: World, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels alone, or no image."""
    spec = world.spec(parse_item(text, "learner"), backbone_of(text))
    subject = LearnerSubject(world, spec)
    method = subject.fresh()
    source = subject.trainer.source(spec.backbone)
    read: list[str] = []
    images, frozen = source.images, source.frozen
    monkeypatch.setattr(source, "images", lambda rows: (read.append("images"), images(rows))[1])
    monkeypatch.setattr(source, "frozen", lambda rows: (read.append("frozen"), frozen(rows))[1])
    subject.learn(method, 0, 3)
    allowed = {"labels": set(), "frozen": {"frozen"}, "images": {"images", "frozen"}}[method.caps.input]
    assert set(read) <= allowed
    assert bool(read) == (method.caps.input != "labels")


@pytest.mark.parametrize("name", names("learner"))
def test_parameters_are_checked_and_explained(name: str) -> None:
    kind: type[Learner] = load("learner", name)
    with pytest.raises(UserError, match="no parameter 'wings'"):
        build_config(kind, {"wings": 2})
    for f in dataclasses.fields(kind.Config):
        assert f.metadata.get("help"), f.name
        if isinstance(f.default, (int, float)) and not isinstance(f.default, bool):
            low, high = f.metadata["minimum"], f.metadata["maximum"]
            assert low <= f.default <= high
            for wrong in (low - 1, 2 * high + 1, float("nan"), "much"):
                with pytest.raises(UserError, match=f.name):
                    build_config(kind, {f.name: wrong})


def test_only_what_reads_features_needs_a_network_that_has_learned(world: World) -> None:
    for name in names("learner"):
        caps, item = load("learner", name).caps, parse_item(name, "learner")
        if caps.input == "frozen":
            with pytest.raises(UserError, match="begins from scratch"):
                world.spec(item, TINY)
        else:
            assert world.spec(item, TINY).label == name


@pytest.mark.parametrize("name", ["er", "ace", "cosine_fc", "fc_only", "over_adapt"])
def test_too_high_a_rate_is_a_result(world: World, name: str) -> None:
    spec = world.spec(parse_item(f"{name}:lr=1e30", "learner"), backbone_of(name))
    subject = LearnerSubject(world, spec)
    key = StateKey(spec, 0, 0, (Segment(world.played.identity(0), 0, 3),))
    result = subject.trainer.train(Edge(key))
    assert (result.status, "diverged" in result.message) == ("diverged", True)


@each
def test_what_says_that_it_draws_nothing_is_the_same_with_every_seed(world: World, text: str) -> None:
    spec = world.spec(parse_item(text, "learner"), backbone_of(text))
    learner = load("learner", spec.target)
    seeded = learner.seeded(build_config(learner, dict(spec.params), spec.backbone))
    segment = (Segment(world.played.identity(0), 0, world.played.steps),)
    found = [Trainer(world).train(Edge(StateKey(spec, seed, seed, segment), "test")).classifiers for seed in (0, 1)]
    assert seeded or found[0] == found[1]
