import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.types import MethodSpec, Probe, StateKey
from seqsearch.features import geometry as sim
from seqsearch.training import probes as probing
from seqsearch.training.world import World
from tests.oracles import potentials_literal


def features(seed, n, d, spread=1.0):
    rng = np.random.default_rng(seed)
    return (1 + spread * rng.normal(size=(n, d))).astype(np.float32)


def test_cosines_agree_with_the_exact_oracle_and_survive_zero_rows():
    x = features(0, 50, 64)
    x[7] = 0
    cosines = sim.cosine_matrix(x)
    assert cosines.dtype == np.float32
    np.testing.assert_allclose(cosines, sim.cosine_matrix_exact(x), atol=2e-6)
    assert not cosines[7].any()
    np.testing.assert_array_equal(cosines, cosines.T)


def test_cosines_do_not_depend_on_scale():
    x = features(1, 20, 8)
    scale = np.logspace(-30, 30, 20, dtype=np.float32)[:, None]
    np.testing.assert_allclose(sim.cosine_matrix(x * scale), sim.cosine_matrix(x), atol=2e-6)


def test_cosines_are_the_bits_of_faiss():
    x = features(2, 300, 96)
    unit = sim.unit_rows(x)
    np.testing.assert_array_equal(
        sim.cosine_matrix(x), faiss.pairwise_distances(unit, unit, faiss.METRIC_INNER_PRODUCT)
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused(bad):
    x = features(0, 4, 3)
    x[2, 1] = bad
    with pytest.raises(ValueError, match="not finite"):
        sim.cosine_matrix(x)


@given(st.integers(0, 2**31), st.integers(2, 12), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_potentials_agree_with_the_pseudocode(seed, n, methods):
    prototypes = [features(seed + m, n, 3 + m) for m in range(methods)]
    psi = sim.potentials(prototypes)
    # Min-max divides by the range of the cosines, so their float32 rounding counts in units of the narrowest range.
    ranges = [np.ptp(c[~np.eye(n, dtype=bool)]) for c in map(sim.cosine_matrix_exact, prototypes)]
    if min(ranges) > 1e-4:
        np.testing.assert_allclose(psi, potentials_literal(prototypes), atol=4e-6 / min(ranges))
    assert psi.min() >= 0
    assert psi.max() <= 1
    assert not np.diagonal(psi).any()


def test_potentials_of_one_method_span_zero_to_one():
    psi = sim.potentials([features(3, 30, 16)])
    off = psi[~np.eye(30, dtype=bool)]
    assert off.min() == 0
    assert off.max() == 1


@pytest.mark.parametrize("spread", [1.0, 0.0])
def test_potentials_in_several_blocks_are_the_same_bits(monkeypatch, spread):
    prototypes = [features(m, 53, 16, spread) for m in range(3)]
    whole = sim.potentials(prototypes)
    monkeypatch.setattr(sim, "_ROWS", 7)
    np.testing.assert_array_equal(sim.potentials(prototypes), whole)


def test_the_mean_over_methods_comes_after_the_rescaling():
    narrow, wide = features(0, 10, 8, spread=0.01), features(1, 10, 8, spread=2.0)
    both = sim.potentials([narrow, wide])
    np.testing.assert_allclose(both, (sim.potentials([narrow]) + sim.potentials([wide])) / 2)


def test_constant_similarities_are_potential_one():
    same = np.tile(features(0, 1, 40), (6, 1)) * np.arange(1, 7, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(sim.potentials([same]), 1 - np.eye(6))
    rounded = np.tile(features(0, 1, 768), (40, 1)) * np.linspace(0.1, 7, 40, dtype=np.float32)[:, None]
    assert np.ptp(sim.cosine_matrix(rounded)) > 0
    np.testing.assert_array_equal(sim.potentials([rounded]), 1 - np.eye(40))
    np.testing.assert_array_equal(sim.potentials([features(0, 2, 5)]), 1 - np.eye(2))
    np.testing.assert_array_equal(sim.potentials([features(0, 1, 5)]), [[0]])


def test_potentials_refuse_methods_that_disagree():
    with pytest.raises(ValueError, match="disagree"):
        sim.potentials([features(0, 5, 3), features(0, 1, 3)])
    with pytest.raises(ValueError, match="at least one"):
        sim.potentials([])


@given(
    st.integers(0, 2**31), st.integers(1, 60), st.integers(1, 40), st.integers(1, 15), st.sampled_from([0.01, 0.1, 5])
)
@settings(max_examples=60, deadline=None)
def test_knn_nll_agrees_with_the_exact_oracle(seed, n, m, k, temperature):
    rng = np.random.default_rng(seed)
    labels, truth = rng.integers(-3, 4, n), rng.integers(-3, 5, m)
    train, queries = features(seed, n, 9), features(seed + 1, m, 9)
    ours = sim.knn_nll(train, labels, queries, truth, k, temperature)
    exact = sim.knn_nll_exact(train, labels, queries, truth, k, temperature)
    assert ours == pytest.approx(exact, rel=1e-2 if temperature == 0.01 else 1e-3, abs=1e-3)


def test_knn_nll_by_hand():
    """Two neighbours at cosines 1 and 0 with T = 1: shares e / (e + 1) and 1 / (e + 1), two labels, smoothing .1."""
    share = np.e / (np.e + 1)
    train, queries = np.eye(2), np.array([[2.0, 0.0]])
    for label, v in ((5, share), (-9, 1 - share)):
        nll = sim.knn_nll(train, [5, -9], queries, [label], k=2, temperature=1.0, smoothing=0.1)
        assert nll == pytest.approx(-np.log((v + 0.1) / 1.2), rel=1e-5)


def test_knn_nll_is_finite_for_labels_never_trained_and_tiny_temperatures():
    train = features(0, 8, 4)
    nll = sim.knn_nll(train, np.zeros(8, int), train, np.full(8, 99), temperature=1e-4)
    assert nll == pytest.approx(-np.log(1e-3 / (1 + 2e-3)))


@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0)])
def test_knn_nll_refuses_empty_sides(n, m):
    with pytest.raises(ValueError, match="at least one"):
        sim.knn_nll(np.ones((n, 2)), np.zeros(n, int), np.ones((m, 2)), np.zeros(m, int))


