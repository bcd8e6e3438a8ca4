"""LAE's attention, moving average and rule of prediction, recomputed from the paper's equations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqsearch.backbones.inject import Injection, Prefix, Transformer
from seqsearch.core.errors import UserError
from seqsearch.methods.config import build_config
from seqsearch.methods.lae import LAE
from seqsearch.methods.parts.modules import KINDS, Modules, load_modules
from tests.conformance.lab import TASKS, Case, Lab

ONE, TWO, THREE = TASKS
ADAM = {"optimizer": "adam", "lr": 0.0028125}
"""As published: the embedded backbone's gentler steps move modules too little to tell."""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.mark.parametrize("per_image", [False, True])
def test_compensated_prefix(lab: Lab, per_image: bool) -> None:
    """One head and one query at a time: softmax over prefix and tokens, then the prefix's share divided by its sum."""
    module = lab.backbone.module().eval()
    vit, block = Transformer(module), module.blocks[1]
    g = torch.Generator().manual_seed(0)
    keys, values = (torch.randn(3, 160, generator=g) for _ in range(2))
    each = [(keys * (1 + n), values - n) for n in range(2)] if per_image else [(keys, values)] * 2
    given = [torch.stack(part) for part in zip(*each, strict=True)] if per_image else [keys, values]
    x = torch.randn(2, 16, 160, generator=g)
    seen: dict[int, torch.Tensor] = {}
    prefix = Prefix(*given, compensated=True)
    with torch.no_grad():
        vit.run(x, {1: Injection(prefix=prefix)}, observe=lambda number, tokens: seen.update({number: tokens}))
        normed = block.norm1(seen[1])
        q, k, v = block.attn.qkv(normed).reshape(2, 16, 3, 4, 40).permute(2, 0, 3, 1, 4).double().numpy()
        expected = np.zeros((2, 16, 160))
        for n in range(2):
            for head in range(4):
                columns = slice(40 * head, 40 * head + 40)
                pk, pv = (part[:, columns].double().numpy() for part in each[n])
                for i in range(16):
                    scores = np.exp(np.concatenate([pk, k[n, head]]) @ q[n, head, i] / np.sqrt(40))
                    attention = scores / scores.sum()
                    attention[:3] /= attention[:3].sum()
                    expected[n, i, columns] = attention @ np.concatenate([pv, v[n, head]])
        attended = seen[1] + block.attn.proj(torch.from_numpy(expected).float())
        result = attended + block.mlp(block.norm2(attended))
        plain = Prefix(*given)
        other: dict[int, torch.Tensor] = {}
        vit.run(x, {1: Injection(prefix=plain)}, observe=lambda number, tokens: other.update({number: tokens}))
    torch.testing.assert_close(seen[2], result, atol=1e-4, rtol=1e-4)
    assert float((other[2] - seen[2]).abs().max()) > 0.01


def tensors(state: dict[str, Any], prefix: str) -> dict[str, torch.Tensor]:
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}


@pytest.mark.parametrize("kind", KINDS)
def test_offline_modules_are_a_moving_average_that_starts_after_the_first_task(lab: Lab, kind: str) -> None:
    """With all but the last epoch frozen, and one step in it, the average is known in closed form."""
    settings = {"module": kind, "batch_size": 64, "epochs": 3, "freeze_epochs": 2, "ema_decay": 0.7}
    method = lab.fresh(Case(kind, "lae"), **settings, **ADAM)
    lab.fit(method, ONE)
    first = method.state_dict()
    assert not tensors(first, "offline.")
    lab.fit(method, TWO)
    second = method.state_dict()
    moved = 0.0
    for name, online in tensors(second, "online.").items():
        start = first[f"online.{name}"]
        torch.testing.assert_close(second[f"offline.{name}"], 0.7 * start + 0.3 * online)
        moved = max(moved, float((online - start).abs().max()))
    assert moved > 1e-5
    lab.fit(method, THREE)
    third = method.state_dict()
    for name, online in tensors(third, "online.").items():
        held = second[f"online.{name}"]  # two steps toward what was frozen, one toward what it became
        expected = 0.7 * (0.49 * second[f"offline.{name}"] + 0.51 * held) + 0.3 * online
        torch.testing.assert_close(third[f"offline.{name}"], expected)


def test_scores_are_the_larger_of_two_probabilities(lab: Lab) -> None:
    method = lab.fresh(Case("lae", "lae"), ema_decay=0.9, **ADAM)
    lab.fit(method, ONE, TWO)
    assert isinstance(method, LAE)
    state, vit, batch = method.state_dict(), Transformer(lab.backbone.module().eval()), lab.batch(ONE + TWO)

    def probabilities(prefix: str) -> np.ndarray:
        modules = load_modules("prefix", state, prefix, torch.device("cpu"))
        assert modules is not None
        with torch.no_grad():
            features = vit(batch.images, modules.blocks()).double().numpy()
        logits = features @ state["head.weight"].double().numpy().T + state["head.bias"].double().numpy()
        odds = np.exp(logits - logits.max(1, keepdims=True))
        return odds / odds.sum(1, keepdims=True)

    online, offline = probabilities("online."), probabilities("offline.")
    assert np.abs(online - offline).max() > 1e-4
    np.testing.assert_allclose(method.predict(batch).numpy(), np.maximum(online, offline), atol=1e-5)


def test_old_head_rows_stay(lab: Lab) -> None:
    method = lab.fresh(Case("lae", "lae"))
    lab.fit(method, ONE)
    before = method.state_dict()["head.weight"]
    lab.fit(method, TWO)
    assert torch.equal(method.state_dict()["head.weight"][: len(ONE)], before)


def test_modules_go_into_the_first_blocks_there_are(lab: Lab) -> None:
    for blocks, expected in ((2, [0, 1]), (9, [0, 1, 2, 3])):
        method = lab.fresh(Case("lae", "lae"), blocks=blocks)
        lab.fit(method, ONE)
        assert isinstance(method, LAE)
        assert isinstance(method.online, Modules)
        assert list(method.online.blocks()) == expected


def test_modules_must_learn_after_the_first_task() -> None:
    with pytest.raises(UserError, match="freeze_epochs=3: must be less than epochs=3"):
        build_config(LAE, {"epochs": 3, "freeze_epochs": 3})
