"""Recipes of augmentation: what they do to images, from what they draw, and that every method that names one uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import names
from seqsearch.core.types import StateKey
from seqsearch.methods.parts import augmentation
from seqsearch.methods.parts.augmentation import RECIPES, brightness, crop, flip, part
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.conformance.lab import FROM_SCRATCH, SCRATCH, TWO_BLOCKS, Case, fitting, same

SHORT = {
    "epochs": 1,
    "first_epochs": 1,
    "freeze_epochs": 0,
    "tii_epochs": 1,
    "align_epochs": 1,
    "batch_size": 8,
    "memory": 12,
}
POOL = "glyphs:classes=4,train=6,reward=2,test=2"


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pictures(n: int = 40, side: int = 32) -> torch.Tensor:
    return torch.rand(n, 3, side, side, generator=generator(9))


@pytest.mark.parametrize("step", [crop, flip, brightness(0.3), part(0.2), augmentation.autoaugment])
@pytest.mark.parametrize("side", [16, 32])
def test_a_step_is_a_function_of_images_and_generator(step: augmentation.Step, side: int) -> None:
    images = pictures(6, side)
    before, state = images.clone(), torch.get_rng_state()
    one, two, other = step(images, generator()), step(images, generator()), step(images, generator(1))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert torch.equal(images, before)
    assert torch.equal(torch.get_rng_state(), state)
    assert one.shape == images.shape
    assert one.is_contiguous()
    assert float(one.min()) >= 0
    assert float(one.max()) <= 1


def test_a_crop_is_a_window_of_the_padded_image() -> None:
    images = pictures()
    found = crop(images, generator())
    padded = torch.nn.functional.pad(images, (4,) * 4)
    places = [
        next((y, x) for y in range(9) for x in range(9) if torch.equal(padded[i, :, y : y + 32, x : x + 32], found[i]))
        for i in range(len(images))
    ]
    assert len(set(places)) > 20


def test_half_are_mirrored() -> None:
    images = pictures(400, 8)
    found = flip(images, generator())
    mirrored = [torch.equal(a, b.flip(2)) for a, b in zip(found, images, strict=True)]
    assert all(torch.equal(a, b) for a, b, m in zip(found, images, mirrored, strict=True) if not m)
    assert 160 < sum(mirrored) < 240


def test_brightness_is_a_factor_an_image() -> None:
    images = 0.5 * pictures(200, 8)
    factors = (brightness(0.5)(images, generator()) / images).flatten(1)
    assert torch.allclose(factors, factors[:, :1].expand_as(factors), atol=1e-5)
    assert 0.5 <= float(factors.min()) < 0.55
    assert 1.45 < float(factors.max()) <= 1.5


def test_a_part_has_the_area_and_ratio_that_are_asked_for() -> None:
    """Of an image that says where its points are: how much of it is seen, and where."""
    side = 64
    across = (torch.arange(side) + 0.5) / side
    place = torch.stack([across.expand(side, side), across[:, None].expand(side, side), torch.zeros(side, side)])
    found = part(0.25)(place.expand(300, 3, side, side), generator())
    width, height = (
        (found[:, k].flatten(1).amax(1) - found[:, k].flatten(1).amin(1)) * side / (side - 1) for k in (0, 1)
    )
    area = width * height
    assert 0.23 < float(area.min()) < 0.3
    assert float(area.max()) > 0.9
    inner = (width < 0.98) & (height < 0.98)
    ratio = (width / height)[inner]
    assert float(ratio.min()) > 0.72
    assert float(ratio.max()) < 1.37


def made(folder: Path, name: str, augment: str) -> tuple[Trainer, StateKey]:
    world = World(POOL, 0, str(folder / "cache"), str(folder / augment), augment=augment)
    backbone = SCRATCH if name in FROM_SCRATCH else TWO_BLOCKS
    short = ",".join(f"{n}={v}" for n, v in fitting(SHORT, name, backbone).items())
    spec = world.spec(parse_item(f"{name}:{short}", "method"), backbone)
    return Trainer(world), StateKey(spec, 0, 0, (world.task([0, 1]),))


def augmented(name: str) -> bool:
    caps = Case(name, name, backbone=SCRATCH if name in FROM_SCRATCH else TWO_BLOCKS).caps
    return bool(caps.augmentation) and caps.input == "images"


QUICK_ONES = ("finetune", "er", "l2p", "aper_adapter", "replay")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in QUICK_ONES else pytest.mark.long) for n in names("method") if augmented(n)],
)
def test_a_method_with_a_recipe_learns_from_other_images(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states, digests = [], []
    for augment in ("none", "published"):
        trainer, key = made(tmp_path, name, augment)
        states.append(trainer.state(key, [], keep=False).state_dict())
        digests.append(key.method.digest)
    assert digests[0] != digests[1]
    assert not same(*states)


def test_methods_that_train_on_images_have_recipes() -> None:
    without = {n for n in names("method") if not augmented(n)}
    of_pairs = {
        n for n in names("method") if n.startswith("mm_")
    }  # learned from as they are: a flip may make a text wrong
    of_features = {"acil", "fecam", "fetril", "frozen_head", "gddsg", "simplecil", "zero_shot"}
    assert without == of_features | of_pairs


def test_all_recipes_serve_small_and_large_images() -> None:
    assert all(len(steps) == 2 and all(steps) for steps in RECIPES.values())


@pytest.mark.parametrize("methods", ["simplecil", "ranpac:adapt=none"])
def test_stored_features_are_not_augmented(methods: str, tmp_path: Path) -> None:
    from protocols.cldyb.settings import CldybSettings
    from protocols.cldyb.study import prepare

    settings = CldybSettings(methods=methods, pool="glyphs:classes=60", tasks=2, augment="published")
    with pytest.raises(UserError, match=r"--augment published: .* stored features"):
        prepare(settings, tmp_path, "cpu")
