"""On a real GPU: methods and features are those of the CPU to rounding, and a run repeats itself bit by bit.

`make test-gpu` runs these. Networks that begin from scratch repeat themselves, but are not held to the CPU: a difference in the
last bit grows in them, on one CPU as well (`benchmarks/parity/devices.py`).
"""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from benchmarks.common.results import seqsearch
from benchmarks.parity.devices import compared
from protocols.running.doctor import compared_devices
from seqsearch.backbones.open import build_backbone
from seqsearch.features.geometry import knn_nll, knn_nll_exact, searches_on_gpu
from seqsearch.features.store import FeatureStore
from seqsearch.pools.open import build_pool
from tests.conformance.lab import SCRATCH, SMALL_POOL, Case, cases_on_small_networks

RUN = shlex.split(
    "cldyb --methods simplecil,er:epochs=1 --pool glyphs:classes=24,train=20,reward=5,test=5 --tasks 3 --classes-per-task 4 "
    "--simulations 4 --random-sequences 5 --no-joint --device cuda --seed 0"
)


@pytest.mark.parametrize("case", cases_on_small_networks(), ids=lambda case: case.label)
def test_a_method_predicts_as_on_the_cpu_and_repeats_itself(case: Case, tmp_path: Path) -> None:
    found = compared(case, "cuda", tmp_path)
    assert found["repeats"]
    if case.backbone != SCRATCH:
        assert found["agree"] == 1
        assert found["difference"] < 1e-3


def test_features_are_those_of_the_cpu_to_float32_rounding(tmp_path: Path) -> None:
    rows = np.arange(160)
    on_gpu, on_cpu = (
        FeatureStore(tmp_path / name, build_pool(SMALL_POOL), build_backbone("glyph_vit"), torch.device(name)).rows(
            rows
        )
        for name in ("cuda", "cpu")
    )
    np.testing.assert_allclose(on_gpu, on_cpu, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("k", [1, 10, 300])
def test_neighbours_on_the_gpu_are_those_on_the_cpu(k: int) -> None:
    rng = np.random.default_rng(0)
    train, queries = (rng.normal(size=(n, 64)).astype(np.float32) for n in (400, 200))
    known, truth = rng.integers(0, 8, 400), rng.integers(0, 8, 200)
    assert searches_on_gpu("cuda", k)
    ours = knn_nll(train, known, queries, truth, k, device="cuda")
    assert ours == pytest.approx(knn_nll(train, known, queries, truth, k), rel=1e-3)
    assert ours == pytest.approx(knn_nll_exact(train, known, queries, truth, k), rel=1e-3)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_search_finds_the_same_with_any_number_of_workers(tmp_path: Path, workers: int) -> None:
    found = []
    for number in (0, workers):
        seqsearch(*RUN, "--workers", str(number), "--out", str(run := tmp_path / f"{number}"))
        found.append(pq.read_table(run / "sequences.parquet").drop_columns("run_id").to_pylist())
    assert found[0] == found[1]


def test_doctor_finds_cpu_and_gpu_alike() -> None:
    assert [f.state for f in compared_devices()] == ["ok", "ok", "ok"]
