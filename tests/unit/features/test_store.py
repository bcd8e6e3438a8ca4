"""Frozen features: computed once, shared, the same whoever asks in whatever order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, StateKey
from seqsearch.features.extraction import Network
from seqsearch.features.inputs import byte_table, looked_up
from seqsearch.features.store import OPEN, FeatureStore, images_per_pass
from seqsearch.pools.base import ClassInfo, View
from seqsearch.pools.open import build_pool
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

POOL, BACKBONE = "glyphs:classes=20,train=4,reward=2,test=2", "glyph_vit"


def store(root: Path) -> FeatureStore:
    return FeatureStore(root, build_pool(POOL), build_backbone(BACKBONE), torch.device("cpu"))


def test_features_are_those_of_the_backbone_and_need_no_second_pass(tmp_path: Path) -> None:
    first = store(tmp_path)
    rows = np.array([3, 100, 101, 7, 159])
    found = first.rows(rows)
    pool, backbone = first.pool, first.backbone
    with torch.inference_mode():
        images = backbone.preprocess(pool.images(rows, backbone.view))
        expected = backbone.module().eval()(images).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    again = store(tmp_path)
    again._compute = None  # everything it needs is there
    np.testing.assert_array_equal(again.rows(rows), found)


def test_only_the_shards_asked_for_are_computed(tmp_path: Path) -> None:
    features = store(tmp_path)
    everything = range(20)
    assert features.missing(everything) == [(0, 0), (0, 1)]  # 16 classes and 4
    assert features.missing([17]) == [(0, 1)]
    features.rows(np.array([0, 1]))
    assert features.missing(everything) == [(0, 1)]
    features.ensure((0, 1))
    assert features.missing(everything) == []


def test_of_large_classes_only_the_first_images_are_computed_for_prototypes(tmp_path: Path) -> None:
    pool = build_pool("glyphs:classes=6,train=150,reward=75,test=75")
    features = FeatureStore(tmp_path, pool, build_backbone(BACKBONE), torch.device("cpu"))
    assert features.missing(range(6)) == [(0, 0)]
    assert features.missing(range(6), all_slabs=True) == [(0, 0), *((s, c) for s in (1, 2) for c in range(6))]
    rows = np.array([63, 64, 300, 255, 256, 299, 5 * 300 + 299, 4 * 300 + 64])
    found = features.rows(rows)
    assert sorted(p.name for p in features.folder.glob("*.npy")) == [
        "0-000000.npy",
        "1-000000.npy",
        "1-000004.npy",
        "2-000000.npy",
        "2-000005.npy",
    ]
    with torch.inference_mode():
        images = features.backbone.preprocess(pool.images(rows, features.backbone.view))
        expected = features.backbone.module().eval()(images).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@given(st.lists(st.integers(0, 12_000), min_size=1, max_size=12), st.data())
def test_every_row_has_its_own_place(counts: list[int], data: st.DataObject) -> None:
    """Shards together hold each row once, and `rows` looks for it where `_rows_of` put it."""
    pool = Sized(counts)
    features = FeatureStore(Path("nowhere"), pool, Numbers(), torch.device("cpu"))
    features._open = {
        s: features._rows_of(s)[:, None].astype(np.float32) for s in features.missing(range(len(counts)), True)
    }
    together = np.sort(np.concatenate([t[:, 0] for t in features._open.values()] or [np.empty(0)]))
    np.testing.assert_array_equal(together, np.arange(sum(counts)))
    if sum(counts):
        rows = np.array(data.draw(st.lists(st.integers(0, sum(counts) - 1), min_size=1, max_size=30)))
        np.testing.assert_array_equal(features.rows(rows)[:, 0], rows)


class Sized:
    """A pool of which only the class sizes matter."""

    digest = "d" * 32

    def __init__(self, counts: list[int]) -> None:
        self.classes = tuple(ClassInfo(f"class {i}", "group", n) for i, n in enumerate(counts))


class Numbers:
    """A backbone whose feature of a row is the row's number (it is never run)."""

    digest, dim = "e" * 32, 1

    def __init__(self, side: int = 32) -> None:
        self.view = View(side)


@pytest.mark.parametrize(
    ("device", "side", "images"), [("cpu", 32, 64), ("cpu", 224, 8), ("cpu", 1000, 1), ("cuda", 224, 256)]
)
def test_a_pass_on_a_processor_is_of_fewer_large_images(device: str, side: int, images: int) -> None:
    assert images_per_pass(Numbers(side), torch.device(device)) == images


def test_bits_do_not_depend_on_who_asks_for_what_first(tmp_path: Path) -> None:
    a, b = store(tmp_path / "a"), store(tmp_path / "b")
    rows = np.arange(160)
    together = a.rows(rows)
    one_by_one = np.concatenate([b.rows(rows[i : i + 1]) for i in reversed(range(160))])[::-1]
    np.testing.assert_array_equal(together, one_by_one)


def test_consecutive_rows_are_a_view_of_the_mapped_file(tmp_path: Path) -> None:
    features = store(tmp_path)
    assert isinstance(features.rows(np.arange(5, 25)).base, np.memmap)


