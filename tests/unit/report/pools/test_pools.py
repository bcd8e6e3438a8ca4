"""What `seqsearch pool build` recommends runs on the pool that it has built."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.settings import CldybSettings
from protocols.cli.main import main
from protocols.mcil.protocol import MCIL
from protocols.mcil.settings import McilSettings
from protocols.report.pools.contamination import pretraining
from protocols.report.pools.summary import recommended
from seqsearch.pools.open import build_pool


def words_of(pool: str, classes: int, captioned: bool = False) -> list[str]:
    """Words behind ``seqsearch``."""
    lead, _, said = recommended(pool, classes, captioned).partition(": seqsearch ")
    assert lead == "use it"
    return shlex.split(said)


def settings_of(words: list[str]) -> dict[str, object]:
    """Settings that a command names."""
    command = main.get_command(click.Context(main), words[0])
    assert command is not None
    given = command.make_context(words[0], words[1:]).params
    return {
        name: given[name] for name in ("pool", "methods", "tasks", "classes_per_task", "experiences") if name in given
    }


@pytest.mark.parametrize("classes", [4, 5, 7, 12, 19, 20, 49, 50, 60])
def test_the_recommended_search_is_accepted(tmp_path: Path, classes: int) -> None:
    named = settings_of(words_of(f"glyphs:classes={classes},train=2,reward=1,test=1,size=32", classes))
    settings = CldybSettings(**named)
    study = CLDYB.prepare(settings, tmp_path, "cpu", tmp_path)
    assert settings.tasks * settings.classes_per_task <= classes
    assert settings.tasks >= 2
    assert study is not None


@pytest.mark.parametrize("classes", [4, 5, 12, 19, 20, 60])
def test_the_recommended_experiences_are_accepted(tmp_path: Path, classes: int) -> None:
    pool = f"glyphs:classes={classes},train=2,reward=1,test=1,size=32,captions=first"
    settings = McilSettings(**settings_of(words_of(pool, classes, captioned=True)))
    assert MCIL.prepare(settings, tmp_path, "cpu", tmp_path) is not None
    assert 2 * settings.experiences <= classes


@pytest.mark.parametrize("captioned", [False, True])
def test_too_few_classes_are_told(captioned: bool) -> None:
    for classes in (1, 2, 3):
        assert "too few classes for two tasks of two" in recommended("pool", classes, captioned)


def test_it_is_said_behind_a_build(tmp_path: Path) -> None:
    out = tmp_path / "small.parquet"
    made = CliRunner().invoke(
        main, ["pool", "build", "glyphs:classes=12,train=6,reward=3,test=3,size=32", str(out), "--workers", "1"]
    )
    assert made.exit_code == 0, made.output
    assert f"use it: seqsearch cldyb --pool {out} --methods ranpac,er --tasks 5 --classes-per-task 2\n" in made.output


def test_reports_note_names_that_pre_training_may_have_shown() -> None:
    pools = [build_pool("glyphs:classes=4")]
    of_timm = {"identity": {"weights": {"resnet18.a1_in1k": "resnet18.a1_in1k-12ab"}}}
    assert "0 of 4 classes are named like a class of ImageNet-1k." in pretraining(of_timm, pools)
    for config in ({"identity": {"weights": {"glyph_vit": "glyph_vit-1"}}}, {}):
        assert pretraining(config, pools) == ""
