"""The command line in process: bad input in one line and exit code 2, run folders, resume, YAML, dry run, JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from protocols.cli.options import weights_of
from protocols.running.folder import RunFolder
from tests.lines import messages
from tests.studies import small_settings

SMALL = [
    "cldyb",
    "--methods",
    "simplecil",
    "--pool",
    "glyphs:classes=48,train=8,reward=4,test=4",
    "--tasks",
    "2",
    "--random-sequences",
    "5",
    "--classes-per-task",
    "3",
    "--candidates",
    "4",
    "--condensed",
    "2",
    "--simulations",
    "2",
    "--lookahead",
    "0",
    "--score-seeds",
    "1",
    "--workers",
    "0",
]

OWN = """
import torch
from seqsearch.methods.simplecil import build as SimpleCIL
from seqsearch.methods.base import FitReport

class Raises(SimpleCIL):
    def fit_task(self, task):
        raise IndexError("list index out of range")

class Diverges(SimpleCIL):
    def fit_task(self, task):
        return FitReport(status="diverged")

class NaN(SimpleCIL):
    def predict(self, batch):
        return super().predict(batch) * float("nan")

class Unseen(SimpleCIL):
    def predict(self, batch):
        return torch.cat([super().predict(batch), torch.zeros(len(batch), 1)], 1)

class Peeks(SimpleCIL):
    def fit_task(self, task):
        task.replay([10**9], task.train.targets[:1])
        return super().fit_task(task)

class BadFeatures(SimpleCIL):
    def features(self, batch):
        return super().features(batch) * float("nan")

class Spoofs(SimpleCIL):
    def exemplars(self):
        import numpy as np
        return np.arange(1000)

class NoCapabilities(SimpleCIL):
    @classmethod
    def capabilities(cls, config):
        raise KeyError("caps")

class FailsLater(SimpleCIL):
    def fit_task(self, task):
        if task.depth:
            raise ValueError("second task")
        return super().fit_task(task)

class NoMethod:
    pass

from seqsearch.methods.base import Method

class Unloadable(Method):
    fit_task = predict = features = state_dict = memory_footprint = lambda self, *given: None
