"""How scores become images that are right: by the numbers alone, whatever a method has replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from seqsearch.training.scenario import array_of
from seqsearch.training.scenarios.class_incremental import right

SCORES = torch.tensor([[0.1, 0.9, 0.0], [0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.5, 0.5, 0.0]])
LABELS = np.array([0, 1, 0, 0])


@given(
    hnp.arrays(
        np.float32, st.tuples(st.integers(1, 30), st.integers(2, 6)), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0])
    ),
    st.data(),
)
def test_it_is_the_largest_score_and_of_equal_ones_the_first(scores: Any, data: st.DataObject) -> None:
    """As ``torch.argmax`` has it; so no result of earlier versions changes."""
    first = data.draw(st.integers(0, scores.shape[1] - 1))
    columns = range(first, data.draw(st.integers(first + 1, scores.shape[1])))
    positions = np.array(
        data.draw(st.lists(st.integers(0, len(columns) - 1), min_size=len(scores), max_size=len(scores)))
    )
    found, of = right(torch.from_numpy(scores), positions, columns), torch.from_numpy(scores)
    assert found.images.tolist() == (of.argmax(1).numpy() == positions + first).tolist()
    masked = of[:, first : columns.stop].argmax(1).numpy() == positions
    assert sum(found.masked) == masked.sum()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64])
def test_of_every_type_its_numbers(dtype: torch.dtype) -> None:
    tensor = torch.tensor([[1, 2], [4, 3]], dtype=dtype)
    own = array_of(tensor)
    assert own.tolist() == [[1, 2], [4, 3]]
    tensor.zero_()
    assert own.tolist() == [[1, 2], [4, 3]], "a copy"


class Flatters(torch.Tensor):
    """Its own largest score is wherever it is asked for."""

    @classmethod
    def __torch_function__(cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return torch.tensor(LABELS)


def test_a_tensor_that_answers_otherwise_is_judged_by_its_numbers() -> None:
    expected = right(SCORES, LABELS, range(3))
    assert expected.images.tolist() == [False, False, False, True]
    assert right(SCORES.as_subclass(Flatters), LABELS, range(3)).images.tolist() == expected.images.tolist()


@pytest.mark.parametrize("name", ["argmax", "detach", "cpu", "float", "numpy", "__eq__", "__getitem__", "max", "to"])
def test_who_replaces_functions_of_tensors_gets_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = right(SCORES, LABELS, range(3))
    monkeypatch.setattr(torch.Tensor, name, lambda *_, **__: torch.tensor(LABELS), raising=False)
    found = right(SCORES, LABELS, range(3))
    monkeypatch.undo()
    assert (found.correct, found.masked, found.images.tolist()) == (
        expected.correct,
        expected.masked,
        expected.images.tolist(),
    )
