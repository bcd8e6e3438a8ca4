"""What is refused of networks from scratch, in one line, before anything is computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from protocols.cli.main import main

POOL = ["--pool", "glyphs:classes=60,train=4,reward=2,test=2", "--tasks", "4", "--workers", "0"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cldyb", "--methods", "podnet"], "reads feature maps of a network's stages"),
        (["cldyb", "--methods", "memo@plain_vit"], "reads feature maps of a network's stages"),
        (["cldyb", "--methods", "podnet@scratch:tiny", "--precision", "bf16"], "does not reach"),
        (["cldyb", "--methods", "replay:memory=39@scratch:tiny"], "must be a whole number"),
        (["cldyb", "--methods", "replay@scratch:tiny:memory=39"], "has memory for 39 images and the run has 40 classes"),
        (["edge", "--methods", "der@scratch:tiny:memory=9", "--classes", "20"], "has memory for 9 images"),
        (["cldyb", "--methods", "simplecil", "--augment", "published"], "--augment published: simplecil learn"),
        (["cldyb", "--methods", "simplecil@scratch:tiny"], "begins from scratch"),
        (["cldyb", "--methods", "replay@scratch:resnet"], "must be one of scratch:resnet18"),
        (["cldyb", "--methods", "replay@scratch:tiny-4"], "must be 8 to 1024"),
        (["cldyb", "--methods", "replay@scratch:tiny-imagenet"], "only resnet18 has stems for ImageNet"),
        (["cldyb", "--methods", "replay@scratch:tiny", "--encoder", "scratch:tiny"], "begins from scratch"),
        (["cldyb", "--methods", "replay", "--backbone", "scratch:tiny", "--weights", "scratch:tiny=x.pt"], "only timm models"),
        (["edge", "--methods", "replay", "--backbone", "scratch:tiny", "--classes", "20"], "give --similarity names"),
    ],
)  # fmt: skip
def test_refused_in_one_line(arguments: list[str], says: str, tmp_path: Path) -> None:
    ended = CliRunner().invoke(main, [*arguments, *POOL, "--out", str(tmp_path / "run")])
    assert ended.exit_code == 2, ended.output
    assert says in ended.stderr.replace("\n", " ")
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "run" / "journal.jsonl").exists()
