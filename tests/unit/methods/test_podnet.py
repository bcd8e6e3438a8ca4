"""PODNet's losses and scores by hand, its balanced tuning, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqsearch.backbones.open import build_backbone
from seqsearch.backbones.parts.resnet import stages
from seqsearch.core.errors import UserError
from seqsearch.methods.base import Method
from seqsearch.methods.parts.proxies import ProxyHead, empty_proxies, nca, nca_published
from seqsearch.methods.podnet import spatial
from tests.conformance.lab import EMBEDDED, SCRATCH, TASKS, Case, Lab

PODNET = Case("podnet", "podnet", backbone=SCRATCH)
OLD, NEW = len(TASKS[0]), len(TASKS[1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


@pytest.fixture(scope="module")
def parent(lab: Lab) -> Method:
    return lab.trained(PODNET, TASKS[0])


def like(lab: Lab, parent: Method, **params: object) -> Method:
    """With other parameters, in the state of ``parent``."""
    other = lab.fresh(PODNET, **params)
    other.n_seen, other.n_tasks = parent.n_seen, parent.n_tasks
    other.load_state_dict(parent.state_dict())
    return other


def test_scores_weigh_the_cosines_of_a_classes_proxies_by_their_softmax() -> None:
    g = torch.Generator().manual_seed(0)
    old, new, x = torch.randn(2, 3, 4, generator=g), torch.randn(1, 3, 4, generator=g), torch.randn(5, 4, generator=g)
    head = ProxyHead(old, new, torch.tensor(1.7))
    found = head(x).numpy()
    assert found.shape == (5, len(head)) == (5, 3)
    for n in range(5):
        for c, proxies in enumerate(torch.cat([old, new]).numpy()):
            f = x[n].numpy()
            s = np.array([p @ f / np.linalg.norm(p) / np.linalg.norm(f) for p in proxies])
            weights = np.exp(s) / np.exp(s).sum()
            assert found[n, c] == pytest.approx(1.7 * (weights * s).sum(), rel=1e-5)


def test_the_published_loss_is_that_of_the_public_code() -> None:
    """Value and gradient of PyCIL (models/podnet.py, commit f3509b8ca3f20660ce4aa13f19d5283de81b4b35) for these scores."""
    scores = torch.tensor(
        [[0.5, 0.1, -0.3], [3.0, -1.0, -2.0], [0.25, 1.75, 0.5], [-1.5, 2.0, -0.75]], dtype=torch.float64
    )
    targets = torch.tensor([1, 0, 2, 1])
    loss = nca_published(scores.requires_grad_(True), targets)
    torch.autograd.backward(loss)
    gradient = [
        [0.2041375443335796, -0.25, 0.045862455666420374],
        [-0.0061103112639033785, 0.004466995467576125, 0.0016433157963272708],
        [0.025091891170862916, 0.2249081088291371, -0.25],
        [0.0068998918475181555, -0.021506963003339763, 0.014607071155821593],
    ]
    assert float(loss.detach()) == pytest.approx(0.864857587619855, rel=1e-12)
    torch.testing.assert_close(scores.grad, torch.tensor(gradient, dtype=torch.float64), rtol=1e-12, atol=1e-14)


@pytest.mark.long
def test_forms_learn_otherwise(lab: Lab, parent: Method) -> None:
    states = []
    for form in ("paper", "published"):
        method = like(lab, parent, form=form)
        lab.fit(method, TASKS[1])
        states.append(method.state_dict()["head.proxies"])
    assert not torch.equal(*states)


def test_the_margin_does_not_cancel_out_and_no_loss_is_below_0() -> None:
    scores, targets = torch.tensor([[0.5, 0.1, -0.3], [3.0, -1.0, -2.0]]), torch.tensor([1, 0])
    first = np.log(np.exp(0.5) + np.exp(-0.3)) - 0.1 + 0.6
    second = np.log(np.exp(-1.0) + np.exp(-2.0)) - 3.0 + 0.6
    assert second < 0
    assert float(nca(scores, targets, 0.6)) == pytest.approx(first / 2, rel=1e-5)
    assert float(nca(scores, targets, 0.0)) == pytest.approx((first - 0.6) / 2, rel=1e-5)
    alone = torch.ones(3, 1)
    assert float(nca(alone, torch.zeros(3, dtype=torch.int64), 0.6)) == 0.0
    assert bool(nca(alone * torch.nan, torch.zeros(3, dtype=torch.int64), 0.6).isnan())


def test_pooled_maps_by_hand() -> None:
    g = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 3, 4, 5, generator=g), torch.randn(2, 3, 4, 5, generator=g)

    def profile(image: np.ndarray) -> np.ndarray:
        sums = [
            *(row for channel in image for row in (channel**2).sum(1)),
            *(col for c in image for col in (c**2).sum(0)),
        ]
        return np.array(sums) / np.linalg.norm(sums)

    by_hand = np.mean([np.linalg.norm(profile(x) - profile(y)) for x, y in zip(a.numpy(), b.numpy(), strict=True)])
    assert float(spatial([a], [b])) == pytest.approx(by_hand, rel=1e-5)
    assert float(spatial([a, a], [a, b])) == pytest.approx(by_hand / 2, rel=1e-5)
    # signs, and where within its row and column a value is, do not matter beyond the sums
    assert float(spatial([a], [-a])) == 0.0


@pytest.mark.parametrize("adaptive", [True, False])
def test_at_the_start_only_classification_costs_and_moved_features_cost_by_the_factor(
    lab: Lab, parent: Method, adaptive: bool
) -> None:
    method = like(lab, parent, adaptive=adaptive, spatial=0.0, flat=2.0)
    task = lab.data(method, TASKS[1])
    part = method.with_exemplars(task)
    head = method.head.grown(torch.ones(NEW, 10, 64))
    loss_of = method._loss(head, task.columns)
    before = method.features(part)
    with torch.no_grad():
        assert float(loss_of(part)) == pytest.approx(float(nca(head(before), part.targets, 0.6)), rel=1e-4)
        for p in method.backbone.parameters():
            p.mul_(1.3)
        after = method.features(part)
        flat = float((1 - torch.nn.functional.cosine_similarity(before, after)).mean())
        assert flat > 1e-4
        factor = ((OLD + NEW) / NEW) ** 0.5 if adaptive else 1.0
        expected = float(nca(head(after), part.targets, 0.6)) + factor * 2.0 * flat
        assert float(loss_of(part)) == pytest.approx(expected, rel=1e-4)


def test_old_proxies_stay_and_the_rest_is_tuned_on_balanced_exemplars(
    lab: Lab, parent: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, seen = like(lab, parent, epochs=1, tuning_epochs=2), []
    real = method.train
    monkeypatch.setattr(
        method, "train", lambda task, data, *a, **k: (seen.append((data, k)), real(task, data, *a, **k))[1]
    )
    before = method.head.state("")["proxies"]
    task = lab.data(method, TASKS[1])
    report = method.fit_task(task)
    assert report.status == "ok"
    assert torch.equal(method.head.state("")["proxies"][:OLD], before)
    assert not torch.equal(method.head.eta, torch.ones(()))
    (first, plain), (balanced, tuning) = seen
    assert len(first) == len(task.train) + 12
    assert torch.bincount(balanced.targets).tolist() == [12 // OLD] * (OLD + NEW)
    assert (plain, tuning["phase"], tuning["descent"].epochs) == ({}, "tuning", 2)
    assert set(balanced.indices.tolist()) <= set(first.indices.tolist())


def test_features_have_both_signs_and_maps_of_a_transformer_are_refused(lab: Lab, parent: Method) -> None:
    features = parent.features(lab.batch(TASKS[0]))
    assert float(features.min()) < 0 < float(features.max())
    with pytest.raises(UserError, match="feature maps"):
        stages(build_backbone(EMBEDDED).module())


def test_an_empty_head_knows_no_class() -> None:
    head = empty_proxies(10, 64, torch.device("cpu"))
    assert (len(head), head.bytes) == (0, 4)
    assert head(torch.randn(2, 64)).shape == (2, 0)