def test_shards_kept_open_are_bounded_and_come_again(tmp_path: Path) -> None:
    features = store(tmp_path)
    for shard in features.missing(range(20)):
        features.ensure(shard)
    assert features._open.maxsize == OPEN
    features._open = type(features._open)(1)
    rows = np.array([0, 100, 159, 1])
    np.testing.assert_array_equal(features.rows(rows), store(tmp_path).rows(rows))
    assert len(features._open) == 1


# ------------------------------------------------------------------------------------------------ one network for all


def test_one_network_serves_all_pools_and_methods_and_training_a_copy_leaves_it_alone(tmp_path: Path) -> None:
    """The backbone of a worker is in its memory once, also when a method asks for features first, while it predicts."""
    pools = "glyphs:classes=4,train=4,reward=2,test=2,glyphs:classes=4,train=4,reward=2,test=2,seed=1"
    world = World(pools, 0, str(tmp_path / "cache"), str(tmp_path / "states"))
    trainer = Trainer(world)
    built = []
    backbone = trainer.source(BACKBONE).backbone
    backbone.module = lambda: built.append(type(backbone).module(backbone)) or built[-1]
    with torch.inference_mode():
        before = trainer.source(BACKBONE).features.rows(np.array([0, 40]))
    spec = world.spec(parse_item("er:epochs=1", "method"), BACKBONE)
    trained = trainer.train(Edge(StateKey(spec, 0, 0, (world.task([0, 1]),))))
    assert trained.status == "ok", trained.message
    assert len(built) == 1
    assert not any(p.is_inference() for p in built[0].parameters())
    again = build_backbone(BACKBONE).module()
    for name, value in built[0].state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    np.testing.assert_array_equal(trainer.source(BACKBONE).features.rows(np.array([0, 40])), before)


# ------------------------------------------------------------------------------------------------ beside a GPU


def weighed(tmp_path: Path, model: str = "test_vit.r160_in1k"):
    """A timm model with random weights."""
    from safetensors.torch import save_file

    save_file(timm.create_model(model.partition(".")[0], num_classes=0).state_dict(), tmp_path / "w.safetensors")
    return build_backbone(model, {model: str(tmp_path / "w.safetensors")})


def test_bytes_looked_up_on_a_device_are_the_bits_of_preprocess(tmp_path: Path) -> None:
    for backbone in (build_backbone(BACKBONE), weighed(tmp_path)):
        table, size = byte_table(backbone), backbone.view.size
        images = np.random.default_rng(1).integers(0, 256, (2, 3, size, size), dtype=np.uint8)
        found = looked_up(table, torch.from_numpy(images))
        assert torch.equal(found, backbone.preprocess(images))


def test_preprocessing_that_looks_at_more_than_one_byte_stays_on_the_host() -> None:
    backbone = build_backbone(BACKBONE)
    plain = backbone.preprocess
    backbone.preprocess = lambda images: plain(images) - plain(images).mean((1, 2, 3), keepdim=True)
    assert byte_table(backbone) is None
    backbone.preprocess = lambda images: plain(images)[:, :, ::2, ::2]
    assert byte_table(backbone) is None
    backbone.preprocess = lambda images: plain(images).double()
    assert byte_table(backbone) is None


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("sizes", [[5], [40, 40], [33, 1, 40, 16, 17, 3]])
@pytest.mark.parametrize("own_preprocess", [False, True])
def test_decoding_far_ahead_brings_the_same_features_in_the_same_order(
    sizes: list[int], threads: int, own_preprocess: bool
) -> None:
    """What a GPU worker does, on a CPU: the same batches, so the same bits."""
    network, pool = Network(build_backbone(BACKBONE), torch.device("cpu")), build_pool(POOL)
    if own_preprocess:
        plain = network.backbone.preprocess
        network.backbone.preprocess = lambda images: plain(images) - plain(images).mean((1, 2, 3), keepdim=True)
    rows = np.random.default_rng(0).permutation(160)
    batches = np.split(rows[: sum(sizes)], np.cumsum(sizes)[:-1])
    expected = list(network.features(pool, batches))
    found = list(network.overlapped(pool, batches, threads))
    assert [len(f) for f in found] == sizes
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_pool_that_does_not_say_so_is_read_by_one_thread_at_a_time() -> None:
    """And never further ahead than a few batches, however slow the network is."""
    import threading

    pool = build_pool(POOL)
    inside, most, begun = [0], [0], [0]
    plain, lock = pool.images, threading.Lock()

    def images(rows, view):
        with lock:
            inside[0] += 1
            begun[0] += len(rows)
            most[0] = max(most[0], inside[0])
        try:
            return plain(rows, view)
        finally:
            with lock:
                inside[0] -= 1

    pool.images, pool.concurrent = images, False
    network = Network(build_backbone(BACKBONE), torch.device("cpu"))
    batches = list(np.arange(160).reshape(16, 10))
    stream = network.overlapped(pool, batches, 4)
    next(stream)
    assert begun[0] <= 40
    assert sum(1 for _ in stream) == 15
    assert most[0] == 1
    assert begun[0] == 160


def test_an_image_that_cannot_be_read_ends_decoding_with_its_message() -> None:
    pool = build_pool(POOL)
    network = Network(build_backbone(BACKBONE), torch.device("cpu"))
    with pytest.raises(UserError, match="has rows 0 to 159"):
        list(network.overlapped(pool, [np.arange(20), np.array([500])], 4))
