"""Names of classes that pre-training may have shown."""

from __future__ import annotations

import pytest
from timm.data import ImageNetInfo

from seqsearch.study.contamination import SYNSETS, _words, named_like, pretrained_on


@pytest.mark.parametrize(
    ("label_set", "subset"), [("ImageNet-1k", "imagenet-1k"), ("ImageNet-21k", "imagenet-21k-goog")]
)
def test_the_lists_are_those_of_timm(label_set: str, subset: str) -> None:
    info = ImageNetInfo(subset)
    said = {info.index_to_description(i) for i in range(info.num_classes())}
    assert set(_words(label_set).values()) <= said
    assert len(set(_words(label_set).values())) > 0.9 * len(said)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("goldfish", "goldfish, Carassius auratus"),
        ("Hot_Dogs", "hotdog, hot dog, red hot"),
        ("012.Toilet-Paper", "toilet tissue, toilet paper, bathroom tissue"),
        ("n01440764", "tench, Tinca tinca"),
        ("person-role", None),
        ("exclamation mark", None),
        ("", None),
    ],
)
def test_case_separators_plural_and_numbers_do_not_count(name: str, known: str | None) -> None:
    assert named_like([name], "ImageNet-1k") == ({} if known is None else {name: known})


def test_the_larger_set_knows_more() -> None:
    names = ["mammals", "birds", "goldfish", "zodiac", "trilobite"]
    small, large = (set(named_like(names, label_set)) for label_set in SYNSETS)
    assert small == {"goldfish", "trilobite"}
    assert large == {"mammals", "birds", "goldfish", "zodiac", "trilobite"}


@pytest.mark.parametrize(
    ("weights", "sets"),
    [
        ({"glyph_vit": "glyph_vit-1", "mine.py:Net": "in1k", "scratch:resnet32": "in1k"}, ()),
        ({"resnet18.a1_in1k": "resnet18.a1_in1k-12ab"}, ("ImageNet-1k",)),
        ({"vit_base_patch16_224": "vit_base_patch16_224.augreg2_in21k_ft_in1k-12ab"}, ("ImageNet-1k", "ImageNet-21k")),
        ({"glyph_vit": "glyph_vit-1", "swin": "swin.ms_in22k-12ab"}, ("ImageNet-21k",)),
        ({"resnet18": "resnet18.file-12ab"}, ("ImageNet-1k", "ImageNet-21k")),
    ],
)
def test_weights_say_what_they_have_seen(weights: dict[str, str], sets: tuple[str, ...]) -> None:
    assert pretrained_on(weights) == sets
