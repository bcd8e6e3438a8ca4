"""An own backbone says which defaults of methods hold with it; one that begins from scratch has those of such networks."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import load
from seqsearch.methods.bic import BiC
from seqsearch.methods.config import build_config, default_of, space_of
from seqsearch.methods.spec import capabilities_of
from seqsearch.training.world import World

OWN = """
from seqsearch.backbones.glyph_vit import build as glyph_vit
from seqsearch.backbones.scratch import Scratch

class Derived(Scratch):
    def __init__(self):
        super().__init__("resnet32", "cifar", 32)

class Small(Derived):
    def __init__(self):
        super().__init__()
        self.presets = ("tiny", "scratch")

class Silent:
    '''Draws its weights, and says nothing of presets.'''
    name, tag, digest, dim, view, vit = "silent", "silent", "silent", 64, Scratch("tiny", "cifar", 16).view, False
    _inner = Scratch("tiny", "cifar", 16)
    module, preprocess, initialised = _inner.module, _inner.preprocess, _inner.initialised

def tiny():
    return Scratch("tiny", "cifar", 16)

def pretrained():
    return glyph_vit()

def embedded():
    found = glyph_vit()
    found.presets = ("embedded", "tiny")
    return found

def wrong():
    found = glyph_vit()
    found.presets = "tiny"
    return found

def unknown():
    found = glyph_vit()
    found.presets = ("huge",)
    return found
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("own") / "own.py"
    file.write_text(OWN)
    return str(file)


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("Derived", "scratch:resnet32"), ("Small", "scratch:tiny"), ("Silent", "scratch:resnet32"), ("tiny", "scratch:tiny"),
        ("pretrained", "vit_base_patch16_224"), ("embedded", "glyph_vit"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["bic", "er", "finetune", "podnet"])
def test_it_has_the_defaults_and_search_spaces_of(own: str, name: str, like: str, method: str) -> None:
    kind, text = load("method", method), f"{own}:{name}"
    assert build_config(kind, {}, text) == build_config(kind, {}, like)
    for f in kind.Config.__dataclass_fields__.values():
        assert default_of(f, text) == default_of(f, like)
        assert space_of(f, text) == space_of(f, like)


def test_these_defaults_are_not_all_the_same() -> None:
    found = [build_config(BiC, {}, name) for name in ("glyph_vit", "scratch:tiny", "scratch:resnet32")]
    assert len(set(found)) == 3


def test_a_run_is_checked_and_trained_with_them(own: str, tmp_path: Path) -> None:
    world = World("glyphs:classes=6", 0, str(tmp_path), str(tmp_path))
    spec = world.spec(parse_item(f"bic@{own}:tiny", "method"), "glyph_vit")
    assert capabilities_of(spec).most_classes == build_config(BiC, {}, "scratch:tiny").memory


@pytest.mark.parametrize("name", ["wrong", "unknown"])
def test_presets_that_there_are_not_are_refused(own: str, name: str) -> None:
    with pytest.raises(
        UserError, match=rf"own.py:{name}': presets is .*: must be a tuple of some of embedded, tiny, sc"
    ):
        build_backbone(f"{own}:{name}")