"""


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def small(*more: Any) -> Result:
    return call(*SMALL, *more)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("cli") / "run"
    result = small("--out", run)
    assert result.exit_code == 0, result.output
    return run


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--pool", "cifar"], r"pool '.*cifar' does not exist: name a folder of images, a .parquet file, or one of glyphs"),
        (["--pool", "glyphs:colour=3"], r"pool 'glyphs:colour=3': no option 'colour'; it has train, reward, test, classes"),
        (["--methods", "mine.py"], r"name the class in it too, mine.py:CLASS"),
        (["--methods", "ranpak"], r"unknown method 'ranpak': did you mean ranpac\? there are acil, .*, zero_shot; an own one is"),
        (["--methods", "ranpac:m=5"], r"method 'ranpac:m=5'.*no parameter 'm'; did you mean M\? it has: .*M, adapt"),
        (["--methods", "ranpac:M=0"], r"M=0: must be at least 1"),
        (["--methods", "ranpac:M=many"], r"M=many: must be a whole number"),
        (["--methods", "simplecil,simplecil"], r"method 'simplecil' is named twice"),
        (["--methods", "nowhere.py:Mine"], r"method file '.*/nowhere.py' does not exist"),
        (["--backbone", "vit_xxl"], r"unknown backbone 'vit_xxl': it is none of glyph_vit and plain_vit, nor a timm model"),
        (["--tasks", "20"], r"has 48 classes in play, 20 tasks of 3 need 60: lower --tasks or --classes-per-task"),
        (["--exclude-groups", "Klingon"], r"--exclude-groups 'Klingon': pool .* has no such group; it has"),
        (["--classes-per-task", "1"], r"--classes-per-task 1: must be at least 2"),
        (["--pool", "glyphs:train=1"], r"train=1 must be a whole number from 2 to 100000"),
        (["--random-sequences", "3"], r"fewer than 5 give no usable interval"),
        (["--difficulty", "hard", "--temperature", "1"], r"--difficulty and --temperature set the same thing"),
        (["--gpus-per-worker", "1"], r"--gpus-per-worker: this machine has no GPU that torch can use"),
        (["--seed", "100000000000000000000"], r"--seed 100000000000000000000: must be at most 9223372036854775807"),
        (["--temperature", "nan"], r"--temperature nan: must be at least 0"),
        (["--address", "auto"], r"--workers 0 runs in this process and --address on a cluster"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_before_anything_is_made(tmp_path: Path, arguments: list[str], says: str) -> None:
    result = small(*arguments, "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert re.search(says, result.stderr), result.stderr
    assert len(messages(result.stderr)) == 1
    assert not (tmp_path / "run").exists()


def test_a_class_without_test_images_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import dataclasses\nfrom seqsearch.pools.glyphs import build\n"
        "def tiny():\n    pool = build(classes=48)\n    first, *rest = pool.classes\n"
        "    pool.classes = (dataclasses.replace(first, count=3), *rest)\n    return pool\n"
    )
    result = small("--pool", f"{tmp_path}/mine.py:tiny", "--out", tmp_path / "run")
    assert result.exit_code == 2
    assert "has 3 images, too few to give train, validation, reward and test one each: drop the class" in result.stderr


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Raises", "method '{own}:Raises' failed: IndexError: list index out of range (own.py:8)"),
        ("Diverges", "method '{own}:Diverges' diverged: training diverged"),
        ("NaN", "method '{own}:NaN' diverged: scores are not finite"),
        (
            "Unseen",
            "predict() returned (12, 4), must be a tensor of shape (12, 3): one column for each class seen, no other (own.py:",
        ),
        ("Peeks", "failed: AccessError: image 1000000000 is neither of this task nor a stored exemplar"),
        ("BadFeatures", "failed in features(): ValueError: features are not finite"),
        ("Spoofs", "failed: AccessError: exemplars() holds image 0, which it never was given"),
        ("NoCapabilities", "failed in capabilities(): KeyError: 'caps'"),
        ("Unloadable", "does not define load_state_dict (docs/methods.md says what it is for)"),
        ("NoMethod", "is no method: derive its class from seqsearch.methods.base.Method"),
        ("Nothing", "no 'Nothing' in that file; it has: Raises, Diverges"),
    ],
)
def test_a_faulty_method_is_named_in_one_line(tmp_path: Path, own: Path, name: str, says: str) -> None:
    result = small("--methods", f"{own}:{name}", "--out", tmp_path / "run", "--quiet")
    assert result.exit_code == 2
    assert says.format(own=own.name) in result.stderr
    assert len(messages(result.stderr)) == 1
    assert "Traceback" not in result.output


def test_what_other_trainings_found_is_kept_when_a_method_fails_and_is_mended(tmp_path: Path, own: Path) -> None:
    run = tmp_path / "run"
    result = small("--methods", f"simplecil,{own}:FailsLater", "--out", run, "--quiet")
    assert result.exit_code == 2
    assert (
        f"ValueError: second task (own.py:44). Mend the method, then: seqsearch cldyb --resume {run}" in result.stderr
    )
    own.write_text(OWN.replace('raise ValueError("second task")', "pass"))
    for module in [m for m in sys.modules if m.startswith("seqsearch_user_")]:
        del sys.modules[module]  # a new process would import the mended file
    again = call("cldyb", "--resume", run, "--workers", 0, "--json")
    assert again.exit_code == 0, again.stderr
    assert f"changed since the last session, hence trained again: {own.name}:FailsLater" in again.stderr
    stats = json.loads((run / "stats.json").read_text())
    assert stats["sessions"] == 2
    assert stats["replayed"] >= 2


def test_a_run_is_never_overwritten(finished: Path) -> None:
    result = small("--out", finished)
    assert result.exit_code == 2
    assert f"{finished} is not empty and is never overwritten: continue it with --resume {finished}" in result.stderr


def test_a_finished_run_is_left_alone_and_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "from seqsearch.methods.simplecil import build as SimpleCIL\nclass Mine(SimpleCIL):\n    pass\n"
    )
    monkeypatch.chdir(tmp_path)
    assert small("--methods", "mine.py:Mine", "--out", "run", "--quiet").exit_code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    files = {p: p.stat().st_mtime_ns for p in (tmp_path / "run").glob("*.parquet")}
    again = call("cldyb", "--resume", tmp_path / "run", "--workers", 0)
    assert again.exit_code == 0, again.stderr
    assert "Mine" in again.stdout
    with (tmp_path / "mine.py").open("a") as file:
        file.write("    edited = True\n")
    changed = call("cldyb", "--resume", tmp_path / "run", "--workers", 0)
    assert changed.exit_code == 2
    assert "mine.py:Mine changed since run" in changed.stderr
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "run").glob("*.parquet")} == files


def test_resuming_with_a_broken_method_file_keeps_the_run(tmp_path: Path, own: Path) -> None:
    run = tmp_path / "run"
    settings = small_settings(methods=f"{own}:Raises")
    RunFolder.create(run, settings).close()  # as after a kill before the first result
    own.write_text("def broken(:")
    result = call("cldyb", "--resume", run, "--workers", 0)
    assert result.exit_code == 2
    assert "does not load: SyntaxError" in result.stderr
    assert (run / "config.json").exists()


def test_a_folder_that_holds_a_lock_only_is_as_good_as_new(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").touch()
    RunFolder.create(tmp_path / "run", small_settings()).close()
    assert (tmp_path / "run" / "config.json").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--tasks", "3"], "--tasks 3 differs from 2 of run"),
        (["--seed", "1", "--quiet"], "--seed 1 differs from 0 of run"),
        (["--difficulty", "easy"], "--temperature inf differs from 0.0 of run"),
        (["--out", "elsewhere"], "--resume continues a run where it is"),
    ],
)
def test_resume_refuses_other_settings_by_name(finished: Path, more: list[str], says: str) -> None:
    result = call("cldyb", "--resume", finished, "--workers", 0, *more)
    assert result.exit_code == 2
    assert says in result.stderr


def test_resume_takes_the_same_settings_and_trains_nothing(finished: Path) -> None:
    before = json.loads((finished / "stats.json").read_text())["trained"]
    result = call("cldyb", "--resume", finished, "--workers", 0, "--tasks", 2, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert json.loads((finished / "stats.json").read_text())["trained"] == before


def test_resume_refuses_what_is_no_run_or_has_changed_under_it(finished: Path, tmp_path: Path) -> None:
    import shutil

    assert "is no run folder" in call("cldyb", "--resume", tmp_path).stderr
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    config = json.loads((copy / "config.json").read_text())
    config["identity"]["weights"] = {"glyph_vit": "glyph_vit.r0-000000000000"}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "journal.jsonl").unlink()  # which knows better; it would also restore what follows
    result = call("cldyb", "--resume", copy, "--workers", 0)
    assert result.exit_code == 2
    assert "weights changed since run" in result.stderr
    (copy / "config.json").write_text("{")
    assert "config.json cannot be read (" in call("cldyb", "--resume", copy, "--workers", 0).stderr


def test_config_holds_enough_to_repeat_the_run(finished: Path) -> None:
    config = json.loads((finished / "config.json").read_text())
    assert config["settings"]["tasks"] == 2
    identity = config["identity"]
    assert identity["weights"]["glyph_vit"].startswith("glyph_vit.r")
    assert {"pool_digest", "split_digest", "methods", "versions", "device", "threads", "precision"} <= set(identity)
    assert config["run_id"] == "run"


def test_yaml_sets_the_same_keys_and_flags_win(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "methods: [simplecil, er]\nclasses-per-task: 7\ntasks: 2\nno_clustering: true\n"
    )
    result = call("cldyb", "--config", tmp_path / "study.yaml", "--tasks", "9999")
    assert "9999 tasks of 7 need 69993" in result.stderr
    (tmp_path / "study.yaml").write_text("task: 2\n")
    result = call("cldyb", "--config", tmp_path / "study.yaml")
    assert result.exit_code == 2
    assert "unknown key 'task'" in result.stderr
    (tmp_path / "study.yaml").write_text("[1, 2")
    assert "cannot be read as YAML" in call("cldyb", "--config", tmp_path / "study.yaml").stderr


@pytest.mark.parametrize(
    "line",
    ["methods: [{a: 1}]", "methods: [3]", "tasks: five", "tasks: 1.7", "seed: true", "seed: null", "joint: 3",
     "candidates: [1, 2]", 'no_clustering: "false"', "sampler: 3"],
)  # fmt: skip
def test_yaml_values_are_neither_rounded_nor_guessed(tmp_path: Path, line: str) -> None:
    (tmp_path / "study.yaml").write_text(line + "\n")
    result = call("cldyb", "--config", tmp_path / "study.yaml", "--methods", "er")
    assert result.exit_code == 2
    assert f"{line.split(':')[0]} is " in " ".join(result.stderr.split())
    assert "must be of type" in " ".join(result.stderr.split())


def test_dry_run_counts_before_anything_is_spent(tmp_path: Path) -> None:
    result = small("--out", tmp_path / "run", "--dry-run", "--json")
    assert result.exit_code == 0, result.stderr
    cost = json.loads(result.stdout)
    assert (cost["search"], cost["scoring"], cost["random"], cost["joint"]) == (3, 2, 5, 6)
    assert cost["hours"] > 0
    assert cost["disk_bytes"] > 0
    assert not (tmp_path / "run").exists()
    told = small("--dry-run").stdout
    assert "16 trainings at most (3 search, 2 scoring, 5 random baseline, 6 on all classes at once; naive" in told
    for off in ("--no-joint", "--no-bound"):
        assert "10 trainings at most (3 search, 2 scoring, 5 random baseline; naive" in small("--dry-run", off).stdout
    assert re.search(r"^(\d+ s|under 1 s) in this process, at ", told, re.M), "seconds are no fraction of an hour"


def test_the_estimate_bounds_what_is_trained(finished: Path) -> None:
    cost = json.loads(small("--dry-run", "--json").stdout)
    assert json.loads((finished / "stats.json").read_text())["trained"] == cost["trainings"]


def test_show_prints_the_summary_again(finished: Path, tmp_path: Path) -> None:
    assert "simplecil" in call("show", finished).stdout
    assert json.loads(call("show", finished, "--json").stdout)["stats"]["trained"] > 0
    assert call("show", tmp_path).exit_code == 2


def test_methods_are_listed_from_the_code() -> None:
    listed = json.loads(call("methods", "--json").stdout)
    assert {"er", "finetune", "ranpac", "simplecil", "slca"} <= {m["name"] for m in listed}
    ranpac = next(m for m in listed if m["name"] == "ranpac")
    width = next(p for p in ranpac["parameters"] if p["name"] == "M")
    assert (width["default"], width["embedded"]) == (10000, 2000)
    assert width["search"] != width["embedded_search"]
    assert all(m["about"] and all(p["help"] for p in m["parameters"]) for m in listed)
    assert "ridge regression" in call("methods").stdout
    assert re.search(r"^M +10000 +2000 ", call("methods", "ranpac").stdout, re.MULTILINE)
    assert call("methods", "ranpak").exit_code == 2


def test_help_names_every_setting_and_imports_nothing_heavy() -> None:
    text = call("cldyb", "--help").stdout
    for name in (
        "--methods",
        "--candidates",
        "(B~)",
        "(N;",
        "--no-clustering",
        "--gpus-per-worker",
        "--config",
        "--dry-run",
    ):
        assert name in text
    code = (
        "import sys; from protocols.cli.main import main; main(['--help'], standalone_mode=False); "
        "print(sorted({'torch', 'numpy', 'ray', 'faiss', 'timm', 'pyarrow', 'scipy', 'yaml', 'rich'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.endswith("[]\n"), said.stdout


def test_a_full_disk_is_one_line_and_the_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    from seqsearch.states.folder import StateFolder
    from seqsearch.storage.files import atomic_path

    def full(self: StateFolder, *_: object) -> None:
        self.path.mkdir(exist_ok=True)
        with atomic_path(self.path / "state"):
            raise OSError(errno.ENOSPC, "No space left on device")

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(StateFolder, "write", full)
        result = small("--out", run, "--quiet")
    assert result.exit_code == 2
    assert "the disk is full: could not write" in result.stderr
    assert "free some space there, then resume" in result.stderr
    again = call("cldyb", "--resume", run, "--workers", 0, "--quiet")
    assert again.exit_code == 0, again.stderr


@pytest.mark.parametrize(
    "lines",
    [
        "methods: ranpac:M=5,lr=1e-2,ear",
        "methods: ['ranpac:M=5,lr=1e-2', ear]",
        "methods:\n  ranpac: {M: 5, lr: 1e-2}\n  ear:",
        "methods:\n  - ranpac: {M: 5, lr: 0.01}\n  - ear: {}",
    ],
)
def test_methods_with_parameters_in_a_yaml_file(tmp_path: Path, lines: str) -> None:
    """All forms say the same: the last method is unknown, the first one is not, or it would be complained of."""
    (tmp_path / "study.yaml").write_text(lines + "\n")
    result = call("cldyb", "--config", tmp_path / "study.yaml", "--workers", 0)
    assert result.exit_code == 2
    assert "unknown method 'ear'" in result.stderr
    (tmp_path / "study.yaml").write_text(lines.replace("lr", "rate").replace("ear", "er") + "\n")
    result = call("cldyb", "--config", tmp_path / "study.yaml", "--workers", 0)
    assert re.search(r"method 'ranpac:M=5,rate=0.01'.*no parameter 'rate'", result.stderr), result.stderr


def test_weights_of_one_backbone_may_be_written_as_those_of_several() -> None:
    assert weights_of("clip", "folder/clip") == weights_of("clip", "clip=folder/clip") == {"clip": "folder/clip"}
    assert weights_of("clip", None) is None
