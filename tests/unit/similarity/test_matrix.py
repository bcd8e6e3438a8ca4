"""Similarity matrices: what is taken, what is refused and in which words, prototypes and confusion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seqsearch.core.errors import UserError
from seqsearch.similarity.features import from_confusion, from_prototypes
from seqsearch.similarity.matrix import TOLERANCE, Similarity, checked

NUMBERS = st.floats(-1e100, 1e100)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@st.composite
def symmetric(draw: st.DrawFn, most: int = 9) -> np.ndarray:
    """A symmetric matrix of any finite numbers, its diagonal whatever it may be."""
    n = draw(st.integers(2, most))
    matrix = draw(arrays(np.float64, (n, n), elements=NUMBERS))
    matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T
    np.fill_diagonal(matrix, draw(arrays(np.float64, n, elements=st.floats())))
    return matrix


@st.composite
def similarities(draw: st.DrawFn, most: int = 9) -> Similarity:
    matrix = draw(symmetric(most))
    names = draw(st.lists(NAMES, min_size=len(matrix), max_size=len(matrix), unique=True))
    return checked(matrix, names, "x", "drawn")


def letters(n: int) -> list[str]:
    return [chr(ord("a") + i) for i in range(n)]


@given(symmetric())
def test_a_symmetric_matrix_is_taken_as_it_is(matrix: np.ndarray) -> None:
    before = matrix.copy()
    found = checked(matrix, letters(len(matrix)), "x", "here")
    off = ~np.eye(len(matrix), dtype=bool)
    assert np.array_equal(found.values[off], matrix[off])
    assert np.array_equal(found.values, found.values.T)
    assert not found.values.diagonal().any()
    assert np.array_equal(matrix, before, equal_nan=True)
    assert not np.shares_memory(found.values, matrix)
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 1] = 1


@given(symmetric(), st.floats(0, 0.9), st.data())
def test_rounding_is_averaged_away(matrix: np.ndarray, share: float, data: st.DataObject) -> None:
    np.fill_diagonal(matrix, 0)
    matrix = np.clip(matrix, -1e99, 1e99)  # with room for what is added to one value
    i, j = data.draw(st.sampled_from([(a, b) for a in range(len(matrix)) for b in range(len(matrix)) if a != b]))
    off = share * TOLERANCE * np.abs(matrix).max()
    other = matrix.copy()
    other[i, j] += off
    found = checked(other, letters(len(matrix)), "x", "here").values
    assert np.array_equal(found, found.T)
    assert min(matrix[i, j], other[i, j]) <= found[i, j] <= max(matrix[i, j], other[i, j])


@pytest.mark.parametrize("at", [(0, 1), (700, 3), (3, 700), (699, 698)])
def test_asymmetry_is_refused_with_its_pair(at: tuple[int, int]) -> None:
    draw = np.random.default_rng(0).uniform(-1, 1, (701, 701))
    matrix = (draw + draw.T) / 2
    matrix[at] += 3e-6
    i, j = sorted(at)
    with pytest.raises(UserError) as caught:
        checked(matrix, [f"c{k}" for k in range(701)], "m.npy", "")
    there, back = float(matrix[i, j]), float(matrix[j, i])
    assert f"m.npy: the similarity of 'c{i}' and 'c{j}' is {there!r} one way and {back!r} the other" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("values", "names", "says"),
    [
        ([[0, 1]], "ab", "1 x 2, must be square"),
        (np.zeros((2, 2, 2)), "ab", "2 x 2 x 2, must be square"),
        (3.0, "a", "a single number, must be square"),
        ([[0, 1], [1]], "ab", "rows of different lengths"),
        ([["x", "y"], ["z", "w"]], "ab", "must hold real numbers"),
        ([[0, 1j], [1j, 0]], "ab", "holds complex128, must hold real numbers"),
        ([[None, 1], [1, None]], "ab", "must hold real numbers"),
        ([[1.0]], "a", "at least two"),
        (np.zeros((0, 0)), "", "at least two"),
        (np.zeros((2, 2)), "abc", "3 names for 2 classes"),
        (np.zeros((2, 2)), "aa", "'a' comes 2 times"),
        (np.zeros((2, 2)), ["a", ""], "class 2 has an empty name"),
        ([[0, np.nan], [1, 0]], "ab", "the similarity of 'a' and 'b' is nan, must be a finite number"),
        ([[0, 1], [-np.inf, 0]], "ab", "the similarity of 'b' and 'a' is -inf"),
    ],
)  # fmt: skip
def test_what_is_refused(values: object, names: list[str], says: str) -> None:
    with pytest.raises(UserError) as caught:
        checked(values, list(names), "m.csv", "")
    assert str(caught.value).startswith("m.csv: ")
    assert says in str(caught.value)


def test_too_many_classes_are_refused_before_memory_is_taken() -> None:
    matrix = np.broadcast_to(np.zeros(1), (30_000, 30_000))
    with pytest.raises(UserError, match="30000 classes, at most 25000"):
        checked(matrix, ["a"], "x", "")


@given(similarities(), st.data())
def test_restricted(found: Similarity, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(found.names), min_size=2, unique=True))
    part = found.restricted(names)
    at = [found.names.index(n) for n in names]
    assert part.names == tuple(names)
    assert np.array_equal(part.values, found.values[at][:, at])
    assert not part.values.flags.writeable
    assert (part.digest == found.digest) == (part.names == found.names)


def test_restricted_to_what_is_not_there() -> None:
    found = checked(np.zeros((3, 3)), ["maple tree", "oak tree", "whale"], "m.csv", "m.csv")
    with pytest.raises(UserError, match=r"m.csv: has no class 'oak_tree' and 1 more of 3: did you mean 'oak tree'"):
        found.restricted(["whale", "oak_tree", "rose"])
    with pytest.raises(UserError, match=r"no class 'zzz': it has 'maple tree', 'oak tree', 'whale'"):
        found.restricted(["whale", "zzz"])
    with pytest.raises(UserError, match="'whale' comes 2 times"):
        found.restricted(["whale", "oak tree", "whale"])
    with pytest.raises(UserError, match="at least two"):
        found.restricted(["whale"])


def test_the_digest_is_of_names_and_values() -> None:
    x = np.array([[5.0, 0.5], [0.5, np.nan]])
    digest = checked(x, "ab", "", "").digest
    assert checked(x.tolist(), ["a", "b"], "other", "other").digest == digest
    assert checked([[0, 0.5], [0.5, 9]], "ab", "", "").digest == digest
    assert checked(x, "ac", "", "").digest != digest
    assert checked([[0, 0.25], [0.25, 0]], "ab", "", "").digest != digest
    assert checked([[0, -0.0], [0.0, 0]], "ab", "", "").digest == checked([[0, 0.0], [-0.0, 0]], "ab", "", "").digest


def test_names_of_others_stay_one_line() -> None:
    with pytest.raises(UserError) as caught:
        checked([[0, np.inf], [np.inf, 0]], ["a\nb\x1b[31m", "c" * 500], "x", "")
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 200


# ------------------------------------------------------------------------------------------------ prototypes


@settings(max_examples=50)
@given(arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 5)), elements=st.floats(-1e3, 1e3, width=16)))
def test_prototypes_are_compared_by_their_cosine(x: np.ndarray) -> None:
    found = from_prototypes(x, letters(len(x)), "here")
    for i in range(len(x)):
        for j in range(i):
            lengths = float(np.linalg.norm(x[i]) * np.linalg.norm(x[j]))
            want = float(x[i] @ x[j]) / lengths if lengths else 0.0
            assert found.values[i, j] == pytest.approx(want, abs=1e-12)
    assert found.source == "here"


def test_prototypes_of_any_scale() -> None:
    x = np.array([[1e300, 1e300], [1e-300, 0.0]])
    assert from_prototypes(x, "ab", "").values[0, 1] == pytest.approx(np.sqrt(0.5))


def test_prototypes_that_are_none() -> None:
    with pytest.raises(UserError, match="glyph_vit: the prototype of 'b' is not finite"):
        from_prototypes([[1.0], [np.nan]], "ab", "glyph_vit")
    with pytest.raises(UserError, match="prototypes of 2 x 1 for 3 classes"):
        from_prototypes([[1.0], [2.0]], "abc", "x")
    with pytest.raises(UserError, match="must be a matrix"):
        from_prototypes([["a"], ["b"]], "ab", "x")


# ------------------------------------------------------------------------------------------------ confusion


def test_confusion_is_the_mean_of_two_rates() -> None:
    counts = np.array([[6, 2, 0], [1, 3, 0], [0, 0, 5]])
    before = counts.copy()
    found = from_confusion(counts, "abc", "here").values
    assert found == pytest.approx(np.array([[0, (2 / 8 + 1 / 4) / 2, 0], [0.25, 0, 0], [0, 0, 0]]))
    assert np.array_equal(counts, before)


@given(arrays(np.int64, st.integers(2, 7).map(lambda n: (n, n)), elements=st.integers(0, 1000)))
def test_counts_and_rates_are_the_same(counts: np.ndarray) -> None:
    counts = counts + np.eye(len(counts), dtype=np.int64)
    rates = counts / counts.sum(axis=1, keepdims=True)
    a, b = (from_confusion(x, letters(len(counts)), "").values for x in (counts, rates))
    np.testing.assert_allclose(a, b, rtol=1e-12)
    assert a.max() <= 1
    assert a.min() >= 0


def test_counts_of_any_size() -> None:
    assert from_confusion([[1e308, 1e308], [0, 1e-300]], "ab", "").values[0, 1] == 0.25


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([[1, -1], [0, 1]], "-1 images of 'a' taken for 'b'"),
        ([[1, 0], [np.nan, 1]], "nan images of 'b' taken for 'a'"),
        ([[1, 0], [0, 0]], "no image of 'b' was evaluated"),
        ([[1, 0, 0], [0, 1, 0]], "2 x 3, must be square"),
    ],
)
def test_confusion_that_is_none(counts: list[list[float]], says: str) -> None:
    with pytest.raises(UserError, match=says):
        from_confusion(counts, "ab", "x")


def test_values_of_which_no_sums_can_be_made_are_refused() -> None:
    with pytest.raises(UserError, match="beyond 1e\\+100"):
        checked(np.full((3, 3), 1e200), ["a", "b", "c"], "big.npy", "x")


def test_values_that_single_precision_takes_for_zero_are_refused() -> None:
    many = np.broadcast_to(np.float64(1e-50), (5000, 5000))
    with pytest.raises(UserError, match="has no value beyond 1e-30, too small for so many classes"):
        checked(many, [str(i) for i in range(5000)], "x", "x")
