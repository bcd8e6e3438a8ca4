"""TagFex: contrast and attention against plain loops, what is learned from which images, and what teaches what."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from seqsearch.methods.parts.contrast import info_nce
from seqsearch.methods.parts.merging import new_merging
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab

ONE, TWO, THREE = TASKS
TAGFEX = Case("tagfex", "tagfex", backbone=SCRATCH)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


def test_contrast_against_a_plain_loop() -> None:
    draw = torch.Generator().manual_seed(1)
    e, o, n = torch.randn(6, 5, generator=draw), torch.randn(6, 5, generator=draw), 3
    losses = []
    for i in range(2 * n):
        alike = [math.exp(float(functional.cosine_similarity(e[i], o[k], dim=0)) / 0.3) for k in range(2 * n)]
        losses.append(-math.log(alike[(i + n) % (2 * n)] / sum(alike[k] for k in range(2 * n) if k != i)))
    assert float(info_nce(e, o, 0.3)) == pytest.approx(sum(losses) / len(losses), rel=1e-5)
    assert float(info_nce(e[:2], e[:2], 0.3)) == 0  # one image alone: there is nothing to tell it from


def test_attention_against_a_plain_loop() -> None:
    draw = torch.Generator().manual_seed(2)
    merging = new_merging(6, 2, draw, torch.device("cpu"))
    with torch.no_grad():
        merging.norms.add_(torch.randn(merging.norms.shape, generator=draw) / 5)
    agnostic, specific = torch.randn(3, 6, 2, 2, generator=draw), torch.randn(3, 6, 2, 2, generator=draw)
    q, k_a, v_a, k_s, v_s = merging.matrices.detach()
    (scale_a, shift_a), (scale_s, shift_s) = merging.norms.detach()
    for image in range(3):
        a = functional.layer_norm(agnostic[image].reshape(6, 4).T, (6,)) * scale_a + shift_a
        s = functional.layer_norm(specific[image].reshape(6, 4).T, (6,)) * scale_s + shift_s
        points = []
        for point in range(4):
            heads = []
            for head in (slice(0, 3), slice(3, 6)):
                keys, values = torch.cat([a @ k_a, s @ k_s])[:, head], torch.cat([a @ v_a, s @ v_s])[:, head]
                weights = torch.softmax(keys @ (s[point] @ q)[head] / math.sqrt(3), dim=0)
                heads.append(weights @ values)
            points.append(torch.cat(heads))
        by_hand = torch.stack(points).mean(0)
        torch.testing.assert_close(merging(agnostic, specific)[image].detach(), by_hand, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("augment", ["none", "published"])
def test_classes_are_learned_from_images_as_the_run_says_and_contrast_from_two_views(
    lab: Lab, augment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = lab.fresh(TAGFEX, epochs=1, first_epochs=1)
    method.context.augment = augment
    lab.fit(method, ONE)
    data, new = method.with_exemplars(lab.data(method, TWO)), method.new_network()
    specific: list[torch.Tensor] = []
    agnostic: list[torch.Tensor] = []
    new.conv1.register_forward_pre_hook(lambda module, images: specific.append(images[0]))
    monkeypatch.setattr(method, "new_network", lambda: new)
    method.agnostic.conv1.register_forward_pre_hook(lambda module, images: agnostic.append(images[0]))
    lab.fit(method, TWO)
    known = {image.numpy().tobytes() for image in data.images}

    def as_they_are(images: torch.Tensor) -> float:
        return sum(image.numpy().tobytes() in known for image in images) / len(images)

    steps = -(-len(data) // 8)
    learned, views = torch.cat(specific[:steps]), agnostic[0]
    assert len(learned) == len(data) * (1 if augment == "none" else 2)
    assert len(views) == 16
    assert as_they_are(views) < 0.5, "crop, flip and brightness leave few images as they are"
    assert as_they_are(learned) == 1.0 if augment == "none" else as_they_are(learned) < 0.5
    passes = [len(images) for images in agnostic[: 3 if augment == "none" else 2]]
    assert passes == ([16, 8, 16] if augment == "none" else [16, 16]), "views, images to merge, the teacher's views"


def test_a_new_network_begins_between_the_last_one_and_the_agnostic_one(lab: Lab) -> None:
    method = lab.trained(TAGFEX, ONE)
    new = method.new_network()
    for name in ("conv1.weight", "layers.2.0.conv2.weight"):
        last, agnostic = method.networks[0].state_dict()[name], method.agnostic.state_dict()[name]
        assert not torch.equal(last, agnostic)
        torch.testing.assert_close(new.state_dict()[name], 0.95 * last + 0.05 * agnostic)
    statistics = "layers.2.0.bn2.running_mean"
    assert torch.equal(new.state_dict()[statistics], method.networks[0].state_dict()[statistics])


def test_the_merged_classifier_teaches_while_it_errs_less(lab: Lab) -> None:
    method = lab.trained(TAGFEX, ONE)
    lesson, draw = method._lesson(lab.data(method, TWO)), torch.Generator().manual_seed(0)
    scores, targets = torch.randn(5, 7, generator=draw), torch.tensor([0, 4, 5, 6, 2])
    agnostic, specific = torch.randn(5, 64, 2, 2, generator=draw), torch.randn(5, 64, 2, 2, generator=draw)
    arguments = (scores, targets, agnostic, specific)
    more = lesson.guided(torch.tensor(1e9), *arguments) - lesson.guided(torch.tensor(0.0), *arguments)
    new = torch.tensor([1, 2, 3])
    wanted = (lesson.merged(lesson.merging(agnostic[new], specific[new])) / 2).softmax(1)
    given = (scores[new, 4:] / 2).softmax(1)
    by_hand = (wanted * (wanted / given).log()).sum(1).mean()
    torch.testing.assert_close(more, by_hand, rtol=1e-3, atol=1e-5)
    none = lesson.guided(torch.tensor(1e9), *(part[[0, 4]] for part in arguments)).detach()
    assert math.isfinite(float(none))
    auxiliary = lesson.auxiliary(specific[[0, 4]].mean((2, 3))).detach()
    torch.testing.assert_close(none, 2 * functional.cross_entropy(auxiliary, torch.tensor([0, 0])))


def test_the_teacher_is_the_agnostic_network_before_the_task(lab: Lab) -> None:
    method = lab.trained(TAGFEX, ONE)
    before = {name: tensor.clone() for name, tensor in method.state_dict().items()}
    lesson = method._lesson(lab.data(method, TWO))
    assert all(torch.equal(t, before[f"agnostic.{name}"]) for name, t in lesson.teacher.state_dict().items())
    lab.fit(method, TWO)
    after = method.state_dict()
    for name in ("agnostic.conv1.weight", "projector.0.weight", "projector.1.weight", "predictor.weight"):
        assert not torch.equal(after[name], before[name]), name
    assert not any(p.requires_grad for p in lesson.teacher.parameters())
    assert torch.equal(lesson.teacher.state_dict()["conv1.weight"], before["agnostic.conv1.weight"])
