"""The distillation of the second embedded backbone: it repeats itself, and its teacher stays as it is."""

from __future__ import annotations

import pytest
import torch

from seqsearch.backbones.plain_vit import build
from tools import distil


@pytest.mark.long
def test_pretraining_is_repeatable_and_shipped_in_the_form_that_is_read() -> None:
    one, two = (distil.distil(2, seed=0).state_dict() for _ in range(2))
    assert all(torch.equal(value, two[key]) for key, value in one.items())
    assert one.keys() == build().module().state_dict().keys()
    assert not any(
        torch.equal(v, w) for v, w in zip(one.values(), distil.distil(2, seed=1).state_dict().values(), strict=True)
    )


def test_the_teacher_is_not_trained() -> None:
    both = distil.Distilled(5)
    before = {key: value.clone() for key, value in both.teacher.state_dict().items()}
    torch.autograd.backward(list(both.losses(torch.randn(4, 3, 32, 32), torch.arange(4))))
    assert all(w.grad is not None for w in both.trained() if w.numel() > 1)
    assert all(w.grad is None for w in both.teacher.parameters())
    assert all(torch.equal(value, before[key]) for key, value in both.teacher.state_dict().items())
