"""SD-LoRA's directions and magnitudes, recomputed from the equation."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from seqsearch.methods.config import build_config
from seqsearch.methods.sdlora import SDLoRA, unit, weighted
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab, on_one_thread

ONE, TWO, THREE = TASKS
FAST = {"lr": 0.05, "epochs": 2, "rank": 3, "magnitude": 1.0, "scheduler": "constant"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with on_one_thread(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


def after(lab: Lab, *tasks: tuple[int, ...], **params: Any) -> SDLoRA:
    label = " ".join(f"{name}={value}" for name, value in sorted(params.items()))
    method = lab.trained(Case(f"sdlora {label}", "sdlora", {**FAST, **params}, TWO_BLOCKS), *tasks)
    assert isinstance(method, SDLoRA)
    return method


def test_features_are_those_of_a_network_with_changed_weights(lab: Lab) -> None:
    """Past changes are divided by the norms of both factors, the last one is not; each times its magnitude."""
    method, batch = after(lab, ONE, TWO, THREE), lab.batch(ONE)
    network: Any = copy.deepcopy(lab.backbone.module().eval())
    width, state = network.embed_dim, method.state_dict()
    magnitudes = state["magnitudes"].double()
    for block, layers in enumerate(network.blocks):
        for t in range(3):
            for at, name in ((0, "q"), (2, "v")):
                down = state[f"frozen.{t}.{name}_down"][block].double()
                up = state[f"frozen.{t}.{name}_up"][block].double()
                norms = torch.linalg.norm(down) * torch.linalg.norm(up) if t < 2 else 1.0
                change = magnitudes[t] * (up @ down) / norms
                layers.attn.qkv.weight.data[at * width : (at + 1) * width] += change.float()
    with torch.no_grad():
        expected = network(batch.images)
    np.testing.assert_allclose(method.features(batch).numpy(), expected.numpy(), atol=1e-3)
    assert float((expected - batch.frozen).abs().max()) > 0.1
    scores = method.features(batch).double() @ method.head.weight.double().T + method.head.bias.double()
    np.testing.assert_allclose(method.predict(batch).numpy(), scores.numpy(), atol=1e-3)


def test_a_unit_change_has_factors_of_norm_one_and_zero_stays_zero() -> None:
    draw = torch.Generator().manual_seed(0)
    own = {"q_down": (2, 3, 5), "q_up": (2, 5, 3), "v_down": (2, 3, 5), "v_up": (2, 5, 3)}
    drawn = {name: torch.randn(shape, generator=draw) for name, shape in own.items()}
    drawn["v_up"][1] = 0
    found = unit(drawn)
    for name in ("q", "v"):
        for block in range(2):
            down, up = drawn[f"{name}_down"][block], drawn[f"{name}_up"][block]
            norms = torch.linalg.norm(down) * torch.linalg.norm(up)
            expected = up @ down / norms if norms else torch.zeros(5, 5)
            torch.testing.assert_close(found[f"{name}_up"][block] @ found[f"{name}_down"][block], expected)
    changes = weighted([found, drawn], torch.tensor([2.0, -3.0]))
    torch.testing.assert_close(changes["q"][0][1], 2 * found["q_up"])
    torch.testing.assert_close(changes["q"][1][1], -3 * drawn["q_up"])


def test_magnitudes_start_anew_and_all_learn(lab: Lab) -> None:
    """Without steps they are what they start at; with steps those of past tasks move, too."""
    for start in (0.5, 2.0):
        still = after(lab, ONE, TWO, magnitude=start, lr=0.0)
        assert still.magnitudes.tolist() == [start, start]
        method = after(lab, ONE, TWO, magnitude=start)
        assert float((method.magnitudes - start).abs().min()) > 1e-5


def test_directions_of_past_tasks_and_old_head_rows_stay_and_are_not_copied(lab: Lab) -> None:
    case = Case("sdlora", "sdlora", FAST, TWO_BLOCKS)
    method = lab.fresh(case)
    lab.fit(method, ONE)
    before = method.state_dict()
    method = lab.restored(case, before, ONE)
    lab.fit(method, TWO)
    now = method.state_dict()
    for name in ("q_down", "q_up", "v_down", "v_up"):
        assert now[f"frozen.0.{name}"].data_ptr() == before[f"frozen.0.{name}"].data_ptr()
        assert float(now[f"frozen.1.{name}"].abs().max()) > 1e-3
    assert torch.equal(now["head.weight"][: len(ONE)], before["head.weight"])


def test_ranks_of_later_tasks() -> None:
    ranks = {
        (0, 0): [10] * 10,
        (8, 0): [10] * 4 + [8] * 6,
        (8, 6): [10] * 4 + [8] * 4 + [6] * 2,
        (0, 6): [10] * 8 + [6] * 2,
    }
    for (fifth, ninth), expected in ranks.items():
        config: Any = build_config(SDLoRA, {"rank_from_5": fifth, "rank_from_9": ninth})
        assert [config.rank_of(depth) for depth in range(10)] == expected


def test_sets_of_several_ranks_add_up(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqsearch.methods.sdlora.MIDDLE", 1)
    method = after(lab, ONE, TWO, rank_from_5=2)
    assert [own["q_down"].shape[1] for own in method.sets] == [3, 2]
    assert method.memory_footprint().params == 4 * (2 * 2 * 2 * 48 * 5 + 2 + 49 * len(ONE + TWO))
