"""``seqsearch check`` finds what a run could not notice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.check.contracts import TESTS
from seqsearch.check.run import embedded_backbone
from seqsearch.check.subject import middles
from tests.conformance.lab import EXAMPLE, EXAMPLE_PAIRS, EXAMPLE_REPLAY, PAIRS, TEMPLATES

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
}  # fmt: skip


def found(printed: str) -> list[str]:
    """Lines of contracts that are not kept, or that are not tested."""
    return [line for line in printed.splitlines() if re.match(r"C\d+ ", line) and not line.endswith(": ok")]


@pytest.mark.parametrize("contract", BREAKS)
def test_a_broken_contract_is_named(tmp_path: Path, contract: str) -> None:
    (tmp_path / "mine.py").write_text(METHOD.format(body=BREAKS[contract]))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    broken = list(dict.fromkeys(line.split()[0] for line in found(result.stdout)))
    assert contract.strip() in broken
    assert contract != "C10" or broken == ["C10"]
    assert f"breaks {', '.join(broken)}" in result.stderr


EXAMPLES = {
    "images": f"{EXAMPLE}:shrinkage=0.2",
    "pairs": f"{EXAMPLE_PAIRS}:epochs=2",
    "replay": f"{EXAMPLE_REPLAY}:epochs=2",
}


@pytest.mark.long
@pytest.mark.parametrize("method", EXAMPLES.values(), ids=EXAMPLES)
def test_the_examples_keep_them_all(method: str) -> None:
    backbone = ["--backbone", PAIRS] if method.startswith(EXAMPLE_PAIRS) else []
    result = CliRunner().invoke(main, ["check", method, *backbone])
    assert result.exit_code == 0, result.output
    assert result.stdout.count(": ok\n") == len(TESTS)


def test_what_the_docs_say_of_replay_is_the_example() -> None:
    docs = Path(__file__).parents[3] / "docs"
    text = (docs / "custom_method.md").read_text().split("## Exemplars")[1].split("\n## ")[0]
    code = [line.strip() for line in (TEMPLATES / "replay.py").read_text().splitlines()]
    quoted = [line.strip() for line in text.splitlines() if line.startswith(" " * 4)]
    assert any("task.replay(" in line for line in quoted)
    assert set(quoted) <= set(code)
    assert "`task.train.indices`" in text


SAYS = {
    "counters": (
        ("{'drift': float('nan')}", "['drift'] is nan"),
        ("{'drift': 'far'}", "['drift'] is 'far'"),
        ("[1]", " returned list"),
    ),
    "memory_footprint": (
        ("4 * self.prototypes.numel()", " returned int, must be a Footprint"),
        ("base.Footprint(params=4.0)", ".params is 4.0"),
        ("base.Footprint(statistics=-4)", ".statistics is -4"),
    ),
    "exemplars": (
        ("[]", " returned list, must be an array of rows"),
        ("torch.zeros(0, 2)", " returned float32 of shape (0, 2)"),
    ),
}
"""What functions of a method may return that is none of what they must, and what is said of it."""


@pytest.mark.parametrize(("name", "value", "wrong"), [(n, *case) for n, cases in SAYS.items() for case in cases])
def test_what_it_says_of_its_state_must_be_what_a_run_writes_down(
    tmp_path: Path, name: str, value: str, wrong: str
) -> None:
    body = f"    def {name}(self):\n        return {value}"
    (tmp_path / "mine.py").write_text("from seqsearch.methods import base\n" + METHOD.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    if value == "[]":  # it ends the training before
        assert f"{name}(){wrong}" in result.stderr
        return
    (line,) = [line for line in result.stdout.splitlines() if "can be counted" in line]
    assert f"{name}(){wrong}" in line
    assert line.endswith("(mine.py:7)"), "where it is made"


def test_names_of_classifiers_are_words(tmp_path: Path) -> None:
    body = "    def classifiers(self, batch):\n        return {'head': self.predict(batch), 2: self.predict(batch)}"
    (tmp_path / "mine.py").write_text(METHOD.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    (line,) = found(result.stdout)
    assert "classifiers() has the name 2, must be a str (mine.py:6)" in line


def test_a_footprint_that_cannot_be_had_is_named_with_its_line(tmp_path: Path) -> None:
    body = "    def memory_footprint(self):\n        return base.Footprint(parameters=4)"
    (tmp_path / "mine.py").write_text("from seqsearch.methods import base\n" + METHOD.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    (line,) = [line for line in result.stdout.splitlines() if "can be counted" in line]
    assert line.startswith("C9 ")
    assert "TypeError: " in line
    assert "unexpected keyword argument 'parameters'" in line
    assert line.endswith("(mine.py:8)")
    assert "breaks C9 (docs" in result.stderr


def test_a_contract_that_a_change_of_shared_resources_ended_is_not_tested(tmp_path: Path) -> None:
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
        test.contract for test in TESTS[:-1]
    ]
    assert "torch.set_default_dtype" in found(result.stdout)[-1]
    assert "breaks C10 (docs" in result.stderr


def test_a_change_of_shared_resources_is_reported_whichever_test_finds_it(tmp_path: Path) -> None:
    """It sees one image at a time only where C3 is tested."""
    body = (
        "    def predict(self, batch):\n        torch.set_num_threads(2 if len(batch) == 1 else torch.get_num_threads())\n"
        "        return super().predict(batch)"
    )
    (tmp_path / "mine.py").write_text(METHOD.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    assert "torch.set_num_threads (1 became 2)" in found(result.stdout)[-1]
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


def test_a_rule_between_parameters_that_act_later_hides_no_contract(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("""
from dataclasses import dataclass
from seqsearch.methods import config
from seqsearch.methods.simplecil import build as SimpleCIL

