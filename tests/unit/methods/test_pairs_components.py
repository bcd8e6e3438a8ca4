"""`mm_coda_prompt`: prefixes of pairs by a direct sum, and components of earlier experiences that stay."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from seqsearch.backbones.parts.flava_network import ENCODERS
from seqsearch.core.errors import UserError
from seqsearch.methods.config import build_config
from seqsearch.methods.mm_coda_prompt import CodaPromptPairs
from tests.conformance.lab import PAIRS, TASKS, Lab, method_of

ONE, TWO, _ = TASKS


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), PAIRS)


def test_a_prefix_is_the_sum_of_components_weighted_by_cosines(lab: Lab) -> None:
    method = method_of(lab, "mm_coda_prompt", ONE, TWO, components=3, length=4)
    batch, rows = lab.batch(ONE + TWO), []
    for n in range(0, len(batch), 9):
        q, prefixes = batch.frozen[n], {}
        for e in ENCODERS:
            prefixes[e] = {}
            for at, layer in enumerate(method.layers[e]):
                k, a, p = (method.pool[f"{kind} {e}"][at] for kind in "kap")
                assert len(k) == 6
                prompt = sum(functional.cosine_similarity(q * a[m], k[m], dim=0) * p[m] for m in range(6))
                prefixes[e][layer] = prompt.view(2, 2, -1)  # keys, then values
        rows.append(method.network.run(batch.select(torch.tensor([n])).inputs, prefixes))
    assert [len(method.layers[e]) for e in ENCODERS] == [3, 2, 2]
    torch.testing.assert_close(method.features(batch)[::9], torch.cat(rows).detach(), rtol=0, atol=1e-5)


def test_components_of_earlier_experiences_stay(lab: Lab) -> None:
    method = method_of(lab, "mm_coda_prompt", ONE, components=3)
    before = {name: rows.clone() for name, rows in method.pool.items()}
    lab.fit(method, TWO)
    for name, rows in method.pool.items():
        assert torch.equal(rows[:, :3], before[name])
        assert rows.shape[1] == 6


def test_new_components_start_orthogonal_to_old_ones_and_are_trained(lab: Lab) -> None:
    method = method_of(lab, "mm_coda_prompt", ONE, components=3)
    fresh = method._initial(lab.data(method, TWO))
    for name, rows in fresh.items():
        torch.testing.assert_close(rows @ rows.mT, torch.eye(3).expand(len(rows), 3, 3), rtol=0, atol=1e-5)
        assert float((rows @ method.pool[name].mT).abs().max()) < 1e-5
    lab.fit(method, TWO)
    assert all(not torch.equal(method.pool[name][:, 3:], rows) for name, rows in fresh.items())


def test_orthogonality_is_a_part_of_the_loss(lab: Lab) -> None:
    """At a rate of 0 nothing moves, so the losses differ by mu times the sum of the mean squares."""
    loose, tight = (method_of(lab, "mm_coda_prompt", components=3, lr=0.0, epochs=1, mu=mu) for mu in (0.0, 2.0))
    for method in (loose, tight):
        method.pool = {name: 2 * rows for name, rows in method._initial(lab.data(method, ONE)).items()}
    first, second = (m.fit_task(lab.data(m, TWO)).losses[0] for m in (loose, tight))
    squares = sum(float(((rows @ rows.mT - torch.eye(6)) ** 2).mean((1, 2)).sum()) for rows in tight.pool.values())
    assert squares > 1
    assert second - first == pytest.approx(2.0 * squares, rel=1e-4)


def test_an_odd_length_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="length=5: must be even, half of it are keys; take 6"):
        build_config(CodaPromptPairs, {"length": 5})
