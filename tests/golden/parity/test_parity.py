"""Methods give the scores that public code gave, from the same starts, in the same order, with the same settings.

``public.npz`` was written by `tests.golden.parity.public`; docs/parity_setup.md names the code and what was made equal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqsearch.methods.parts.components import orthonormal
from seqsearch.methods.ranpac import RanPAC
from tests.golden.parity.agreement import OTHER, RECORD, found, gap, gaps, trained
from tests.golden.parity.cases import CASES, Case
from tests.golden.parity.ours import START, Bench, Source
from tests.golden.parity.starts import COMPONENT, COMPONENTS, DEPTH, WIDTH, digest, starts

TOLERANCE = 1e-5
"""Largest difference of two scores; ``agreement.json`` says how large it was measured, at most 1e-6."""
WIDER = {"slca": 1e-4, "ranpac": 2e-4}
"""SLCA's scores reach 5 and depend on Cholesky roots, the public RanPAC solves in single precision: at most 1.5e-5."""
APART = 1e-3
"""How far a setting that is another takes a score at least."""


@pytest.fixture(scope="module")
def source() -> Source:
    return Source()


def test_starts_are_those_of_the_record() -> None:
    with np.load(RECORD) as file:
        assert str(file["digest"]) == digest(starts())


def test_what_is_kept_is_small() -> None:
    assert sum(p.stat().st_size for p in Path(__file__).parent.iterdir() if p.suffix in (".npz", ".json")) < 60_000


@pytest.mark.parametrize("name", CASES)
def test_scores_are_those_of_the_public_code(source: Source, name: str) -> None:
    assert max(gaps(source, name)) < WIDER.get(name, TOLERANCE)


def test_every_case_but_one_without_parameters_has_another_value() -> None:
    assert set(CASES) - set(OTHER) == {"simplecil"}


@pytest.mark.parametrize("name", OTHER)
def test_another_setting_gives_others(source: Source, name: str) -> None:
    """Without this the scores might agree because training hardly moves them."""
    assert max(gaps(source, name, **OTHER[name])) > APART


def test_another_order_of_classes_gives_others(source: Source) -> None:
    case = CASES["simplecil"]
    bench = Bench(source, Case(case.method, case.module, {}, {}, case.tasks[::-1]))
    for _ in case.tasks:
        bench.learn()
    assert gap(bench.scores(), found("simplecil", "scores.2")) > APART


def test_ranpac_solves_the_readout_of_the_public_code(source: Source) -> None:
    """Given its projection and penalty; it solves in single precision, this package in double."""
    for t, bench in enumerate(trained(source, "ranpac")):
        solved, method = found("ranpac", f"readout.{t}").T, bench.method
        assert isinstance(method, RanPAC)
        assert gap(method.readout, solved) < 1e-4 * float(solved.abs().max())


def test_slca_has_the_head_and_the_statistics_of_the_public_code(source: Source) -> None:
    """Before the alignment; the public covariances have the jitter that is added here when drawing."""
    *_, learned = trained(source, "slca")
    method: Any = learned.method
    assert gap(method.head.weight, found("slca", "weight")) < TOLERANCE
    assert gap(method.head.bias, found("slca", "bias")) < TOLERANCE
    assert gap(method.gaussians.means, found("slca", "means")) < TOLERANCE
    last = method.gaussians.covariance(len(method.gaussians) - 1) + 1e-4 * torch.eye(WIDTH)
    assert gap(last.float(), found("slca", "covariance")) < TOLERANCE
    assert gap(method.aligned.weight, method.head.weight) > APART


def test_first_components_of_coda_prompt_are_those_of_the_public_code_but_for_signs() -> None:
    """Of the same draws, which the public code makes orthonormal one by one, block by block in p, k and a."""
    widths = {"p": COMPONENT * WIDTH, "k": WIDTH, "a": WIDTH}
    drawn = START["components"][: DEPTH * COMPONENTS * sum(widths.values())].double().reshape(DEPTH, -1)
    for block, numbers in enumerate(drawn):
        parts = numbers.split([COMPONENTS * width for width in widths.values()])
        for (name, width), part in zip(widths.items(), parts, strict=True):
            public = found("coda_prompt", f"start.{name}")[0, block]
            own = orthonormal(part.reshape(COMPONENTS, width), torch.zeros(0, width, dtype=torch.float64)).float()
            signs = (own * public).sum(1, keepdim=True).sign()
            assert gap(signs * own, public) < 1e-6