class Mine(SimpleCIL):
    @dataclass(frozen=True)
    class Config(config.Config):
        first: float = config.param(0.9, "in the beginning", minimum=0.0, maximum=1.0)
        last: float = config.param(1.0, "in the end", minimum=0.0, maximum=1.0, later=True)

        def check(self):
            if self.last < self.first:
                raise config.Conflict(f"last={self.last}: must be at least first={self.first}")
""")
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 0, result.output
    assert "keeps C1 to C10" in result.stdout


TRAINED = """
from dataclasses import dataclass
import torch
from torch.nn import functional
from seqsearch.methods import config
from seqsearch.methods.replay import build as Replay

class Noisy(Replay):
    @dataclass(frozen=True)
    class Config(Replay.Config):
        listed: bool = config.param(True, "generators are named")
        begins: int = config.param(0, "task from which there is noise on the scores", minimum=0, maximum=9)

    def fit_task(self, task):
        head, noise = self.grown_head(task), task.generator("noise")

        def loss_of(part):
            drawn = torch.randn(len(part), len(head), generator=noise) * (task.depth >= self.config.begins)
            return functional.cross_entropy(head(self.backbone(part.images)) + drawn, part.targets)

        listed = [noise] * self.config.listed
        report = self.train(task, self.with_exemplars(task), self.groups(task, head), [self.backbone], loss_of, generators=listed)
        return self.finish(task, head, report)
