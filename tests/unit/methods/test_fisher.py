"""The Fisher diagonal against one backward pass per image, for EWC and AFEC as they train and for other networks."""

from __future__ import annotations

import numpy as np
import pytest
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.backbones.open import build_backbone
from seqsearch.backbones.parts.bf16 import Bf16
from seqsearch.methods.data import Batch
from seqsearch.methods.parts import fisher as _fisher
from seqsearch.methods.parts.fisher import blended, diagonal_fisher, named, quadratic_penalty, run_with, stiffness
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)


class Pixels:
    """A source of the images it was made with."""

    def __init__(self, images: Tensor) -> None:
        self.all = images

    def images(self, rows: np.ndarray) -> Tensor:
        return self.all[torch.from_numpy(rows)]


def by_hand(network: nn.Module, weight: Tensor, bias: Tensor, images: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """One image, one backward pass, one square at a time."""
    network.requires_grad_(True)
    weight, bias = weight.clone().requires_grad_(True), bias.clone().requires_grad_(True)
    parameters = {**dict(network.named_parameters()), "weight": weight, "bias": bias}
    total = {name: torch.zeros_like(p, dtype=torch.float64) for name, p in parameters.items()}
    for image, label in zip(images, labels, strict=True):
        log_p = functional.log_softmax(functional.linear(network(image[None]), weight, bias), 1)
        gradients = torch.autograd.grad(-log_p[0, label], list(parameters.values()))
        for sums, gradient in zip(total.values(), gradients, strict=True):
            sums += gradient.double() ** 2
    return {name: (sums / len(images)).float() for name, sums in total.items()}


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, rtol=1e-3, atol=1e-4 * float(value.max()), msg=name)


class Large(nn.Module):
    """Gradients of two images do not fit into what is allowed, so each is taken by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.num_features, self.first = 6, nn.Linear(3 * 32 * 32, 6)
        self.unused = nn.Parameter(torch.ones(2, 2))

    def forward(self, images: Tensor) -> Tensor:
        return self.first(images.flatten(1)).tanh()


def network_of(name: str) -> nn.Module:
    torch.manual_seed(0)
    if name == "large":
        return Large().eval()
    if name.startswith("glyph_vit"):
        inner = build_backbone("glyph_vit")
        network = (Bf16(inner) if name.endswith("bf16") else inner).module()
        network.num_features = inner.dim
        return network
    size = {"img_size": 32} if name.startswith("vit") else {}
    return timm.create_model(name, num_classes=0, **size).eval()


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(n, marks=pytest.mark.long) for n in ("resnet18", "vit_tiny_patch16_224")),
        "glyph_vit",
        "glyph_vit in bf16",
        "large",
    ],
)
def test_any_network(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = network_of(name)
    if name == "large":
        monkeypatch.setattr(_fisher, "GRADIENT_BYTES", 1)
    g = torch.Generator().manual_seed(0)
    images, labels = torch.randn(19, 3, 32, 32, generator=g), torch.arange(19) % 3  # more than are taken at a time
    weight, bias = torch.randn(3, network.num_features, generator=g) / 10, torch.zeros(3)

    def loss_of(parameters: dict[str, Tensor], image: Tensor, label: Tensor) -> Tensor:
        return functional.cross_entropy(functional.linear(run_with(network, parameters, "n.", image), weight), label)

    batch = Batch(np.arange(19), Pixels(images), labels)
    found = diagonal_fisher(network, named(network, "n."), loss_of, batch)
    if name == "large":
        assert float(found.pop("n.unused").abs().max()) == 0
        del network.unused
    expected = by_hand(network, weight, bias, images, labels)
    del expected["weight"], expected["bias"]
    assert_same({key.removeprefix("n."): value for key, value in found.items()}, expected)


def test_ewc_merges_the_tasks_by_their_classes(lab: Lab) -> None:
    case, (n1, n2) = Case("ewc", "ewc"), (len(TASKS[0]), len(TASKS[1]))
    truth = []
    for t, first in ((0, 0), (1, n1)):
        method = lab.trained(case, *TASKS[: t + 1])
        data = lab.data(lab.fresh(case), TASKS[t])
        head = method.head
        truth.append(
            by_hand(method.backbone, head.weight[first:], head.bias[first:], data.train.images, data.train.targets)
        )
    names = {"weight": "head.weight", "bias": "head.bias"}
    truth = [{names.get(key, f"backbone.{key}"): value for key, value in one.items()} for one in truth]
    assert_same(lab.trained(case, TASKS[0]).fisher, truth[0])
    expected = {
        name: (n1 * old + n2 * new) / (n1 + n2)
        if not name.startswith("head.")
        else torch.cat([old * n1 / (n1 + n2), new])
        for (name, old), new in zip(truth[0].items(), truth[1].values(), strict=True)
    }
    assert_same(lab.trained(case, *TASKS[:2]).fisher, expected)


def test_afec_takes_the_mean_over_tasks(lab: Lab) -> None:
    case, truth, first = Case("afec", "afec"), [], 0
    for t, task in enumerate(TASKS):
        method = lab.trained(case, *TASKS[: t + 1])
        data = lab.data(lab.fresh(case), task)
        weight, bias = method.head.weight[first:], method.head.bias[first:]
        truth.append(by_hand(method.backbone, weight, bias, data.train.images, data.train.targets))
        first += len(task)
    expected = {name: sum(one[name] for one in truth) / 3 for name in truth[0] if name not in ("weight", "bias")}
    assert_same(lab.trained(case, *TASKS).fisher, expected)


def test_blending_leaves_new_rows_alone_and_its_arguments() -> None:
    old, new = {"w": torch.ones(2, 3), "s": torch.tensor(1.0)}, {"w": torch.full((5, 3), 4.0), "s": torch.tensor(3.0)}
    blend = blended(old, new, 0.75)
    assert blend["w"][:, 0].tolist() == [1.75, 1.75, 4.0, 4.0, 4.0]
    assert float(blend["s"]) == 1.5
    assert float(new["w"].min()) == 4.0


def test_penalty_is_the_formula_and_its_gradient_pulls_back() -> None:
    g = torch.Generator().manual_seed(0)
    theta, star, f = (torch.rand(4, 3, generator=g) for _ in range(3))
    theta.requires_grad_(True)
    penalty = quadratic_penalty({"w": theta}, {"w": star[:2]}, {"w": f[:2]})
    t, s, w = theta.detach().numpy(), star.numpy(), f.numpy()
    assert float(penalty.detach()) == pytest.approx(
        sum(w[i, j] * (t[i, j] - s[i, j]) ** 2 / 2 for i in (0, 1) for j in range(3))
    )
    penalty.backward()
    np.testing.assert_allclose(theta.grad.numpy()[:2], (w * (t - s))[:2], rtol=1e-5)
    assert theta.grad[2:].abs().max() == 0


def test_stiffness_is_cut_where_a_step_is_undone_at_once() -> None:
    lr, stiff = 0.1, stiffness({"w": torch.tensor([0.001, 0.05, 7.0])}, 100.0, 1 / 0.1)["w"]
    torch.testing.assert_close(stiff, torch.tensor([0.1, 5.0, 10.0]))
    theta = torch.tensor([3.0, 3.0, 3.0], requires_grad=True)
    for _ in range(50):
        [gradient] = torch.autograd.grad(quadratic_penalty({"w": theta}, {"w": torch.ones(3)}, {"w": stiff}), [theta])
        theta = (theta - lr * gradient).detach().requires_grad_(True)
    torch.testing.assert_close(theta.detach()[1:], torch.ones(2))
