"""``seqsearch check`` finds what a run could not notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main

METHOD = """
import torch
from seqsearch.methods.simplecil import build as SimpleCIL

class Mine(SimpleCIL):
{body}
"""
BREAKS = {
    "C1": "    def fit_task(self, task):\n        r = super().fit_task(task)\n"
          "        self.prototypes += torch.randn(1)\n        return r",
    "C2": "    def predict(self, batch):\n        self.prototypes += 1e-3\n        return super().predict(batch)",
    "C3": "    def predict(self, batch):\n        return super().predict(batch) - batch.frozen.mean()",
    "C4": "    hidden = 0.0\n    def fit_task(self, task):\n        r = super().fit_task(task)\n        self.hidden += 1\n"
          "        self.prototypes += self.hidden\n        return r",
    "C9 ": "    def classifiers(self, batch):\n        return {'raw': self.predict(batch)}",
    "C10": "    def predict(self, batch):\n        self.context.frozen_backbone().train()\n        return super().predict(batch)",
    "C9": "    def predict(self, batch):\n        return torch.zeros(len(batch), 99)",
}  # fmt: skip


@pytest.mark.parametrize("contract", BREAKS)
def test_a_broken_contract_is_named(tmp_path: Path, contract: str) -> None:
    (tmp_path / "mine.py").write_text(METHOD.format(body=BREAKS[contract]))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    broken = [line.split()[0] for line in result.stdout.splitlines() if not line.endswith(": ok")]
    assert contract.strip() in broken
    assert contract != "C10" or broken == ["C10"]
    assert f"breaks {', '.join(broken)}" in result.stderr


def test_the_example_keeps_them_all() -> None:
    example = Path(__file__).parents[3] / "docs" / "example_method.py"
    result = CliRunner().invoke(main, ["check", f"{example}:ShrunkenMeans:shrinkage=0.2"])
    assert result.exit_code == 0, result.output
    assert result.stdout.count(": ok\n") == 7


def test_a_counter_that_is_no_number_is_named(tmp_path: Path) -> None:
    body = "    def counters(self):\n        return {'drift': float('nan')}"
    (tmp_path / "mine.py").write_text(METHOD.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    assert "counters()['drift'] is nan" in result.stdout


def test_what_a_change_of_what_is_lent_ended_is_not_said_to_be_kept(tmp_path: Path) -> None:
    """Its first look at features is refused, since the network is changed: no contract but C10 is tested."""
    body = (
        "    def fit_task(self, task):\n        torch.set_default_dtype(torch.float64)\n"
        "        self.context._source.features.network.check()\n        return super().fit_task(task)"
    )
    (tmp_path / "mine.py").write_text(METHOD.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert not [line for line in lines if line.endswith(": ok")]
    assert [line.split()[0] for line in lines if "not tested: it changed" in line] == [
        "C1",
        "C1",
        "C2",
        "C3",
        "C4",
        "C9",
    ]
    assert "torch.set_default_dtype" in lines[-1]
    assert "breaks C10 (docs" in result.stderr


def test_a_change_of_what_is_lent_is_told_whichever_test_finds_it(tmp_path: Path) -> None:
    """It sees one image at a time only where C3 is tested."""
    body = (
        "    def predict(self, batch):\n        torch.set_num_threads(2 if len(batch) == 1 else torch.get_num_threads())\n"
        "        return super().predict(batch)"
    )
    (tmp_path / "mine.py").write_text(METHOD.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    assert "torch.set_num_threads (1 became 2)" in result.stdout.splitlines()[-1]
    assert "breaks C10 (docs" in result.stderr


def test_a_parameter_that_acts_at_once_is_not_said_to_act_later(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("""
from dataclasses import dataclass
from seqsearch.methods import config
from seqsearch.methods.simplecil import build as SimpleCIL

class Mine(SimpleCIL):
    @dataclass(frozen=True)
    class Config(config.Config):
        scale: float = config.param(1.0, "of the prototypes", minimum=0.5, maximum=1.0, later=True)

    def fit_task(self, task):
        report = super().fit_task(task)
        self.prototypes *= self.config.scale
        return report
""")
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    assert "C1 what acts later changes nothing in the first task: state_dict()" in result.stdout
    assert "differ with scale=0.5: its param must not say later=True" in result.stdout