"""


@pytest.mark.parametrize(
    ("params", "broken"),
    [
        pytest.param("listed=true", [], marks=pytest.mark.long),
        pytest.param("listed=false", ["C4"], marks=pytest.mark.long),
        pytest.param("listed=false,begins=1", ["C4"], marks=pytest.mark.long),
    ],
)
def test_a_training_that_is_killed_must_go_on(tmp_path: Path, params: str, broken: list[str]) -> None:
    """A generator that is not named begins anew where a training goes on, also one that only later tasks draw from."""
    (tmp_path / "mine.py").write_text(TRAINED)
    method = f"{tmp_path}/mine.py:Noisy:epochs=3,first_epochs=3,memory=16,batch_size=32,{params}"
    result = CliRunner().invoke(main, ["check", method, "--backbone", "scratch:tiny-8"])
    lines = found(result.stdout)
    assert [line.split()[0] for line in lines] == broken, result.output
    assert all("a training that is killed goes on" in line and "(train)" in line for line in lines)
    assert result.exit_code == (2 if broken else 0)


def test_trainings_are_interrupted_within_each_phase() -> None:
    assert middles([]) == []
    assert middles(["train"] * 5) == [3]
    assert middles(["train"] * 4 + ["tuning"]) == [2, 5]
    assert middles(["a", "b", "a", "b", "a"]) == [2, 3]


@pytest.mark.parametrize(
    ("method", "backbone"),
    [
        ("mm_dp:pull=0.5", "glyph_flava"),
        ("mm_er", "glyph_flava"),
        (EXAMPLE_PAIRS, "glyph_flava"),
        ("l2p", "glyph_vit"),
        ("frozen_head", "glyph_vit"),
        ("acm", "glyph_vit"),
    ],
)
def test_methods_of_pairs_are_checked_on_a_backbone_of_pairs(method: str, backbone: str) -> None:
    assert embedded_backbone(method) == backbone
    assert embedded_backbone(f"{EXAMPLE}:shrinkage=0.2") == "glyph_vit"


def test_what_reads_texts_is_checked_on_glyphs_that_have_some() -> None:
    result = CliRunner().invoke(main, ["check", "simplecil", "--backbone", PAIRS])
    assert result.exit_code == 0, result.output
    assert result.stdout.count(": ok\n") == len(TESTS)
    result = CliRunner().invoke(main, ["check", "mm_dpcf", "--backbone", "glyph_vit"])
    assert "learns from images with texts, and backbone 'glyph_vit' reads images alone" in result.stderr


@pytest.mark.long
def test_a_method_of_pairs_keeps_them_all_on_what_comes_with_us() -> None:
    result = CliRunner().invoke(main, ["check", "mm_dp:epochs=1"])
    assert result.exit_code == 0, result.output
    assert result.stdout.count(": ok\n") == len(TESTS)


@pytest.mark.long
@pytest.mark.parametrize(
    "method", ["mm_er:mixing=halves,epochs=3", "mm_er:buffer=dp,mask=own,epochs=3", "mm_ub:epochs=3"]
)
def test_replay_of_pairs_goes_on_as_if_never_interrupted(method: str) -> None:
    result = CliRunner().invoke(main, ["check", method, "--backbone", PAIRS])
    assert result.exit_code == 0, result.output
    assert result.stdout.count(": ok\n") == len(TESTS)


CRASHES = {
    "predict": "    def predict(self, batch):\n        return torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.ones(1))",
    "features": "    def features(self, batch):\n        raise KeyError('gone')",
    "fit_task": "    def fit_task(self, task):\n        raise KeyError('gone')",
    "load_state_dict": "    def load_state_dict(self, state):\n        raise KeyError('gone')",
    "counters": "    def counters(self):\n        raise KeyError('gone')",
}


WRONG_ANSWERS = {
    "numpy": ("predict", "super().predict(batch).numpy()", r"ndarray of shape \(\d+, 7\)"),
    "columns": ("predict", "torch.zeros(len(batch), 99)", r"\(\d+, 99\)"),
    "features": ("features", "super().features(batch).numpy()", r"ndarray of shape \(\d+, \d+\)"),
}
"""What a method returns of images that no run takes, and what is said of it."""


@pytest.mark.parametrize("how", WRONG_ANSWERS)
def test_a_wrong_answer_is_reported_once_and_no_contract(tmp_path: Path, how: str) -> None:
    name, answer, said = WRONG_ANSWERS[how]
    (tmp_path / "mine.py").write_text(METHOD.format(body=f"    def {name}(self, batch):\n        return {answer}"))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = [line for line in result.stderr.splitlines() if "mine.py:" in line]
    must = r"must be a tensor of shape \(\d+, (7|d)\).* \(mine.py:6\); mend it: no contract can be tested"
    assert re.fullmatch(rf"seqsearch: mine.py:Mine failed: {name}\(\) returned {said}, {must}", line)


@pytest.mark.parametrize("where", CRASHES)
def test_a_crash_is_reported_once_and_no_contract(tmp_path: Path, where: str) -> None:
    (tmp_path / "mine.py").write_text(METHOD.format(body=CRASHES[where]))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = [line for line in result.stderr.splitlines() if "mine.py:" in line]
    assert re.fullmatch(r"seqsearch: mine.py:Mine failed: \w+Error: .* \(mine.py:7\); mend it: .*", line)
    assert "Traceback" not in result.stderr
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine", "--traceback"])
    assert f'mine.py", line 7, in {where}' in result.stderr
    assert result.stderr.splitlines()[-1] == line


def test_a_crash_on_a_task_of_another_size_breaks_the_contract_that_asks_for_it(tmp_path: Path) -> None:
    body = (
        "    def fit_task(self, task):\n        assert len(task.train.labels.unique()) > 1\n"
        "        return super().fit_task(task)"
    )
    (tmp_path / "mine.py").write_text(METHOD.format(body=body))
    result = CliRunner().invoke(main, ["check", f"{tmp_path}/mine.py:Mine"])
    (line,) = found(result.stdout)
    assert line.startswith("C5 ")
    assert line.endswith("AssertionError:  (mine.py:7)")
    assert "breaks C5 (docs" in result.stderr
