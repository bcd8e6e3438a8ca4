"""``seqsearch mcil --text-at-test``: each file and output states the setting, and results of two settings never mix."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from tests.lines import messages

POOL = ["--pool", "glyphs:captions=first,classes=12,train=6,reward=2,test=5", "--methods", "simplecil,frozen_head"]
SMALL = [*POOL, "--experiences", "3", "--seeds", "3", "--workers", "0"]
SETTINGS = ("full", "class-free", "none")
FILES = ("experiences.parquet", "run_figures.parquet")


def ran(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def refused(*arguments: object) -> str:
    ended = ran(*arguments)
    assert ended.exit_code == 2, ended.output
    [line] = messages(ended.stderr)
    return line


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for texts in SETTINGS:
        ended = ran("mcil", *SMALL, "--text-at-test", texts, "--out", folder / texts, "--json")
        assert ended.exit_code == 0, ended.output
        (folder / f"{texts}.json").write_text(ended.stdout)
    return {texts: folder / texts for texts in SETTINGS}


def test_every_output_states_the_setting(runs: dict[str, Path]) -> None:
    sentence = {
        "full": "texts as they are, where a backbone reads texts",
        "class-free": "whose presence does not depend on the class",
        "none": "Every test image has an empty text",
    }
    lead = {"full": "", "class-free": "Test texts are class-free.", "none": "Test images have an empty text."}
    for texts, run in runs.items():
        said = json.loads((run.parent / f"{texts}.json").read_text())
        assert said["text_at_test"] == texts
        assert sum(sentence[texts] in n for n in said["notes"]) == 1
        for file in FILES:
            assert set(pd.read_parquet(run / file).text_at_test) == {texts}
        shown, page = ran("show", run, "--details").stdout, (run / "report.html").read_text()
        for output in (" ".join(shown.split()), " ".join(page.split())):
            assert sentence[texts] in output
            for other in SETTINGS:
                assert (lead[other] in output) == (not lead[other] or other == texts)
    config = json.loads((runs["class-free"] / "config.json").read_text())
    words = config["identity"]["class_free_words"]
    assert f"keep {words['kept']} of {words['of']} words" in (runs["class-free"] / "report.html").read_text()


def test_methods_learn_the_same_and_are_evaluated_otherwise(runs: dict[str, Path]) -> None:
    found = [pd.read_parquet(run / "run_figures.parquet") for run in runs.values()]
    key = ["method_id", "order", "seed", "params_bytes"]
    assert found[0][key].equals(found[1][key])
    assert found[0][key].equals(found[2][key])
    averages = [f.average.tolist() for f in found]
    assert averages[0] != averages[1] != averages[2] != averages[0]


def test_a_run_without_the_option_is_the_full_one(runs: dict[str, Path], tmp_path: Path) -> None:
    assert ran("mcil", *SMALL, "--out", tmp_path / "run").exit_code == 0
    for file in FILES:
        frames = [pd.read_parquet(run / file) for run in (runs["full"], tmp_path / "run")]
        own, other = (f.drop(columns=["run_id", "train_seconds", "judge_seconds"]) for f in frames)
        pd.testing.assert_frame_equal(own, other)


def test_a_resumed_run_keeps_its_setting(runs: dict[str, Path], tmp_path: Path) -> None:
    cut = shutil.copytree(runs["none"], tmp_path / "cut")
    lines = (cut / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (cut / "journal.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    assert "text" in refused("mcil", "--resume", cut, "--text-at-test", "full", "--workers", 0)
    assert ran("mcil", "--resume", cut, "--workers", 0).exit_code == 0
    for file in FILES:
        frames = [pd.read_parquet(run / file) for run in (runs["none"], cut)]
        own, other = (f.drop(columns=["run_id", "train_seconds", "judge_seconds"]) for f in frames)
        pd.testing.assert_frame_equal(own, other)


@pytest.mark.parametrize("file", FILES)
def test_rows_of_another_setting_are_refused(runs: dict[str, Path], tmp_path: Path, file: str) -> None:
    copy = shutil.copytree(runs["none"], tmp_path / "run")
    shutil.copy(runs["class-free"] / file, copy / file)
    assert f"{file}: its rows are of --text-at-test 'class-free', and the run is of 'none'" in refused("show", copy)


def test_files_of_older_versions_are_full(runs: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs["full"], tmp_path / "run")
    for file in FILES:
        pd.read_parquet(copy / file).drop(columns=["text_at_test"]).to_parquet(copy / file)
    config = json.loads((copy / "config.json").read_text())
    del config["settings"]["text_at_test"]
    (copy / "config.json").write_text(json.dumps(config))
    assert json.loads(ran("show", copy, "--json").stdout)["text_at_test"] == "full"
    other = shutil.copytree(runs["none"], tmp_path / "other")
    for file in FILES:
        pd.read_parquet(other / file).drop(columns=["text_at_test"]).to_parquet(other / file)
    assert "of --text-at-test 'full', and the run is of 'none'" in refused("show", other)


def test_other_commands_mix_no_settings(runs: dict[str, Path], tmp_path: Path) -> None:
    out = ["--methods", "simplecil", "--workers", "0", "--out", tmp_path / "scored"]
    assert "was evaluated with --text-at-test none, and this command" in refused("score", runs["none"], *out)
    assert ran("score", runs["full"], *out).exit_code == 0


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--text-at-test", "some"], "some"),
        (
            ["--text-at-test", "none", "--modalities"],
            "the ablation compares with texts as they are: leave one of them out",
        ),
        (["--text-at-test", "none", "--pool", "glyphs:classes=12"], "pool 'glyphs:classes=12' has images alone"),
        (["--text-at-test", "class-free", "--pool", "glyphs:classes=12"], "pool 'glyphs:classes=12' has images alone"),
        (["--text-at-test", "none", "--backbone", "glyph_vit"], "simplecil reads images alone (backbone 'glyph_vit')"),
    ],
)
def test_refused_in_one_line(more: list[str], says: str, tmp_path: Path) -> None:
    assert says in refused("mcil", *SMALL, *more, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()
