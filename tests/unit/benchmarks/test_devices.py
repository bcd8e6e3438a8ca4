"""The figures of docs/devices.md are those of the results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.common.results import RESULTS
from benchmarks.parity.devices import compared, summary
from tests.conformance.lab import TWO_BLOCKS, Case

PAGE = Path(__file__).parents[3] / "docs" / "devices.md"


def said(device: str) -> list[str]:
    return summary(json.loads((RESULTS / f"devices_{device}.json").read_text())["rows"])


def test_the_page_has_the_figures_of_the_results() -> None:
    assert said("cuda") == [
        "73 with given weights: 73 repeat themselves; predictions agree for 100% to 100% of the images; scores differ by at most "
        "0.0008 sd",
        "13 from scratch: 13 repeat themselves; predictions agree for 41% to 99% of the images; scores differ by at most 6 sd",
    ]
    assert "predictions agree for 38% to 97% of the images" in said("cpu-plain")[1]
    page = PAGE.read_text()
    assert all(figure in page for figure in ("All 86", "The 73", "0.0008", "The 13", "41 to 99 %", "38 to 97 %"))


def test_other_kernels_change_the_last_bits_alone(tmp_path: Path) -> None:
    found = compared(Case("er", "er", backbone=TWO_BLOCKS), "cpu-plain", tmp_path)
    assert found["repeats"]
    assert found["agree"] == 1
    assert found["difference"] == pytest.approx(0, abs=1e-4)


def test_cases_that_failed_are_no_part_of_the_summary() -> None:
    assert summary([{"method": "er", "failed": "ValueError"}]) == []
