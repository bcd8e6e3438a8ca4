"""``seqsearch check`` of an own learner of streams finds what a run could not notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from tests.conformance.lab import TEMPLATES

LEARNER = """
import numpy as np
import torch
from dataclasses import dataclass
from seqsearch.learners.ncm import build as Means
from seqsearch.learners.fc_only import build as Layer

class Mine(Means):
{body}
"""
LEARN = "    def learn(self, step):\n        super().learn(step)\n"
BREAKS = {
    "L1": LEARN + "        self.sums += torch.randn(1)",
    "L2": "    def predict(self, batch):\n        return super().predict(batch) * (len(batch) > 1)",
    "L2 ": "    def predict(self, batch):\n        self.sums += 1e-3\n        return super().predict(batch)",
    "L3": "    hidden = 0.0\n" + LEARN + "        self.hidden += 1\n        self.sums += self.hidden",
    "L3 ": "    def state_dict(self):\n        return {**super().state_dict(), 'more': [1.0]}\n"
           "    def load_state_dict(self, state):\n        state.pop('more')\n        super().load_state_dict(state)",
    "L4": LEARN + "        try:\n            step.labels(np.array([step.revealed]))\n"
          "        except RuntimeError:\n            pass",
    "L5": "    def predict(self, batch):\n        return torch.full((len(batch),), 99)",
    "L6": "    @dataclass(frozen=True)\n    class Config(Layer.Config):\n        pass",
    "L7": LEARN + "        torch.set_num_threads(2)",
}  # fmt: skip


@pytest.mark.parametrize("contract", BREAKS)
def test_a_broken_contract_is_named(tmp_path: Path, contract: str) -> None:
    (tmp_path / "mine.py").write_text(LEARNER.format(body=BREAKS[contract]))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    broken = [line.split()[0] for line in result.stdout.splitlines() if not line.endswith(": ok")]
    assert contract.strip() in broken
    assert "(docs/learners.md)" in result.stderr


ODD = {
    "[1.0]": "is list: must be a tensor, str, int, float or bool",
    "np.zeros(2)": "is ndarray: must be a tensor",
    "torch.zeros(2, 3).t()": "is not contiguous: return value.contiguous()",
    "torch.zeros(2, 2).to_sparse()": "must be dense",
    "torch.ones(1, requires_grad=True) * 2": "keeps gradients: return value.detach()",
}


@pytest.mark.parametrize("value", ODD)
def test_a_state_of_another_form_is_the_only_finding(tmp_path: Path, value: str) -> None:
    """The other contracts cannot be looked at, and are not said to be broken."""
    body = f"    def state_dict(self):\n        return {{**super().state_dict(), 'more': {value}}}"
    (tmp_path / "mine.py").write_text(LEARNER.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    (line,) = [line for line in result.stdout.splitlines() if "not tested" not in line]
    assert line.startswith("L3 ")
    assert ODD[value] in line
    assert "breaks L3 (" in result.stderr


def test_the_example_keeps_them_and_is_compared_with_baselines() -> None:
    example = TEMPLATES / "learner.py"
    result = CliRunner().invoke(main, ["check", f"{example}:FadingMeans:keep=0.9"])
    assert result.exit_code == 0, result.output
    assert result.stdout.count(": ok\n") == 8
    last = result.stdout.splitlines()[-3:]
    assert [line.split(":")[0] for line in last] == ["learner.py", "ncm", "blind"]
    figures = [[float(word.rstrip(",")) for word in line.split() if word[:2] == "0."] for line in last]
    assert figures[0][0] > figures[2][0], "means that fade see the image, the blind one does not"


def test_one_of_ours_is_checked_by_name_where_no_method_has_it() -> None:
    result = CliRunner().invoke(main, ["check", "blind:k=3"])
    assert result.exit_code == 0, result.output
    assert result.stdout.count(": ok\n") == 8


@pytest.mark.long
def test_one_that_shares_its_name_with_a_method_is_asked_for() -> None:
    result = CliRunner().invoke(main, ["check", "er", "--learner", "--backbone", "scratch:tiny-8"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("L1 ")
    assert result.stdout.splitlines()[-3].startswith("er: online accuracy")


def test_a_learner_that_lacks_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from seqsearch.learners.base import Learner\n\nclass Mine(Learner):\n    def learn(self, step):\n        pass\n"
    )
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    assert "does not define predict (docs/learners.md says what it is for)" in result.stderr


@pytest.mark.parametrize("where", ["learn(self, step)", "predict(self, batch)", "state_dict(self)"])
def test_a_crash_is_reported_once_and_no_contract(tmp_path: Path, where: str) -> None:
    body = f"    def {where}:\n        return torch.cat([torch.ones(1), torch.ones(1, 2)])"
    (tmp_path / "mine.py").write_text(LEARNER.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("seqsearch: mine.py:Mine failed: RuntimeError: ")
    assert "(mine.py:10); mend it" in result.stderr
    assert result.stderr.count("\n") == 1