# ------------------------------------------------------------------------------------------------ on a GPU


def knn_task(seed=0):
    rng = np.random.default_rng(seed)
    train, queries = features(seed, 400, 64), features(seed + 1, 200, 64)
    return train, rng.integers(0, 8, 400), queries, rng.integers(0, 8, 200)


def test_a_cuda_worker_whose_faiss_sees_no_gpu_searches_on_the_cpu(monkeypatch):
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 0)
    assert not sim.searches_on_gpu("cuda", 10)
    assert sim.knn_nll(*knn_task(), device="cuda") == sim.knn_nll(*knn_task())


def test_probes_search_on_the_gpu_of_their_worker_and_nowhere_else(monkeypatch):
    """Which search is called for which device, with the arguments that FAISS's GPU search takes; it is run on the CPU."""
    searched = []

    def knn_gpu(res, xq, xb, k, *, metric):
        searched.append((res, len(xq), len(xb), k))
        return faiss.knn(xq, xb, k, metric)

    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "knn_gpu", knn_gpu)
    monkeypatch.setattr(sim, "_gpu_resources", lambda: "resources")
    method = MethodSpec("m", "m", "b", (), "0" * 32)
    answers = []

    class View:
        """Features that are made up; a probe of neighbours asks for nothing else."""

        def features(self, about, part, rows):
            return features(about, len(rows), 6)

    for device, k in (("cpu", 3), ("cuda", 3), ("cuda", 5000)):
        world = World("glyphs:classes=4,train=8,reward=4,test=2", 0, "cache", "states", device)
        options = (("images", 5), ("k", k), ("scope", "task"), ("temperature", 0.1))
        tasks = world.task([0, 1]), world.task([2, 3])
        probe = Probe("nll", StateKey(method, 0, 0, ()), "space", tasks=tasks, options=options)
        found = probing.answer(probe, world, View())
        answers.append(found.tolist())
    assert searched == [("resources", 8, 10, 3)] * 2 + [("resources", 8, 10, 10)] * 2
    assert answers[0] == answers[1] != answers[2]
    assert not sim.searches_on_gpu("cuda", 1025)
    assert not sim.searches_on_gpu("cpu", 1)
