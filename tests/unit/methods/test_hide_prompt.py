"""HiDe-Prompt's parts, recomputed: the mapping, the prompts' way into the network, inference by task, the public reshape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from seqsearch.backbones.inject import Injection, Prefix
from seqsearch.methods.data import Batch
from seqsearch.methods.hide_prompt import HiDePrompt, injected
from seqsearch.methods.parts.task_inference import new_mlp, task_of_column
from tests.conformance.lab import TASKS, Case, Lab

ONE, TWO, _ = TASKS
ALL = ONE + TWO


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


def trained(lab: Lab, *tasks: tuple[int, ...], **params: Any) -> HiDePrompt:
    method = lab.trained(Case(f"hide {params}", "hide_prompt", params), *tasks)
    assert isinstance(method, HiDePrompt)
    return method


def test_mapping_is_a_residual_mlp_with_a_norm_behind() -> None:
    ours = new_mlp(6, torch.Generator().manual_seed(0), torch.device("cpu"))
    ours = replace(ours, up_bias=torch.randn(12), down_bias=torch.randn(6), norm=torch.rand(6), norm_bias=torch.rand(6))
    inner, norm, x = (
        nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6)),
        nn.LayerNorm(6, eps=1e-6),
        torch.randn(5, 6),
    )
    inner.load_state_dict(
        {"0.weight": ours.up, "0.bias": ours.up_bias, "2.weight": ours.down, "2.bias": ours.down_bias}
    )
    norm.load_state_dict({"weight": ours.norm, "bias": ours.norm_bias})
    torch.testing.assert_close(ours(x), norm(inner(x) + x).detach())


def test_task_of_column_with_unequal_tasks() -> None:
    assert task_of_column([2, 1, 3]).tolist() == [0, 0, 1, 2, 2, 2]


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_prompts_reach_their_own_image_or_as_in_the_public_reshape_others(n: int) -> None:
    prompts = torch.randn(n, 3, 2, 4, 6)  # image, layer, key or value, P, D
    right, swapped = injected(prompts, False), injected(prompts, True)
    for layer in range(3):
        listed = [*prompts[:, layer, 0].numpy(), *prompts[:, layer, 1].numpy()]  # all keys, then all values
        own, other = right[layer].prefix, swapped[layer].prefix
        assert own is not None
        assert other is not None
        for b in range(n):
            np.testing.assert_array_equal(own.keys[b], prompts[b, layer, 0])
            np.testing.assert_array_equal(own.values[b], prompts[b, layer, 1])
            np.testing.assert_array_equal(other.keys[b], listed[2 * b])
            np.testing.assert_array_equal(other.values[b], listed[2 * b + 1])


def test_prediction_takes_the_inferred_tasks_prompt_image_by_image(lab: Lab) -> None:
    method, batch = trained(lab, *TASKS), lab.batch(ONE + TWO + TASKS[2])
    expected, tasks = [], []
    for i in range(len(batch)):
        image = batch.select(torch.tensor([i]))
        guess = int(method.inference.head(method.inference.mlp(image.frozen)).argmax())
        task = next(t for t in range(3) if guess < sum(method.inference.task_sizes[: t + 1]))
        blocks = {n: Injection(prefix=Prefix(keys, values)) for n, (keys, values) in enumerate(method.prompts[task])}
        expected.append(method.vit(image.images, blocks) @ method.head.weight.T + method.head.bias)
        tasks.append(task)
    torch.testing.assert_close(method.predict(batch), torch.cat(expected).detach(), rtol=1e-4, atol=1e-4)
    assert len(set(tasks)) == 3, "a test of one task only shows nothing"


@pytest.mark.long
def test_a_prompt_starts_as_the_last_one_and_is_mixed_with_the_mean_of_all_before(lab: Lab) -> None:
    still = trained(lab, *TASKS, lr=0.0, prompt_momentum=0.3)
    torch.testing.assert_close(still.prompts[1:], still.prompts[:1].expand(2, *still.prompts.shape[1:]))
    one, two = trained(lab, ONE, TWO).prompts
    assert not torch.equal(one, two)
    method = lab.fresh(Case("still", "hide_prompt", {"lr": 0.0, "prompt_momentum": 0.3}))
    assert isinstance(method, HiDePrompt)
    method.n_seen, method.n_tasks = len(ALL), 2
    method.load_state_dict(trained(lab, ONE, TWO).state_dict())
    lab.fit(method, TASKS[2])
    torch.testing.assert_close(method.prompts[2], 0.7 * two + 0.3 * (one + two) / 2)


def test_new_rows_are_learned_among_new_classes_and_old_ones_only_move_in_the_alignment(lab: Lab) -> None:
    still = {"align_lr": 0.0, "tii_align_lr": 0.0}
    first, second = trained(lab, ONE, **still), trained(lab, ONE, TWO, **still)
    for before, after in ((first.head, second.head), (first.inference.head, second.inference.head)):
        assert torch.equal(before.weight, after.weight[: len(ONE)])
    moved = trained(lab, ONE, TWO)
    assert not torch.equal(moved.head.weight[: len(ONE)], second.head.weight[: len(ONE)])


@pytest.mark.parametrize(("rate", "which"), [("align_lr", "second"), ("tii_align_lr", "first")])
def test_each_alignment_has_a_rate_of_its_own(lab: Lab, rate: str, which: str) -> None:
    usual, other = trained(lab, ONE, TWO), trained(lab, ONE, TWO, **{rate: 0.0})
    same = (
        torch.equal(usual.head.weight, other.head.weight),
        torch.equal(usual.inference.mlp.up, other.inference.mlp.up),
    )
    assert same == ((False, True) if which == "second" else (True, False))


def test_the_published_rate_of_the_first_alignment_is_scaled_as_the_others_are() -> None:
    config = HiDePrompt.Config()
    assert (config.lr, config.tii_align_lr) == (0.03 * 24 / 256, 0.005 * 24 / 256)


def test_statistics_are_of_frozen_and_of_prompted_features_of_the_own_task(lab: Lab) -> None:
    method = trained(lab, ONE, TWO, covariance="diagonal")
    for t, classes in enumerate((ONE, TWO)):
        for position, column in enumerate(range(len(ONE) * t, len(ONE) * t + len(classes))):
            task = lab.data(method, classes)
            own = task.train.select(torch.nonzero(task.train.targets == task.columns[position]).squeeze(1))
            blocks = {n: Injection(prefix=Prefix(keys, values)) for n, (keys, values) in enumerate(method.prompts[t])}
            prompted = method.vit(own.images, blocks).detach()
            for bank, features in ((method.inference.statistics, own.frozen), (method.statistics, prompted)):
                torch.testing.assert_close(bank.centres[column], features.mean(0), rtol=1e-4, atol=1e-4)
                torch.testing.assert_close(vars(bank)["variances"][column], features.var(0), rtol=1e-3, atol=1e-5)


def scores(method: HiDePrompt, batch: Batch, order: torch.Tensor) -> torch.Tensor:
    """Of ``batch``, predicted in another order and put back."""
    back = torch.empty(len(batch), method.n_seen)
    back[order] = method.predict(batch.select(order))
    return back


def test_the_public_reshape_breaks_c3_and_the_default_keeps_it(lab: Lab) -> None:
    batch = lab.batch(ALL)
    order = torch.randperm(len(batch), generator=torch.Generator().manual_seed(0))
    for compat in (False, True):
        method = trained(lab, ONE, TWO, reference_compat=compat)
        plain = method.predict(batch)
        gap = float((scores(method, batch, order) - plain).abs().max() / plain.abs().max())
        alone = torch.cat([method.predict(batch.select(torch.tensor([i]))) for i in range(0, len(batch), 5)])
        apart = float((alone - plain[::5]).abs().max() / plain.abs().max())
        assert (gap > 1e-3, apart > 1e-3) == (compat, compat)


def test_more_tasks_than_any_pool_and_more_blocks_than_the_network_has(lab: Lab) -> None:
    method = lab.fresh(Case("hide", "hide_prompt", {"prompt_layers": 40, "epochs": 1}))
    assert isinstance(method, HiDePrompt)
    lab.fit(method, *[(k,) for k in range(12)])
    assert method.prompts.shape[:2] == (12, 4)
    assert method.predict(lab.batch((0, 1))).shape == (16, 12)
