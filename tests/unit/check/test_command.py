"""``seqsearch check`` tests every contract, reports untested ones, accuracy, bytes and consequences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from seqsearch.check.contracts import TESTS
from tests.conformance.lab import EXAMPLE

METHOD = """
import numpy as np
import torch
from seqsearch.methods.base import Caps, FitReport, Footprint
from seqsearch.methods.simplecil import build as SimpleCIL

class Mine(SimpleCIL):
{body}
"""
FIT = "    def fit_task(self, task):\n        r = super().fit_task(task)\n"
ORDERED = "\n    from dataclasses import replace\n    caps = replace(SimpleCIL.caps, order_invariant_after=None)\n"
"""The order of tasks matters."""
SILENT = {
    "zeros": ("    def predict(self, batch):\n        return torch.zeros(len(batch), len(self.prototypes))",
              "C9", "scores are the same for every image", "cannot be compared"),
    "sizes": (FIT + "        assert len(task.train.labels.unique()) > 1\n        return r",
              "C5", "AssertionError", "it cannot learn tasks of any size"),
    "class": ("    trained = [0]\n" + FIT + "        self.trained[0] += task.depth == 0\n"
              "        self.prototypes += self.trained[0]\n        return r",
              "C1", "differ", "would not repeat"),
    "foreign": (FIT + "        task.train._source.frozen(task.train.indices + 1)\n        return r",
                "C7", "it read image", "learns from images that others are not given"),
    "nan": ("    def fit_task(self, task):\n        r = super().fit_task(task)\n"
            "        self.prototypes = torch.nan_to_num(self.prototypes)\n        return FitReport()",
            "C8", "all NaN", "a divergence would be taken for a result"),
    "footprint": ("    def memory_footprint(self):\n        return Footprint(statistics=4)",
                  "C9", "state_dict() holds", "cannot be compared"),
}  # fmt: skip
"""What a run would not notice: how, the contract, what is said of it, and what follows."""


def checked(folder: Path, body: str) -> Result:
    (folder / "mine.py").write_text(METHOD.format(body=body))
    return CliRunner().invoke(main, ["check", f"{folder}/mine.py:Mine"])


def contracts() -> set[str]:
    return {test.contract for test in TESTS}


def test_each_contract_of_the_page_is_tested() -> None:
    page = (Path(__file__).parents[3] / "docs" / "method_contracts.md").read_text()
    assert contracts() == set(re.findall(r"^## (C\d+) ", page, re.MULTILINE))


@pytest.mark.parametrize("how", SILENT)
def test_what_a_run_would_not_notice_is_found(tmp_path: Path, how: str) -> None:
    body, contract, said, follows = SILENT[how]
    result = checked(tmp_path, body)
    assert result.exit_code == 2, result.output
    assert any(line.startswith(f"{contract} ") and said in line for line in result.stdout.splitlines()), result.stdout
    assert follows in result.stderr


@pytest.mark.parametrize("entry", ["'more': np.zeros(2)", "'more': [1.0]", "3: 4.0"])
def test_a_state_of_another_form_is_the_only_finding(tmp_path: Path, entry: str) -> None:
    result = checked(tmp_path, f"    def state_dict(self):\n        return {{**super().state_dict(), {entry}}}")
    assert result.exit_code == 2
    broken = [
        line
        for line in result.stdout.splitlines()
        if not line.endswith(": ok") and not line.startswith("not tested: ") and "see C4" not in line
    ]
    assert [line.split(":")[0] for line in broken] == ["C4 a restored method goes on as if never interrupted"]
    assert "state_dict()" in broken[0]
    assert "breaks C4 (" in result.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "drawn", ['self.context.generator("x")', "torch.Generator().manual_seed(3)"], ids=["context", "seeded"]
)
def test_a_generator_begun_anew_in_a_loop_is_seen(tmp_path: Path, drawn: str) -> None:
    loop = (
        "        for _ in range(3):\n            self.prototypes += 1e-3 * torch.randn(1, generator={})\n        return r"
        + ORDERED
    )
    result = checked(tmp_path, FIT + loop.format(drawn))
    assert result.exit_code == 0, result.output
    (line,) = [line for line in result.stdout.splitlines() if "warning: " in line]
    assert "asked for 3 times by mine.py:11 in one training and begins anew each time" in line
    assert result.stdout.endswith("see the warning.\n")
    (other := tmp_path / "other").mkdir()  # a file is read once in a process
    result = checked(other, FIT + loop.format('task.generator("x")'))
    assert "warning" not in result.output, "a generator that goes on"


def test_accuracy_bytes_and_open_contracts_are_reported() -> None:
    result = CliRunner().invoke(main, ["check", f"{EXAMPLE}:shrinkage=0.2"])
    *_, accuracy, stored, verdict = result.stdout.splitlines()
    own, finetune, simplecil = (float(n) for n in re.findall(r"(?:tasks:|finetune|simplecil) (\d\.\d+)", accuracy))
    assert min(own, finetune, simplecil) > 1 / 7, accuracy
    assert simplecil > finetune, "which forgets"
    assert accuracy.endswith("chance 0.143)")
    assert stored.startswith("bytes reported: params ")
    assert verdict.endswith("keeps C1 to C10 as far as two small tasks show.")
    assert len([line for line in result.stdout.splitlines() if line.startswith("not tested: ")]) == 3


@pytest.mark.long
def test_what_only_guesses_is_warned_of(tmp_path: Path) -> None:
    """Scores of images, but under the classes of others: each class has the column of the next."""
    body = "    def predict(self, batch):\n        return super().predict(batch).roll(1, 1)" + ORDERED
    result = checked(tmp_path, body)
    assert result.exit_code == 0, result.output
    assert "warning: that is not above chance" in result.stdout


def test_a_footprint_that_is_much_too_large_is_warned_of(tmp_path: Path) -> None:
    body = (
        "    def memory_footprint(self):\n        from dataclasses import replace\n"
        "        said = super().memory_footprint()\n        return replace(said, params=said.params + 10**9)"
    )
    result = checked(tmp_path, body)
    assert result.exit_code == 0, result.output
    assert "warning: memory_footprint() says 1,000," in result.stdout
