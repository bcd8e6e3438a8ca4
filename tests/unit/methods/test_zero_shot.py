"""Zero-shot scores against a direct computation, names of classes in the order of columns, and bad names and prompts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn.functional import normalize

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.notices import shown_by
from seqsearch.methods.zero_shot import ZeroShotConfig
from seqsearch.study.class_names import check_names
from tests.conformance.clip import small_clip
from tests.conformance.lab import CLIP, EMBEDDED, TASKS, Lab, method_of

PROMPTS = "a photo of a {}.; the {}"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Lab(tmp_path_factory.mktemp("lab"), CLIP)
    torch.set_num_threads(threads)


def names_of(lab: Lab, *tasks: tuple[int, ...]) -> list[str]:
    return [lab.world.images.classes[c].name for task in tasks for c in task]


@torch.no_grad()
def test_scores_are_scaled_cosines_to_mean_features_of_the_prompts(lab: Lab) -> None:
    method, batch, backbone = (
        method_of(lab, "zero_shot", *TASKS[:2], prompts=PROMPTS),
        lab.batch(TASKS[0]),
        small_clip(),
    )
    tower, weights = backbone.text_tower(), []
    for name in names_of(lab, *TASKS[:2]):
        texts = [f"a photo of a {name}.", f"the {name}"]
        weights.append(normalize(tower(backbone.text_tokens(texts)), dim=1).mean(0))
    image = normalize(backbone.module()(batch.images), dim=1)
    expected = backbone.logit_scale * image @ normalize(torch.stack(weights), dim=1).T
    torch.testing.assert_close(method.predict(batch), expected, rtol=0, atol=1e-5)
    assert float(expected.std()) > 0.1
    assert not torch.allclose(method_of(lab, "zero_shot", *TASKS[:2]).predict(batch), expected, atol=1e-2)


def test_a_class_has_the_same_bits_wherever_it_comes(lab: Lab) -> None:
    """Whatever comes with it, before it, and whether it was asked for before."""
    there = method_of(lab, "zero_shot", (0, 5), (3, 7)).state_dict()["weights"]
    back = method_of(lab, "zero_shot", (7,), (5, 3, 0)).state_dict()["weights"]
    assert torch.equal(there, back[[3, 1, 2, 0]])
    assert lab.data(method_of(lab, "zero_shot", (7,)), (5, 3)).names == tuple(names_of(lab, (5, 3)))


def test_no_image_is_read_in_training(lab: Lab) -> None:
    lab.source.forget()
    method_of(lab, "zero_shot", *TASKS)
    assert not lab.source.decoded
    assert not lab.source.read


def test_underscores_are_blanks_and_braces_are_kept(lab: Lab) -> None:
    method: Any = method_of(lab, "zero_shot", prompts="{}!")
    asked: list[list[str]] = []
    method.context = SimpleNamespace(text_features=lambda texts: asked.append(texts) or torch.ones(1, 4))
    method.learn(SimpleNamespace(names=("african__grey_parrot", "a {0} b")))
    assert asked == [["african grey parrot!"], ["a {0} b!"]]


def test_a_comma_may_be_written_as_a_number() -> None:
    """The command line ends a parameter at a comma."""
    backbone = small_clip()
    numbered, plain = (backbone.text_tokens([text]) for text in ("the {}&#44 a bird.", "the {}, a bird."))
    assert torch.equal(numbered, plain)


@pytest.mark.parametrize("prompts", ["", "a photo", "{} and {}", "{};", ";".join(["{}"] * 1001), "{name}"])
def test_prompts_are_checked(prompts: str) -> None:
    with pytest.raises(UserError, match="must be 1 to 1000 sentences, each with"):
        ZeroShotConfig(prompts)


def test_a_backbone_without_a_text_tower_gives_no_text_features(tmp_path: Path) -> None:
    lab = Lab(tmp_path, EMBEDDED)
    with pytest.raises(UserError, match="backbone 'glyph_vit' has no text tower that reads class names: take clip"):
        lab.source.inner.text_features(("a",))


def test_pools_whose_classes_have_no_names(lab: Lab) -> None:
    def pool(*names: str) -> Any:
        return SimpleNamespace(name="mine", classes=[SimpleNamespace(name=name) for name in names])

    spec, other = (lab.world.spec(parse_item(name, "method"), CLIP) for name in ("zero_shot", "simplecil"))
    said: list[str] = []
    with shown_by(None, said.append):
        check_names([spec], [pool("cat", "dog 1")])
        check_names([other], [pool("", "7")])
        assert not said
        check_names([spec], [pool("cat", "12", "7")])
        assert said == ["method 'zero_shot' reads class names, and 2 of 3 in pool 'mine' have no letter (e.g. '12')"]
        check_names([spec], [pool("a_dog", "cat", "A dog")])
        assert said[1:] == [
            "method 'zero_shot' reads class names, and it reads 'a_dog' and 'A dog' of pool 'mine' as the same"
        ]
    for name in ("", " ", "_"):
        with pytest.raises(UserError, match=r"'zero_shot' reads class names, and class . of pool 'mine' is called"):
            check_names([spec], [pool("cat", name)])
